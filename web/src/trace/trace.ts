// A trace in memory: columns of numbers for what is drawn and searched, and the lines as they are, which are read
// again when somebody looks at one of them.

import { fate, FlightReader, type Messages } from './flights';
import { Growing } from './growing';
import { type Outline, type Parcel, quickOutline, thoroughOutline } from './outline';
import { SpanReader, type Spans } from './spans';
import { events, happens, type Message, NoTrace, type Step, type Violation } from './step';

export interface Trace {
  size: number;
  nodes: number;
  counts: boolean; // times are numbers of steps, as the checker's
  time: Float64Array; // nanoseconds
  inOrder: boolean; // time never goes back
  event: Uint8Array;
  node: Int32Array; // -1: nobody
  takes: Int32Array; // the message that is received or lost, or -1
  firstSent: Int32Array; // of the messages; one more than there are steps
  messages: Messages;
  kinds: string[];
  spans: Spans[][]; // by node, then by what it does
  stepsOf: Int32Array[]; // by node
  hasStates: boolean;
  violation?: Violation & { step: number };
  step(index: number): Step;
}

// The message itself, which stands in the line that sent it, or in the one that took it.
export function contentAt(trace: Trace, message: number): Message {
  const { sent, ended, kind } = trace.messages;
  const step = sent[message];
  const taken = step < 0 ? ended[message] : step;
  // A copy begins with the step that made it.
  const content =
    step < 0 || trace.event[step] === happens.repeat
      ? trace.step(taken).message
      : trace.step(step).sends?.[message - trace.firstSent[step]]?.message;
  return content ?? { kind: trace.kinds[kind[message]] };
}

// Reads a trace piece by piece.
export class TraceReader {
  private rest = '';
  private readonly lines: string[] = [];
  private readonly time = new Growing(Float64Array);
  private readonly event = new Growing(Uint8Array);
  private readonly node = new Growing(Int32Array);
  private readonly takes = new Growing(Int32Array);
  private readonly firstSent = new Growing(Int32Array);
  private readonly flights = new FlightReader();
  private readonly users = new SpanReader();
  private readonly stepsOf: Growing<Int32Array>[] = [];
  private nodes = 0;
  private counts = true;
  private inOrder = true;
  private hasStates = false;
  private violation?: Violation & { step: number };

  get size(): number {
    return this.lines.length;
  }

  // Any part of the text, in its order. Throws NoTrace.
  add(text: string): void {
    const all = this.rest === '' ? text : this.rest + text;
    let at = 0;
    for (let end = all.indexOf('\n'); end >= 0; end = all.indexOf('\n', at)) {
      this.line(all.slice(at, end));
      at = end + 1;
    }
    this.rest = all.slice(at);
    if (this.rest.length > 16 << 20) throw new NoTrace('This is no trace: it has no lines.');
  }

  // Throws NoTrace.
  finish(): Trace {
    if (this.rest.trim() !== '') this.line(this.rest);
    const size = this.lines.length;
    if (size === 0) throw new NoTrace('The file is empty: there is no step in it.');
    this.firstSent.push(this.flights.size);
    while (this.stepsOf.length < this.nodes) this.stepsOf.push(new Growing(Int32Array));
    if (this.nodes > 0) this.users.life(this.nodes - 1);
    const { lines } = this;
    const event = this.event.done();
    const node = this.node.done();
    const known = new Map<number, Step>();
    return {
      size,
      nodes: this.nodes,
      counts: this.counts,
      time: this.time.done(),
      inOrder: this.inOrder,
      event,
      node,
      takes: this.takes.done(),
      firstSent: this.firstSent.done(),
      messages: this.flights.finish(size),
      kinds: this.flights.kinds,
      spans: this.users.finish(size),
      stepsOf: this.stepsOf.map((steps) => steps.done()),
      hasStates: this.hasStates,
      violation: this.violation,
      step(index) {
        let step = known.get(index);
        if (step === undefined) {
          if (known.size > 20_000) known.clear();
          known.set(index, (step = parsed(lines[index], events[event[index]], node[index])));
        }
        return step;
      },
    };
  }

  private line(line: string): void {
    if (line.trim() === '') return;
    const index = this.lines.length;
    const step = quickOutline(line) ?? thoroughOutline(line, index + 1);
    this.lines.push(line);
    this.firstSent.push(this.flights.size);
    this.takes.push(step.takes ? this.take(index, step, step.takes) : -1);
    // What was sent before the trace, or copied, is not among what this step sends.
    if (step.event !== happens.repeat) this.firstSent.set(index, this.flights.size);
    for (const sent of step.sends) {
      this.see(sent.to);
      this.flights.send(index, step.node, sent.to, sent.parcel);
    }
    this.see(step.node);
    this.see(step.about);
    if (step.node !== null) {
      while (this.stepsOf.length <= step.node) this.stepsOf.push(new Growing(Int32Array));
      this.stepsOf[step.node].push(index);
    }
    if (index > 0 && step.time < this.time.get(index - 1)) this.inOrder = false;
    if (step.time !== index + 1) this.counts = false;
    this.time.push(step.time);
    this.event.push(step.event);
    this.node.push(step.node ?? -1);
    this.users.read(index, step);
    if (step.hasState) this.hasStates = true;
    if (step.violates && typeof step.violates.explanation === 'string')
      this.violation ??= { ...step.violates, step: index };
  }

  private take(index: number, step: Outline, parcel: Parcel): number {
    const { from } = step;
    const to = step.event === happens.receive ? step.node : step.to;
    this.see(from);
    this.see(to);
    if (step.event === happens.repeat) return this.flights.send(index, from, to, parcel);
    const how =
      step.event === happens.receive ? fate.received : step.event === happens.lose ? fate.lost : fate.bounced;
    return this.flights.end(index, how, from, to, parcel);
  }

  private see(node: number | null): void {
    if (node !== null && node >= this.nodes) this.nodes = node + 1;
  }
}

// A line that was read quickly may still be broken inside: then no more is known of it than is drawn.
function parsed(line: string, event: string, node: number): Step {
  try {
    return JSON.parse(line) as Step;
  } catch {
    return { time_ns: 0, event, node: node < 0 ? null : node };
  }
}
