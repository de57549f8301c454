import { describe, expect, it } from 'vitest';

import { fate } from '../src/trace/flights';
import { doing } from '../src/trace/spans';
import { NoTrace } from '../src/trace/step';
import { contentAt, TraceReader } from '../src/trace/trace';
import { counterexample, longRun, read } from './sample';

const span = (trace: ReturnType<typeof read>, node: number, what: number) =>
  trace.spans[node][what].begin.map((begin, i) => [begin, trace.spans[node][what].end[i]]);

describe('a trace', () => {
  const trace = read(counterexample);

  it('has its steps, nodes and kinds', () => {
    expect(trace.size).toBe(6);
    expect(trace.nodes).toBe(2);
    expect(trace.kinds).toEqual(['request', 'token']);
    expect(trace.counts).toBe(true);
    expect(trace.inOrder).toBe(true);
    expect(trace.hasStates).toBe(true);
    expect([...trace.stepsOf[1]]).toEqual([1, 5]);
  });

  it('knows which receipt belongs to which sending', () => {
    const { messages } = trace;
    expect(messages.size).toBe(2);
    expect([...messages.sent]).toEqual([1, 3]);
    expect([...messages.ended]).toEqual([2, 5]);
    expect([...messages.fate]).toEqual([fate.received, fate.received]);
    expect(contentAt(trace, 1)).toEqual({ kind: 'token', fence: '268435457' });
  });

  it('knows who waits and who is inside', () => {
    expect(span(trace, 0, doing.inside)).toEqual([[0, 3], [4, 6]]);
    expect(span(trace, 0, doing.waiting)).toEqual([]);
    expect(span(trace, 1, doing.waiting)).toEqual([[1, 5]]);
    expect(span(trace, 1, doing.inside)).toEqual([[5, 6]]);
  });

  it('says what is violated, and where', () => {
    expect(trace.violation).toMatchObject({ property: 'exclusion', step: 5 });
  });

  it('may come in pieces of any size', () => {
    const text = counterexample.join('\n');
    for (const size of [1, 7, 100]) {
      const reader = new TraceReader();
      for (let at = 0; at < text.length; at += size) reader.add(text.slice(at, at + size));
      const again = reader.finish();
      expect(again.size).toBe(6);
      expect(again.step(5)).toEqual(trace.step(5));
    }
  });
});

describe('messages', () => {
  it('with equal content are received in their order', () => {
    const send = '{"time_ns":1,"event":"request","node":0,"sends":[{"to":1,"message":{"kind":"a"}},{"to":1,"message":{"kind":"a"}}]}';
    const get = '{"time_ns":2,"event":"receive","node":1,"from":0,"message":{"kind":"a"}}';
    const { messages } = read([send, get, get]);
    expect([...messages.ended]).toEqual([1, 2]);
  });

  it('are the same if their fields are, also those in lists of lists', () => {
    const send = (fields: string) => `{"time_ns":1,"event":"request","node":0,"sends":[{"to":1,"message":{${fields}}}]}`;
    const get = (fields: string) => `{"time_ns":2,"event":"receive","node":1,"from":0,"message":{${fields}}}`;
    const lists = '"kind":"a","list":[[1,2],[3]]';
    const { messages } = read([send('"kind":"a","x":1,"y":2'), get('"kind":"a","x":1,"y":2'), send(lists), get('"kind":"a","list":[[1],[2,3]]')]);
    expect([...messages.fate]).toEqual([fate.received, fate.under_way, fate.received]);
    expect([...messages.sent]).toEqual([0, 2, -1]);
  });

  it('may be lost, doubled, come back, or never arrive', () => {
    const trace = read([
      '{"time_ns":1,"event":"request","node":0,"sends":[{"to":1,"message":{"kind":"a"}},{"to":2,"message":{"kind":"b"}},{"to":3,"message":{"kind":"c"}},{"to":null,"message":{"kind":"d"}}]}',
      '{"time_ns":2,"event":"lose","node":0,"from":0,"to":1,"message":{"kind":"a"}}',
      '{"time_ns":3,"event":"repeat","node":0,"from":0,"to":2,"message":{"kind":"b"}}',
      '{"time_ns":4,"event":"bounce","node":0,"from":0,"to":3,"message":{"kind":"c"}}',
      '{"time_ns":5,"event":"receive","node":2,"from":0,"message":{"kind":"b"}}',
      '{"time_ns":6,"event":"receive","node":2,"from":0,"message":{"kind":"b"}}',
    ]);
    expect([...trace.messages.fate]).toEqual([fate.lost, fate.received, fate.bounced, fate.under_way, fate.received]);
    expect([...trace.messages.ended]).toEqual([1, 4, 3, 6, 5]);
    expect(contentAt(trace, 4)).toEqual({ kind: 'b' });
    expect(trace.messages.to[3]).toBe(-1);
    expect(trace.nodes).toBe(4);
  });

  it('that were sent before the trace began have no beginning', () => {
    const trace = read([
      '{"time_ns":1,"event":"receive","node":1,"from":0,"message":{"kind":"token"},"sends":[{"to":0,"message":{"kind":"x"}}]}',
    ]);
    expect([...trace.messages.sent]).toEqual([-1, 0]);
    expect(contentAt(trace, 0)).toEqual({ kind: 'token' });
    expect(contentAt(trace, 1)).toEqual({ kind: 'x' });
  });
});

describe('users', () => {
  const step = (event: string, more = '') => `{"time_ns":1,"event":"${event}","node":0${more}}`;

  it('are gone with their node', () => {
    const trace = read([step('request'), step('crash'), step('recover'), step('request')]);
    expect(span(trace, 0, doing.waiting)).toEqual([[0, 1], [3, 4]]);
    expect(span(trace, 0, doing.dead)).toEqual([[1, 2]]);
  });

  it('may give up waiting', () => {
    expect(span(read([step('request'), step('withdraw')]), 0, doing.waiting)).toEqual([[0, 1]]);
  });

  it('may be inside from the start', () => {
    expect(span(read([step('release'), step('request')]), 0, doing.inside)).toEqual([[-1, 0]]);
  });

  it('may give back a part of what they have', () => {
    const enters = ',"enters":true,"fence":"2","units":[{"unit":0,"fence":"1"},{"unit":2,"fence":"2"}]';
    const trace = read([step('request', enters), step('release', ',"detail":"2"'), step('release', ',"detail":"0"')]);
    expect(span(trace, 0, doing.inside)).toEqual([[0, 1], [1, 2]]);
  });
});

describe('what is no trace', () => {
  const trouble = (...lines: string[]): string => {
    try {
      read(lines);
    } catch (error) {
      expect(error).toBeInstanceOf(NoTrace);
      return (error as Error).message;
    }
    return '';
  };
  const good = '{"time_ns":1,"event":"request","node":0}';

  it('is refused with the line and the reason', () => {
    expect(trouble('')).toMatch(/empty/);
    expect(trouble('PNG')).toMatch(/no trace.*first line/);
    expect(trouble(good, '{"time_ns":2,"eve')).toMatch(/line 2.*cut off/);
    expect(trouble('[1]')).toMatch(/line 1 it is no JSON object/);
    expect(trouble('{"algorithm":"nxr"}')).toMatch(/time_ns/);
    expect(trouble('{"time_ns":1,"event":"dance","node":0}')).toMatch(/'dance' is no event/);
    expect(trouble('{"time_ns":1,"event":"crash"}')).toMatch(/'node'/);
    expect(trouble('{"time_ns":1,"event":"crash","node":-1}')).toMatch(/'node'/);
    expect(trouble('{"time_ns":1,"event":"crash","node":1e9}')).toMatch(/'node'/);
    expect(trouble('{"time_ns":1,"event":"receive","node":0}')).toMatch(/no message/);
    expect(trouble('{"time_ns":1,"event":"request","node":0,"sends":[{}]}')).toMatch(/sends/);
  });

  it('is refused early if it has no lines', () => {
    const reader = new TraceReader();
    expect(() => reader.add('x'.repeat(17 << 20))).toThrow(/no lines/);
  });

  it('is not a trace with empty lines', () => {
    expect(trouble(good, '', good)).toBe('');
  });
});

describe('a long trace', () => {
  it('is read at once', () => {
    const trace = read(longRun(5000));
    expect(trace.size).toBe(20_000);
    expect(trace.messages.size).toBe(10_000);
    expect(trace.messages.fate.every((each) => each === fate.received)).toBe(true);
    expect(trace.counts).toBe(false);
  });
});
