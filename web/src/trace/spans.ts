// What a node's user does for how long: it waits, it is inside, the node is dead.

import type { Outline } from './outline';
import { happens } from './step';
import { partition } from './growing';

export const doing = { waiting: 0, inside: 1, dead: 2 } as const;

// Of one node and one thing that it does, in their order; they do not overlap. From step `begin` to step `end`:
// -1 is before the first step, and one that does not end ends behind the last.
export class Spans {
  readonly begin: number[] = [];
  readonly end: number[] = [];

  // The span in which step `step` leaves the node, or -1.
  at(step: number): number {
    const index = partition(this.begin.length, (i) => this.begin[i] <= step) - 1;
    return index >= 0 && this.end[index] > step ? index : -1;
  }
}

interface Life {
  spans: [Spans, Spans, Spans];
  since: [number, number, number]; // the step at which it began, or `never`
  wanted: number; // requests that are not served
  units: Set<number>; // that it has
}

const never = -2;

// Reads steps in their order.
export class SpanReader {
  readonly lives: Life[] = [];

  read(index: number, step: Outline): void {
    if (step.node === null) return;
    const life = this.life(step.node);
    switch (step.event) {
      case happens.request:
        if (++life.wanted === 1 && !step.enters) this.open(life, doing.waiting, index);
        break;
      case happens.withdraw:
        life.wanted = Math.max(0, life.wanted - 1);
        if (life.wanted === 0) this.close(life, doing.waiting, index);
        break;
      case happens.release:
      case happens['leave-late']:
      case happens.move:
        this.leave(life, index, step);
        break;
      case happens.crash:
        life.wanted = 0;
        life.units.clear();
        this.close(life, doing.waiting, index);
        this.close(life, doing.inside, index);
        this.open(life, doing.dead, index);
        break;
      case happens.recover:
        this.close(life, doing.dead, index);
        break;
    }
    if (step.enters) this.enter(life, index, step);
  }

  // Closes what is still open, behind the last step.
  finish(size: number): Life['spans'][] {
    return this.lives.map((life) => {
      for (const what of Object.values(doing)) this.close(life, what, size);
      return life.spans;
    });
  }

  life(node: number): Life {
    while (this.lives.length <= node)
      this.lives.push({
        spans: [new Spans(), new Spans(), new Spans()],
        since: [never, never, never],
        wanted: 0,
        units: new Set(),
      });
    return this.lives[node];
  }

  private enter(life: Life, index: number, step: Outline): void {
    life.wanted = Math.max(0, life.wanted - 1);
    if (life.wanted === 0) this.close(life, doing.waiting, index);
    this.close(life, doing.inside, index); // it has more from now on
    for (const unit of step.units ?? []) life.units.add(unit.unit);
    this.open(life, doing.inside, index);
  }

  private leave(life: Life, index: number, step: Outline): void {
    // Who was inside at the start did not enter.
    if (life.since[doing.inside] === never && life.spans[doing.inside].begin.length === 0)
      life.since[doing.inside] = -1;
    this.close(life, doing.inside, index);
    if (step.detail) for (const unit of step.detail.split(',')) life.units.delete(Number.parseInt(unit, 10));
    else life.units.clear();
    if (life.units.size > 0) this.open(life, doing.inside, index);
  }

  private open(life: Life, what: number, index: number): void {
    if (life.since[what] === never) life.since[what] = index;
  }
  private close(life: Life, what: number, index: number): void {
    if (life.since[what] === never) return;
    const spans = life.spans[what];
    spans.begin.push(life.since[what]);
    spans.end.push(index);
    life.since[what] = never;
  }
}
