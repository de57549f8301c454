// Which nodes, messages and events are shown.

import { happens } from '../trace/step';
import type { Trace } from '../trace/trace';

export interface Filter {
  nodes: number[]; // shown, as lanes from top to bottom
  hiddenKinds: ReadonlySet<number>; // of messages
  hiddenEvents: ReadonlySet<number>;
}

export const everyNode = (trace: Trace): number[] => Array.from({ length: trace.nodes }, (_, node) => node);

// "0-3,7" as [0,1,2,3,7]; nothing: all. What is no such list is undefined.
export function nodesOf(text: string, count: number): number[] | undefined {
  if (text.trim() === '') return Array.from({ length: count }, (_, node) => node);
  const nodes = new Set<number>();
  for (const part of text.split(',')) {
    const found = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(part);
    if (!found) return undefined;
    const first = Number(found[1]);
    const last = Number(found[2] ?? found[1]);
    if (last < first || last >= count) return undefined;
    for (let node = first; node <= last; ++node) nodes.add(node);
  }
  return [...nodes].sort((a, b) => a - b);
}

// Whether a step is one of those that are shown.
export function shows(trace: Trace, filter: Filter, lanes: Int32Array, step: number): boolean {
  if (step === trace.violation?.step) return true;
  const node = trace.node[step];
  if (node >= 0 && lanes[node] < 0) return false;
  if (filter.hiddenEvents.has(trace.event[step])) return false;
  const takes = trace.takes[step];
  return !(takes >= 0 && trace.event[step] === happens.receive && filter.hiddenKinds.has(trace.messages.kind[takes]));
}

// The lane of each node, -1: it is not shown.
export function lanesOf(trace: Trace, filter: Filter): Int32Array {
  const lanes = new Int32Array(trace.nodes).fill(-1);
  filter.nodes.forEach((node, lane) => (lanes[node] = lane));
  return lanes;
}

// The next one that is shown, forwards or back; the same one if there is none.
export function nextShown(
  trace: Trace, filter: Filter, lanes: Int32Array, step: number, direction: 1 | -1, node = -1,
): number {
  for (let i = step + direction; i >= 0 && i < trace.size; i += direction)
    if ((node < 0 || trace.node[i] === node) && shows(trace, filter, lanes, i)) return i;
  return step;
}
