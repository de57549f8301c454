// Marks of the axis, at round numbers.

import { scaleLinear } from 'd3-scale';

import { timeText } from '../trace/words';
import type { Range } from './window';

export interface Mark {
  at: number;
  text: string;
}

export function ticks(range: Range, count: number, steps: boolean): Mark[] {
  const marks = scaleLinear([range.from, range.to], [0, 1]).ticks(count).filter((at) => at >= 0);
  const apart = marks.length > 1 ? marks[1] - marks[0] : Math.max(1, range.to - range.from);
  if (steps)
    return marks.filter((at) => Number.isInteger(at) && at > 0).map((at) => ({ at, text: at.toLocaleString('en') }));
  return marks.map((at) => ({ at, text: at === 0 ? '0' : timeText(at, apart) }));
}
