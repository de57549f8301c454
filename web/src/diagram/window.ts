// The part of a trace that is seen: where a step stands on the axis, and how one zooms and pans along it.

import { partition } from '../trace/growing';
import type { Trace } from '../trace/trace';

export type Axis = 'time' | 'order';

export interface Range {
  from: number;
  to: number;
}

export const positionOf = (trace: Trace, axis: Axis, step: number): number =>
  axis === 'order' || trace.counts ? step + 1 : trace.time[step];

export const wholeRange = (trace: Trace, axis: Axis): Range => rangeOf(trace, axis, 0, trace.size - 1);

// From one step to another, with some room on both sides.
export function rangeOf(trace: Trace, axis: Axis, first: number, last: number): Range {
  const from = positionOf(trace, axis, first);
  const to = positionOf(trace, axis, last);
  const room = Math.max((to - from) * 0.04, axis === 'order' || trace.counts ? 0.6 : 1);
  // What begins last goes on, and that should be seen.
  return { from: from - room, to: to + 1.6 * room };
}

// The steps from `first` up to, not including, `end` are in the range.
export function stepsWithin(trace: Trace, axis: Axis, range: Range): { first: number; end: number } {
  return {
    first: partition(trace.size, (i) => positionOf(trace, axis, i) < range.from),
    end: partition(trace.size, (i) => positionOf(trace, axis, i) <= range.to),
  };
}

// No part of the axis is so small that its numbers cannot be told apart, none goes beyond the whole.
export function within(range: Range, whole: Range): Range {
  const size = whole.to - whole.from;
  const least = Math.min(size, Math.max(1, Math.abs(whole.to) * 1e-13));
  const length = Math.min(size, Math.max(least, range.to - range.from));
  const middle = (range.from + range.to) / 2;
  const from = Math.min(Math.max(middle - length / 2, whole.from), whole.to - length);
  return { from, to: from + length };
}

// What is at `share` of the width stays where it is.
export function zoomed(range: Range, whole: Range, share: number, factor: number): Range {
  const length = range.to - range.from;
  const least = Math.min(whole.to - whole.from, Math.max(1, Math.abs(whole.to) * 1e-13));
  const wanted = Math.min(whole.to - whole.from, Math.max(least, length * factor));
  const fixed = range.from + share * length;
  return within({ from: fixed - share * wanted, to: fixed + (1 - share) * wanted }, whole);
}

export const panned = (range: Range, whole: Range, distance: number): Range =>
  within({ from: range.from + distance, to: range.to + distance }, whole);

// The same length, moved only if the position is not well inside.
export function showing(range: Range, whole: Range, position: number): Range {
  const length = range.to - range.from;
  if (position >= range.from + 0.08 * length && position <= range.to - 0.08 * length) return range;
  return within({ from: position - length / 2, to: position + length / 2 }, whole);
}
