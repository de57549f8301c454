import { describe, expect, it } from 'vitest';

import { forEachBetween, nodeAt, underWay } from '../src/trace/moment';
import { counterexample, longRun, read } from './sample';

describe('a moment', () => {
  const trace = read(counterexample);
  const users = (step: number) => [0, 1].map((node) => nodeAt(trace, node, step).user);

  it('has what everybody does', () => {
    expect([0, 1, 2, 3, 4, 5].map(users)).toEqual([
      ['inside', 'idle'], ['inside', 'waiting'], ['inside', 'waiting'],
      ['idle', 'waiting'], ['inside', 'waiting'], ['inside', 'inside'],
    ]);
    expect(nodeAt(trace, 0, 2)).toMatchObject({ since: 0, entered: 'fence 1' });
    expect(nodeAt(trace, 1, 4)).toMatchObject({ since: 1, last: 1 });
  });

  it('has the states as they were', () => {
    expect(nodeAt(trace, 0, 1).state).toEqual({ token: true, using: true, fence: '268435457' });
    expect(nodeAt(trace, 0, 2).state).toMatchObject({ queue: [1] });
    expect(nodeAt(trace, 1, 0).state).toBeUndefined();
  });

  it('has the messages on their way', () => {
    expect([0, 1, 2, 3, 4, 5].map((step) => underWay(trace, step, 9).messages)).toEqual([[], [0], [], [1], [1], []]);
  });
});

describe('messages between steps', () => {
  const trace = read(longRun(3000));
  // The dumb twin looks at all.
  const slowly = (first: number, last: number): number[] => {
    const { sent, ended, size } = trace.messages;
    return Array.from({ length: size }, (_, i) => i).filter((i) => sent[i] <= last && ended[i] >= first);
  };

  it('are those that a look at all of them finds', () => {
    for (const [first, last] of [[0, 0], [0, 11_999], [5000, 5003], [5001, 5001], [11_990, 20_000], [7, 6]]) {
      const found: number[] = [];
      forEachBetween(trace, first, last, (message) => found.push(message));
      expect(found).toEqual(slowly(first, last));
    }
  });

  it('are the same ones for every window, if not all are wanted', () => {
    const found: number[] = [];
    forEachBetween(trace, 1001, 1201, (message) => found.push(message), 8);
    expect(found).toEqual(slowly(1001, 1201).filter((message) => message % 8 === 0));
    expect(found.length).toBeGreaterThan(5);
  });
});
