// What tests read: traces as turno writes them.
import { type Trace, TraceReader } from '../src/trace/trace';

export function read(lines: string[]): Trace {
  const reader = new TraceReader();
  reader.add(`${lines.join('\n')}\n`);
  return reader.finish();
}

// turno check nxr --as-published kept-on-exit --nodes 2 --requests 2 --property exclusion --states --trace -
export const counterexample = [
  '{"time_ns":1,"event":"request","node":0,"enters":true,"fence":"268435457","state":{"token":true,"using":true,"fence":"268435457"}}',
  '{"time_ns":2,"event":"request","node":1,"sends":[{"to":0,"message":{"kind":"request","node":1}}],"state":{}}',
  '{"time_ns":3,"event":"receive","node":0,"from":1,"message":{"kind":"request","node":1},"state":{"token":true,"using":true,"queue":[1]}}',
  '{"time_ns":4,"event":"release","node":0,"sends":[{"to":1,"message":{"kind":"token","fence":"268435457"}}],"state":{"token":true}}',
  '{"time_ns":5,"event":"request","node":0,"enters":true,"fence":"268435458","state":{"token":true,"using":true}}',
  '{"time_ns":6,"event":"receive","node":1,"from":0,"message":{"kind":"token","fence":"268435457"},"enters":true,"fence":"268435458","state":{"token":true,"using":true},"violates":{"property":"exclusion","explanation":"two nodes are inside at once"}}',
];

// A run of `rounds` in which node 0 asks node 1 for the token and gets it.
export function longRun(rounds: number): string[] {
  const lines: string[] = [];
  for (let i = 0; i < rounds; ++i) {
    const t = i * 1000;
    lines.push(
      `{"time_ns":${t},"event":"request","node":0,"sends":[{"to":1,"message":{"kind":"request"}}]}`,
      `{"time_ns":${t + 100},"event":"receive","node":1,"from":0,"message":{"kind":"request"},"sends":[{"to":0,"message":{"kind":"token","fence":"${i}"}}]}`,
      `{"time_ns":${t + 200},"event":"receive","node":0,"from":1,"message":{"kind":"token","fence":"${i}"},"enters":true,"fence":"${i}"}`,
      `{"time_ns":${t + 700},"event":"release","node":0}`,
    );
  }
  return lines;
}
