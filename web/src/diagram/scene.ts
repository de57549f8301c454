// What is to be drawn of a trace, as simple figures: for the canvas and for SVG alike, and for tests. Only what is
// seen becomes a figure, and where more is seen than there are points on the screen, a part of it.

import { fate } from '../trace/flights';
import { partition } from '../trace/growing';
import { type Spans } from '../trace/spans';
import { events, happens } from '../trace/step';
import { forEachBetween } from '../trace/moment';
import type { Trace } from '../trace/trace';
import { enteredText } from '../trace/words';
import { type Filter, lanesOf, shows } from './filter';
import { type Mark, ticks } from './ticks';
import { type Axis, positionOf, type Range, stepsWithin } from './window';

export type Role =
  | 'axis' | 'grid' | 'lane' | 'label' | 'waiting' | 'inside' | 'inside-text' | 'dead' | 'dot' | 'timer' | 'wrong'
  | 'wrong-band' | 'cycle' | 'now' | 'chosen' | 'paper' | `kind-${number}`;

export type Figure =
  | { shape: 'rect'; role: Role; x: number; y: number; width: number; height: number }
  | { shape: 'line'; role: Role; x1: number; y1: number; x2: number; y2: number; dashed?: boolean; wide?: boolean; arrow?: boolean }
  | { shape: 'text'; role: Role; x: number; y: number; text: string; anchor: 'start' | 'middle' | 'end'; width?: number }
  | { shape: 'dot'; role: Role; x: number; y: number; radius: number; hollow?: boolean }
  | { shape: 'cross'; role: Role; x: number; y: number; radius: number };

export interface View {
  axis: Axis;
  range: Range;
  width: number;
  height: number;
  top: number; // how far the lanes are scrolled
  laneHeight: number;
  filter: Filter;
  now: number; // the step that is looked at
}

// What is where, for whoever points at it.
export interface Place {
  step?: number;
  message?: number;
  x1: number;
  y1: number;
  x2: number;
  y2: number;
}

export interface Scene {
  figures: Figure[];
  places: Place[];
  left: number; // where the lanes begin
  stride: number; // one of so many messages is drawn
}

export const axisHeight = 28;
export const leastLane = 15;
const most = 1000; // arrows
const mostDots = 4000;
const gap = 1.5; // points between bars that are drawn apart

export const gutterOf = (trace: Trace): number => Math.max(44, 20 + 8 * String(Math.max(0, trace.nodes - 1)).length);

export function scene(trace: Trace, view: View): Scene {
  const drawing = new Drawing(trace, view);
  drawing.draw();
  return { figures: drawing.figures, places: drawing.places, left: drawing.left, stride: drawing.stride };
}

class Drawing {
  readonly figures: Figure[] = [];
  readonly places: Place[] = [];
  readonly left: number;
  stride = 1;
  private readonly scale: number;
  private readonly lanes: Int32Array;
  private readonly first: number; // step that is seen
  private readonly end: number;
  private readonly named = new Map<number, number>(); // by lane, how far its names reach

  constructor(private readonly trace: Trace, private readonly view: View) {
    this.left = gutterOf(trace);
    this.scale = (view.width - this.left) / (view.range.to - view.range.from);
    this.lanes = lanesOf(trace, view.filter);
    ({ first: this.first, end: this.end } = stepsWithin(trace, view.axis, view.range));
  }

  draw(): void {
    this.band();
    this.grid();
    this.laneLines();
    this.bars();
    this.arrows();
    this.steps();
    this.cursor();
    this.frame();
  }

  private x(step: number): number {
    const { trace, view } = this;
    if (step < 0) return this.left - 1e4;
    if (step >= trace.size) return view.width + 1e4;
    return this.left + (positionOf(trace, view.axis, step) - view.range.from) * this.scale;
  }
  private y(node: number): number {
    return axisHeight + (this.lanes[node] + 0.5) * this.view.laneHeight - this.view.top;
  }
  private isSeen(y: number): boolean {
    return y > axisHeight - this.view.laneHeight && y < this.view.height + this.view.laneHeight;
  }

  // What repeats for ever, and the step that breaks something.
  private band(): void {
    const { violation } = this.trace;
    if (!violation) return;
    const { height, width } = this.view;
    const rest = { y: axisHeight, height: height - axisHeight };
    if (violation.cycle_from !== undefined) {
      const x = Math.max(this.left, (this.x(violation.cycle_from) + this.x(violation.cycle_from - 1)) / 2);
      if (x < width) this.figures.push({ shape: 'rect', role: 'cycle', x, width: width - x, ...rest });
    }
    const x = this.x(violation.step);
    if (x < this.left - 20 || x > width + 20) return;
    this.figures.push({ shape: 'rect', role: 'wrong-band', x: x - 9, width: 18, ...rest });
  }

  private grid(): void {
    const { height } = this.view;
    for (const mark of this.marks())
      this.figures.push({ shape: 'line', role: 'grid', x1: mark.x, y1: axisHeight, x2: mark.x, y2: height });
  }
  private marks(): (Mark & { x: number })[] {
    const { trace, view } = this;
    const steps = view.axis === 'order' || trace.counts;
    return ticks(view.range, Math.max(2, (view.width - this.left) / 110), steps)
      .map((mark) => ({ ...mark, x: this.left + (mark.at - view.range.from) * this.scale }))
      .filter((mark) => mark.x > this.left + 4);
  }

  private laneLines(): void {
    for (const node of this.view.filter.nodes) {
      const y = this.y(node);
      if (this.isSeen(y))
        this.figures.push({ shape: 'line', role: 'lane', x1: this.left, y1: y, x2: this.view.width, y2: y });
    }
  }

  private bars(): void {
    const height = Math.max(4, Math.min(22, this.view.laneHeight * 0.56));
    for (const node of this.view.filter.nodes) {
      const y = this.y(node);
      if (!this.isSeen(y)) continue;
      const [waiting, inside, dead] = this.trace.spans[node];
      this.spans(waiting, 'waiting', y, height * 0.45);
      this.spans(inside, 'inside', y, height);
      this.spans(dead, 'dead', y, height * 0.7);
    }
  }

  // What is narrower than a point is drawn together with its neighbours.
  private spans(spans: Spans, role: 'waiting' | 'inside' | 'dead', y: number, height: number): void {
    const { view } = this;
    const count = spans.begin.length;
    let i = partition(count, (k) => spans.end[k] < this.first - 1);
    let drawnTo = -Infinity;
    while (i < count && spans.begin[i] < this.end) {
      const x = Math.max(this.left, this.x(spans.begin[i]));
      const right = Math.min(view.width, this.x(spans.end[i]));
      if (right > drawnTo + gap) {
        const width = Math.max(role === 'inside' ? 2.5 : 1, right - x);
        const wrong = role === 'inside' && this.isWrong(spans, i);
        this.figures.push({ shape: 'rect', role, x, y: y - height / 2, width, height });
        if (wrong) this.outline(x, y - height / 2, width, height);
        if (role === 'inside' && height >= 13 && width > 16) this.fence(spans.begin[i], x, y, width);
        drawnTo = x + width;
        ++i;
      } else {
        // Passes by all that end within the point that is drawn already.
        const over = (k: number): boolean => this.x(spans.end[i + k]) <= drawnTo + gap;
        let reach = 1;
        while (i + reach < count && over(reach)) reach *= 2;
        i += Math.max(1, partition(Math.min(reach, count - i), over));
      }
    }
  }

  // Two are inside where that is what is wrong.
  private isWrong(spans: Spans, index: number): boolean {
    const { violation } = this.trace;
    if (violation?.property !== 'exclusion') return false;
    return spans.begin[index] <= violation.step && spans.end[index] > violation.step;
  }
  private outline(x: number, y: number, width: number, height: number): void {
    const line = (x1: number, y1: number, x2: number, y2: number) =>
      this.figures.push({ shape: 'line', role: 'wrong', x1, y1, x2, y2, wide: true });
    line(x, y, x + width, y);
    line(x, y + height, x + width, y + height);
    line(x, y, x, y + height);
    line(x + width, y, x + width, y + height);
  }
  private fence(begin: number, x: number, y: number, width: number): void {
    if (begin < 0) return;
    const step = this.trace.step(begin);
    if (!step.enters) return;
    const whole = enteredText(step);
    const text = width > 7 * whole.length + 8 ? whole : whole.replace(/^fence /, '');
    if (width > 6.5 * text.length + 4)
      this.figures.push({ shape: 'text', role: 'inside-text', x: x + 5, y: y + 4, text, anchor: 'start', width: width - 6 });
  }

  private arrows(): void {
    const { trace, view } = this;
    const { messages } = trace;
    let seen = 0;
    const visible = (message: number): boolean => {
      if (view.filter.hiddenKinds.has(messages.kind[message])) return false;
      const { from, to } = messages;
      return from[message] >= 0 && this.lanes[from[message]] >= 0 && (to[message] < 0 || this.lanes[to[message]] >= 0);
    };
    // A power of two, and always the same ones: nothing flickers while one pans.
    const candidates = this.end - this.first > 200_000 ? 64 : 1;
    forEachBetween(trace, this.first - 1, this.end, (message) => { if (visible(message)) ++seen; }, candidates);
    while ((seen * candidates) / this.stride > most) this.stride *= 2;
    // Kind by kind, as they are painted.
    const ofKinds: number[][] = trace.kinds.map(() => []);
    forEachBetween(trace, this.first - 1, this.end, (message) => {
      if (visible(message)) ofKinds[messages.kind[message]].push(message);
    }, this.stride);
    for (const ofKind of ofKinds) for (const message of ofKind) this.arrow(message);
  }

  private arrow(message: number): void {
    const { trace, view } = this;
    const { from, to, sent, ended, fate: fates, kind } = trace.messages;
    const role: Role = `kind-${kind[message]}`;
    const y1 = this.y(from[message]);
    let x1 = this.x(sent[message]);
    let x2 = this.x(ended[message]);
    let y2 = to[message] < 0 ? y1 + view.laneHeight * 0.45 : this.y(to[message]);
    const arrives = fates[message] === fate.received;
    if (sent[message] < 0) {
      x1 = x2 - 26;
    } else if (fates[message] === fate.under_way) {
      // It goes on in the same way as others do, and nobody knows where to.
      const share = to[message] < 0 ? 1 : Math.min(0.6, 34 / Math.max(1, Math.abs(y2 - y1)));
      x2 = x1 + 30;
      y2 = y1 + (y2 - y1) * share;
    }
    if (x2 < this.left || x1 > view.width) return;
    if (Math.max(y1, y2) < axisHeight || Math.min(y1, y2) > view.height) return;
    if (fates[message] === fate.lost || fates[message] === fate.bounced) {
      const middle = 0.7;
      const x = x1 + (x2 - x1) * middle;
      const y = y1 + (y2 - y1) * middle;
      this.figures.push({ shape: 'line', role, x1, y1, x2: x, y2: y, dashed: true });
      this.figures.push({ shape: 'cross', role: 'wrong', x, y, radius: 5 });
      this.places.push({ message, x1, y1, x2: x, y2: y });
      return;
    }
    const dashed = !arrives || sent[message] < 0;
    const seen = clipped({ x1, y1, x2, y2 }, -50, view.width + 50);
    this.figures.push({ shape: 'line', role, ...seen, dashed, arrow: arrives && seen.x2 === x2 });
    if (!arrives) this.figures.push({ shape: 'dot', role, x: x2, y: y2, radius: 3, hollow: true });
    this.places.push({ message, ...seen });
  }

  private steps(): void {
    const { trace, view } = this;
    const count = this.end - this.first;
    const stride = Math.max(1, Math.ceil(count / mostDots));
    const radius = view.laneHeight < 22 ? 1.8 : 2.6;
    for (let i = Math.ceil(this.first / stride) * stride; i < this.end; i += stride) {
      if (trace.node[i] < 0 || !shows(trace, view.filter, this.lanes, i)) continue;
      const y = this.y(trace.node[i]);
      if (this.isSeen(y)) this.step(i, this.x(i), y, radius);
    }
    const wrong = trace.violation?.step ?? -1;
    if (wrong >= this.first && wrong < this.end && trace.node[wrong] >= 0 && this.lanes[trace.node[wrong]] >= 0)
      this.figures.push({ shape: 'cross', role: 'wrong', x: this.x(wrong), y: this.y(trace.node[wrong]), radius: 6 });
  }

  private step(index: number, x: number, y: number, radius: number): void {
    const event = this.trace.event[index];
    this.places.push({ step: index, x1: x, y1: y, x2: x, y2: y });
    if (event === happens.crash) {
      this.figures.push({ shape: 'cross', role: 'wrong', x, y, radius: radius + 2.5 });
    } else if (special.has(event)) {
      this.figures.push({ shape: 'dot', role: 'timer', x, y, radius: radius + 1, hollow: true });
      this.nameStep(index, x, y);
    } else {
      this.figures.push({ shape: 'dot', role: 'dot', x, y, radius });
    }
  }
  // Where there is room for it.
  private nameStep(index: number, x: number, y: number): void {
    if (this.view.laneHeight < 30) return;
    const text = this.name(index);
    const half = 3.4 * text.length + 3;
    if (x - half < (this.named.get(y) ?? -Infinity)) return;
    this.named.set(y, x + half);
    this.figures.push({ shape: 'text', role: 'timer', x, y: y - 8, text, anchor: 'middle', width: 2 * half });
  }
  private name(index: number): string {
    const step = this.trace.step(index);
    if (step.event === 'expire' || step.event === 'choose') return (step.detail ?? step.event).slice(0, 16);
    if (step.event === 'suspect') return `suspects ${step.about}`;
    return step.event;
  }

  private cursor(): void {
    const { now, height, laneHeight } = this.view;
    const x = this.x(now);
    if (x < this.left || x > this.view.width) return;
    this.figures.push({ shape: 'line', role: 'now', x1: x, y1: axisHeight - 6, x2: x, y2: height });
    const node = this.trace.node[now];
    if (node >= 0 && this.lanes[node] >= 0)
      this.figures.push({ shape: 'dot', role: 'chosen', x, y: this.y(node), radius: Math.min(8, laneHeight / 2), hollow: true });
  }

  // Names of nodes and times lie over all else.
  private frame(): void {
    const { width, height, filter, laneHeight } = this.view;
    this.figures.push({ shape: 'rect', role: 'paper', x: 0, y: 0, width: this.left, height });
    const every = Math.ceil(14 / laneHeight);
    filter.nodes.forEach((node, lane) => {
      const y = this.y(node);
      if (lane % every === 0 && this.isSeen(y) && y > axisHeight)
        this.figures.push({ shape: 'text', role: 'label', x: this.left - 8, y: y + 4, text: `${node}`, anchor: 'end' });
    });
    this.figures.push({ shape: 'rect', role: 'paper', x: 0, y: 0, width, height: axisHeight });
    this.figures.push({ shape: 'text', role: 'axis', x: this.left - 8, y: 18, text: 'node', anchor: 'end' });
    for (const mark of this.marks())
      if (mark.x > this.left + 18 && mark.x < width - 18)
        this.figures.push({ shape: 'text', role: 'axis', x: mark.x, y: 18, text: mark.text, anchor: 'middle' });
    this.figures.push({ shape: 'line', role: 'axis', x1: this.left, y1: axisHeight, x2: width, y2: axisHeight });
  }
}

interface Line {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
}

// The part of a line, which goes to the right, between two positions: far outside a canvas is not exact.
export function clipped(line: Line, from: number, to: number): Line {
  const slope = line.x2 > line.x1 ? (line.y2 - line.y1) / (line.x2 - line.x1) : 0;
  const x1 = Math.max(line.x1, from);
  const x2 = Math.min(line.x2, to);
  return { x1, y1: line.y1 + slope * (x1 - line.x1), x2, y2: line.y2 + slope * (x2 - line.x2) };
}

// What has a name worth telling: neither what users do nor what comes by message.
const special = new Set<number>(
  events.map((_, number) => number).filter(
    (event) => ![happens.request, happens.release, happens.receive, happens.start, happens.crash].includes(event),
  ),
);

// What is nearest to a point, within so many points.
export function nearest(places: Place[], x: number, y: number, reach = 9): Place | undefined {
  let best: Place | undefined;
  let least = reach;
  for (const place of places) {
    const { x1, y1, x2, y2 } = place;
    if (x < Math.min(x1, x2) - reach || x > Math.max(x1, x2) + reach) continue;
    const length = (x2 - x1) ** 2 + (y2 - y1) ** 2;
    const share = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length));
    // Steps go before the arrows that begin there.
    const distance = Math.hypot(x - x1 - share * (x2 - x1), y - y1 - share * (y2 - y1)) + (place.step === undefined ? 3 : 0);
    if (distance < least) [best, least] = [place, distance];
  }
  return best;
}
