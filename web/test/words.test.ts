import { describe, expect, it } from 'vitest';

import { events, type Step } from '../src/trace/step';
import { fenceText, headline, messageStory, messageText, timeText } from '../src/trace/words';
import { counterexample, longRun, read } from './sample';

describe('words', () => {
  it('for steps are those of turno', () => {
    const trace = read(counterexample);
    expect(counterexample.map((_, i) => headline(trace.step(i)))).toEqual([
      '0 wants in, enters (fence 1)',
      '1 wants in',
      '0 gets request(node 1) from 1',
      '0 leaves',
      '0 wants in, enters (fence 2)',
      '1 gets token(fence 1) from 0, enters (fence 2)',
    ]);
  });

  it('are there for every event', () => {
    for (const event of events) {
      const step: Step = { time_ns: 0, event, node: 3, from: 3, to: 4, about: 2, message: { kind: 'a' } };
      expect(headline(step)).not.toMatch(/undefined/);
      expect(headline(step)).not.toBe(`3: ${event}`);
    }
  });

  it('tell what became of a message', () => {
    expect(messageStory(read(counterexample), 1)).toBe(
      'token(fence 1) from 0 to 1: sent in step 4, arrives in step 6',
    );
    expect(messageStory(read(longRun(2)), 3)).toBe(
      'token(fence 1) from 1 to 0: sent at 1.1 us (step 6), arrives at 1.2 us (step 7), 100 ns on its way',
    );
    const lost = read(['{"time_ns":5,"event":"request","node":0,"sends":[{"to":null,"message":{"kind":"a"}}]}']);
    expect(messageStory(lost, 0)).toBe('a from 0 to nobody: sent at 5 ns (step 1), to nobody');
  });

  it('for fences are the count, and the epoch if it is not the first', () => {
    expect(fenceText('268435457')).toBe('1');
    expect(fenceText(`${(1454946148n << 28n) + 16n}`)).toBe('1454946148:16');
    expect(fenceText('<b>')).toBe('<b>');
  });

  it('for messages have their fields', () => {
    expect(messageText({ kind: 'a', yes: true, who: null, list: [1, [2, false]] })).toBe('a(yes yes, who -, list [1 [2 no]])');
  });

  it('for times have the digits that are asked for', () => {
    expect(timeText(0)).toBe('0 ns');
    expect(timeText(1_500_000_000, 1e6)).toBe('1.5 s');
    expect(timeText(2_495_595_013)).toBe('2.495595013 s');
    expect(timeText(20_000_000, 1e6)).toBe('20 ms');
    expect(timeText(950)).toBe('950 ns');
  });
});
