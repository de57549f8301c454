// The moment after a step: what every node and its user does, and which messages are on their way. It is looked up,
// not replayed, so any step is as near as the next.

import { blockSize } from './flights';
import { partition } from './growing';
import { doing } from './spans';
import type { Trace } from './trace';
import { enteredText } from './words';

export interface NodeAt {
  node: number;
  user: 'idle' | 'waiting' | 'inside' | 'crashed';
  since: number; // the step, -1: from the start
  entered: string; // "fence 3", if it is inside
  waitsToo: boolean; // inside, and it has asked for more
  last: number; // its last step until now, or -1
  state?: Record<string, unknown>; // if the trace tells it
}

export function nodeAt(trace: Trace, node: number, step: number): NodeAt {
  const [waiting, inside, dead] = trace.spans[node];
  const steps = trace.stepsOf[node];
  const count = partition(steps.length, (i) => steps[i] <= step);
  const last = count > 0 ? steps[count - 1] : -1;
  const found: NodeAt = {
    node, user: 'idle', since: last, entered: '', waitsToo: false, last,
    state: trace.hasStates && last >= 0 ? trace.step(last).state : undefined,
  };
  const deadSince = dead.at(step);
  const insideSince = inside.at(step);
  const waitingSince = waiting.at(step);
  if (deadSince >= 0) return { ...found, user: 'crashed', since: dead.begin[deadSince] };
  if (insideSince >= 0) {
    const since = inside.begin[insideSince];
    const entered = since >= 0 ? enteredAt(trace, since) : 'from the start';
    return { ...found, user: 'inside', since, entered, waitsToo: waitingSince >= 0 };
  }
  if (waitingSince >= 0) return { ...found, user: 'waiting', since: waiting.begin[waitingSince] };
  return found;
}

// Of the step that let it in; one that gave back a part of what it had says nothing of the rest.
function enteredAt(trace: Trace, step: number): string {
  const line = trace.step(step);
  return line.enters ? enteredText(line) : 'a part of it';
}

export const isInside = (trace: Trace, node: number, step: number): boolean =>
  trace.spans[node][doing.inside].at(step) >= 0;

// The step with which a message appears in the trace.
export const beginOf = (trace: Trace, message: number): number => {
  const { sent, ended } = trace.messages;
  return sent[message] >= 0 ? sent[message] : ended[message];
};

// Calls visit for the messages that appear until step `last` and end at step `first` or later, in their order.
export function forEachBetween(
  trace: Trace, first: number, last: number, visit: (message: number) => void, stride = 1,
): void {
  const { ended, reach, size } = trace.messages;
  const end = partition(size, (i) => beginOf(trace, i) <= last);
  for (let block = 0; block * blockSize < end; ++block) {
    if (reach[block] < first) continue;
    const stop = Math.min(end, (block + 1) * blockSize);
    const start = Math.ceil((block * blockSize) / stride) * stride;
    for (let i = start; i < stop; i += stride) if (ended[i] >= first) visit(i);
  }
}

// The first `most` messages that are on their way after a step, and how many there are.
export function underWay(trace: Trace, step: number, most: number): { messages: number[]; count: number } {
  const messages: number[] = [];
  let count = 0;
  forEachBetween(trace, step + 1, step, (message) => {
    if (trace.messages.sent[message] < 0) return; // nobody knows since when
    if (++count <= most) messages.push(message);
  });
  return { messages, count };
}
