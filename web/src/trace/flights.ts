// Messages: which receipt belongs to which sending. A message has no number of its own, so a receipt is matched with
// the earliest sending with the same sender, receiver and content that nobody has received.

import { Growing } from './growing';
import type { Parcel } from './outline';

export const fate = { under_way: 0, received: 1, lost: 2, bounced: 3 } as const;

// Columns, one entry a message, in the order in which they begin.
export interface Messages {
  size: number;
  from: Int32Array; // -1: nobody
  to: Int32Array;
  kind: Uint16Array; // in `kinds`
  sent: Int32Array; // the step that sent it, -1: before the trace
  ended: Int32Array; // the step that received or lost it; the number of steps if none did
  fate: Uint8Array;
  // The latest end among the first messages, in blocks: what is over before some step is passed by.
  reach: Int32Array;
}

export const blockSize = 512;

export class FlightReader {
  private readonly from = new Growing(Int32Array);
  private readonly to = new Growing(Int32Array);
  private readonly kind = new Growing(Uint16Array);
  private readonly sent = new Growing(Int32Array);
  private readonly ended = new Growing(Int32Array);
  private readonly fates = new Growing(Uint8Array);
  private readonly open = new Map<string, number[]>();
  private readonly kindNumbers = new Map<string, number>();

  get size(): number {
    return this.from.length;
  }
  get kinds(): string[] {
    return [...this.kindNumbers.keys()];
  }

  send(step: number, from: number | null, to: number | null, parcel: Parcel): number {
    const index = this.add(from, to, parcel, step);
    const key = keyOf(from, to, parcel);
    const same = this.open.get(key);
    if (same) same.push(index);
    else this.open.set(key, [index]);
    return index;
  }

  // Ends the message that is meant, and says which it is. One that nobody sent was sent before the trace began.
  end(step: number, how: number, from: number | null, to: number | null, parcel: Parcel): number {
    const key = keyOf(from, to, parcel);
    const same = this.open.get(key);
    const index = same ? same.shift()! : this.add(from, to, parcel, -1);
    if (same?.length === 0) this.open.delete(key);
    this.ended.set(index, step);
    this.fates.set(index, how);
    return index;
  }

  finish(steps: number): Messages {
    const ended = this.ended.done();
    for (let i = 0; i < ended.length; ++i) if (ended[i] < 0) ended[i] = steps;
    const reach = new Int32Array(Math.ceil(ended.length / blockSize));
    for (let i = 0; i < ended.length; ++i) {
      const block = Math.floor(i / blockSize);
      reach[block] = Math.max(reach[block], ended[i]);
    }
    return {
      size: this.size,
      from: this.from.done(),
      to: this.to.done(),
      kind: this.kind.done(),
      sent: this.sent.done(),
      ended,
      fate: this.fates.done(),
      reach,
    };
  }

  private add(from: number | null, to: number | null, parcel: Parcel, step: number): number {
    let kind = this.kindNumbers.get(parcel.kind);
    if (kind === undefined) this.kindNumbers.set(parcel.kind, (kind = this.kindNumbers.size));
    this.from.push(from ?? -1);
    this.to.push(to ?? -1);
    this.kind.push(kind);
    this.sent.push(step);
    this.ended.push(-1);
    this.fates.push(fate.under_way);
    return this.size - 1;
  }
}

const keyOf = (from: number | null, to: number | null, parcel: Parcel): string =>
  `${from}>${to}>${parcel.content}`;
