import { describe, expect, it } from 'vitest';

import { quickOutline, thoroughOutline } from '../src/trace/outline';
import { counterexample, longRun } from './sample';

describe('a line that is read quickly', () => {
  const lines = [
    ...counterexample, ...longRun(3),
    '{"time_ns":35228622,"event":"receive","node":18,"from":38,"message":{"kind":"request","claim":[78,0],"hops":1},"sends":[{"to":8,"message":{"kind":"request","claim":[78,0],"hops":2}}]}',
    '{"time_ns":1000000000,"event":"crash","node":0}',
    '{"time_ns":0,"event":"start","node":0,"sends":[{"to":1,"message":{"kind":"token","fence":"268435456"}}]}',
  ];

  it('says the same as JSON does', () => {
    let quick = 0;
    for (const line of lines) {
      const outline = quickOutline(line);
      if (outline === undefined) continue;
      ++quick;
      const { units, detail, violates, ...slow } = thoroughOutline(line, 1);
      expect(outline).toEqual(slow);
      expect([units, detail, violates]).toEqual([undefined, undefined, undefined]);
    }
    expect(quick).toBe(lines.length - 1); // all but the one that says what is violated
  });

  it('is none of another shape', () => {
    for (const line of [
      '{"time_ns": 1,"event":"crash","node":0}',
      '{"time_ns":1,"event":"dance","node":0}',
      '{"time_ns":1,"event":"receive","node":0}',
      '{"time_ns":1,"event":"crash","node":0,"from":1,"message":{"kind":"a"}}',
      '{"time_ns":1,"event":"expire","node":0,"detail":"x"}',
      '{"time_ns":1,"event":"request","node":0,"group":1}',
      '{"time_ns":1,"event":"receive","node":0,"from":1,"message":{"kind":"a b"}}',
      '{"time_ns":1,"event":"receive","node":0,"from":1,"message":{"kind":"a\\u0041"}}',
      '{"time_ns":1,"event":"request","node":0,"sends":[{"to":null,"message":{"kind":"a"}}]}',
      '{"time_ns":1,"event":"request","node":0,"sends":[{"to":1,"message":{"kind":"a"}},{"to":2,"message":{"kind":"a"}}]}',
      '{"time_ns":1,"event":"request","node":0,"enters":true,"fence":"1","units":[{"unit":0,"fence":"1"}]}',
    ])
      expect(quickOutline(line), line).toBeUndefined();
  });
});
