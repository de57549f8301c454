// Lists of numbers that grow, without an object for each number.

type Numbers = Float64Array | Int32Array | Uint16Array | Uint8Array;
type Maker<T> = new (size: number) => T;

export class Growing<T extends Numbers> {
  private values: T;
  length = 0;

  constructor(private readonly maker: Maker<T>) {
    this.values = new maker(1024);
  }

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new this.maker(2 * this.length);
      larger.set(this.values as never);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }
  get(index: number): number {
    return this.values[index];
  }
  set(index: number, value: number): void {
    this.values[index] = value;
  }
  done(): T {
    return this.values.slice(0, this.length) as T;
  }
}

// The first index of a sorted list at which `before` is not true any more.
export function partition(size: number, before: (index: number) => boolean): number {
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (before(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
