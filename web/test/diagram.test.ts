import { describe, expect, it } from 'vitest';

import { everyNode, type Filter, lanesOf, nextShown, nodesOf } from '../src/diagram/filter';
import { light } from '../src/diagram/palette';
import { clipped, type Figure, nearest, scene, type View } from '../src/diagram/scene';
import { escaped, toSvg } from '../src/diagram/svg';
import { ticks } from '../src/diagram/ticks';
import { panned, showing, stepsWithin, wholeRange, zoomed } from '../src/diagram/window';
import { happens } from '../src/trace/step';
import type { Trace } from '../src/trace/trace';
import { counterexample, longRun, read } from './sample';

const everything = (trace: Trace): Filter => ({ nodes: everyNode(trace), hiddenKinds: new Set(), hiddenEvents: new Set() });

function view(trace: Trace, changes: Partial<View> = {}): View {
  return {
    axis: 'time', range: wholeRange(trace, 'time'), width: 800, height: 300, top: 0, laneHeight: 60,
    filter: everything(trace), now: 0, ...changes,
  };
}
const count = (figures: Figure[], role: string, shape?: string): number =>
  figures.filter((figure) => figure.role === role && (!shape || figure.shape === shape)).length;

describe('a scene', () => {
  const trace = read(counterexample);
  const { figures, places } = scene(trace, view(trace));

  it('has a lane for each node, bars, arrows and fences', () => {
    expect(count(figures, 'lane')).toBe(2);
    expect(count(figures, 'inside')).toBe(3);
    expect(count(figures, 'waiting')).toBe(1);
    expect(figures.filter((figure) => figure.shape === 'line' && figure.arrow)).toHaveLength(2);
    expect(figures.filter((figure) => figure.role === 'inside-text').map((figure) => figure.shape === 'text' && figure.text)).toEqual([
      'fence 1', 'fence 2', expect.stringContaining('2'),
    ]);
  });

  it('marks what is violated: the step, and who is inside at once', () => {
    expect(count(figures, 'wrong-band')).toBe(1);
    expect(count(figures, 'wrong', 'cross')).toBe(1);
    expect(count(figures, 'wrong', 'line')).toBe(8); // around two bars
  });

  it('says what is where', () => {
    const arrow = places.find((place) => place.message === 1)!;
    expect(nearest(places, (arrow.x1 + arrow.x2) / 2, (arrow.y1 + arrow.y2) / 2)?.message).toBe(1);
    const step = places.find((place) => place.step === 2)!;
    expect(nearest(places, step.x1 + 2, step.y1)?.step).toBe(2);
    expect(nearest(places, 400, 290)).toBeUndefined();
  });

  it('shows only the nodes and kinds that are wanted', () => {
    const one = scene(trace, view(trace, { filter: { ...everything(trace), nodes: [1] } })).figures;
    expect(count(one, 'lane')).toBe(1);
    expect(one.some((figure) => figure.shape === 'line' && figure.arrow)).toBe(false);
    const tokens = scene(trace, view(trace, { filter: { ...everything(trace), hiddenKinds: new Set([0]) } })).figures;
    expect(tokens.filter((figure) => figure.shape === 'line' && figure.arrow)).toHaveLength(1);
  });

  it('draws no more than can be seen of a long trace', () => {
    const long = read(longRun(20_000));
    const all = scene(long, view(long));
    expect(all.figures.length).toBeLessThan(25_000);
    expect(all.stride).toBeGreaterThan(1);
    const part = scene(long, view(long, { range: { from: 5_000_000, to: 5_020_000 } }));
    expect(part.stride).toBe(1);
    expect(part.figures.filter((figure) => figure.shape === 'line' && figure.arrow).length).toBeGreaterThanOrEqual(40);
    expect(part.figures.length).toBeLessThan(400);
  });

  it('shades what repeats for ever', () => {
    const lines = [...counterexample];
    lines[5] = lines[5].replace('"property":"exclusion"', '"property":"starvation","cycle_from":3');
    const starving = read(lines);
    expect(count(scene(starving, view(starving)).figures, 'cycle')).toBe(1);
  });
});

describe('the axis', () => {
  const trace = read(longRun(100));
  const whole = wholeRange(trace, 'time');

  it('keeps what one points at while it zooms', () => {
    const near = zoomed(whole, whole, 0.25, 0.1);
    expect(near.from + 0.25 * (near.to - near.from)).toBeCloseTo(whole.from + 0.25 * (whole.to - whole.from), 3);
    expect(near.to - near.from).toBeCloseTo(0.1 * (whole.to - whole.from), 3);
  });
  it('goes nowhere beyond the whole', () => {
    expect(zoomed(whole, whole, 0.5, 10)).toEqual(whole);
    const near = zoomed(whole, whole, 0, 0.5);
    expect(panned(near, whole, -1e9).from).toBe(whole.from);
    expect(panned(near, whole, 1e9).to).toBe(whole.to);
  });
  it('stops where numbers cannot be told apart', () => {
    let range = whole;
    for (let i = 0; i < 200; ++i) range = zoomed(range, whole, 0.5, 0.5);
    expect(range.to - range.from).toBeGreaterThanOrEqual(1);
  });
  it('shows a step that is elsewhere, and stays if it is there', () => {
    const near = { from: 1000, to: 2000 };
    expect(showing(near, whole, 1500)).toBe(near);
    expect(showing(near, whole, 50_000)).toEqual({ from: 49_500, to: 50_500 });
  });
  it('finds the steps within', () => {
    expect(stepsWithin(trace, 'time', { from: 1000, to: 1200 })).toEqual({ first: 4, end: 7 });
    expect(stepsWithin(trace, 'order', { from: 5, to: 7 })).toEqual({ first: 4, end: 7 });
  });
  it('has marks at round numbers', () => {
    expect(ticks({ from: 0, to: 4e9 }, 4, false).map((mark) => mark.text)).toEqual(['0', '1 s', '2 s', '3 s', '4 s']);
    expect(ticks({ from: 0.4, to: 6.6 }, 20, true).map((mark) => mark.text)).toEqual(['1', '2', '3', '4', '5', '6']);
  });
});

describe('a line', () => {
  it('is cut where nobody sees it', () => {
    expect(clipped({ x1: -100, y1: 0, x2: 100, y2: 20 }, 0, 50)).toEqual({ x1: 0, y1: 10, x2: 50, y2: 15 });
  });
});

describe('a filter', () => {
  const trace = read(counterexample);

  it('reads nodes', () => {
    expect(nodesOf('', 3)).toEqual([0, 1, 2]);
    expect(nodesOf(' 2, 0-1 ', 3)).toEqual([0, 1, 2]);
    for (const wrong of ['3', 'x', '1-', '2-1', '1,,2']) expect(nodesOf(wrong, 3)).toBeUndefined();
  });
  it('passes by what is not shown, and never the violation', () => {
    const none = { ...everything(trace), hiddenEvents: new Set([happens.receive, happens.release]) };
    const lanes = lanesOf(trace, none);
    expect(nextShown(trace, none, lanes, 1, 1)).toBe(4);
    expect(nextShown(trace, none, lanes, 4, 1)).toBe(5);
    expect(nextShown(trace, none, lanes, 4, -1)).toBe(1);
    expect(nextShown(trace, none, lanes, 0, -1)).toBe(0);
    expect(nextShown(trace, everything(trace), lanes, 0, 1, 0)).toBe(2);
  });
});

describe('SVG', () => {
  it('has what the scene has, and texts as texts', () => {
    const lines = counterexample.map((line) => line.replaceAll('"kind":"token"', '"kind":"<script>alert(1)</script>"'));
    const trace = read(lines);
    const svg = toSvg(scene(trace, view(trace)).figures, light, 800, 300, '"><script>alert(1)</script>');
    expect(svg).toMatch(/^<svg xmlns/);
    expect(svg).not.toContain('<script');
    expect(svg).toContain('fence 1');
    expect(svg.match(/<rect/g)!.length).toBeGreaterThan(4);
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  });
  it('leaves out what XML cannot have', () => {
    expect(escaped('a\u0000b & <c>\u001b')).toBe('ab &amp; &lt;c&gt;');
  });
});
