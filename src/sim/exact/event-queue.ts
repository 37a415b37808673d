import { at } from '../columns.ts';

/** What may happen next, in the order in which events of the same moment are taken. */
export const EVENT = {
  change: 0,
  arrival: 1,
  dispatch: 2,
  reply: 3,
  probe: 4,
  sweep: 5,
  release: 6,
  connect: 7,
  accepted: 8,
  second: 9,
  resend: 10,
} as const;

/** Events by time, then in the order in which they were scheduled. A binary heap in columns; it grows as needed. */
export class EventQueue {
  /** The event that `next` took: time, kind and two payload numbers. */
  time = 0;
  kind = 0;
  a = 0;
  b = 0;
  #size = 0;
  #scheduled = 0;
  #times = new Float64Array(1024);
  #order = new Float64Array(1024);
  #kinds = new Uint8Array(1024);
  #as = new Float64Array(1024);
  #bs = new Float64Array(1024);

  get size(): number {
    return this.#size;
  }

  /** Time of the next event; infinite when there is none. */
  get nextTime(): number {
    return this.#size === 0 ? Number.POSITIVE_INFINITY : at(this.#times, 0);
  }

  schedule(time: number, kind: number, a: number, b = 0): void {
    if (this.#size === this.#times.length) this.#grow();
    const order = this.#scheduled;
    this.#scheduled += 1;
    let place = this.#size;
    this.#size += 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.#isBefore(time, order, parent)) break;
      this.#copy(parent, place);
      place = parent;
    }
    this.#write(place, time, order, kind, a, b);
  }

  /** Takes the next event into the fields; false when there is none. */
  next(): boolean {
    if (this.#size === 0) return false;
    this.time = at(this.#times, 0);
    this.kind = at(this.#kinds, 0);
    this.a = at(this.#as, 0);
    this.b = at(this.#bs, 0);
    this.#size -= 1;
    this.#sink(this.#size);
    return true;
  }

  /** Moves entry `last` to the top and down to its place. */
  #sink(last: number): void {
    const [time, order] = [at(this.#times, last), at(this.#order, last)];
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= this.#size) break;
      if (child + 1 < this.#size && this.#isBefore(at(this.#times, child + 1), at(this.#order, child + 1), child)) {
        child += 1;
      }
      if (this.#isBefore(time, order, child)) break;
      this.#copy(child, place);
      place = child;
    }
    this.#copy(last, place);
  }

  #isBefore(time: number, order: number, entry: number): boolean {
    const other = at(this.#times, entry);
    return time < other || (time === other && order < at(this.#order, entry));
  }

  #copy(from: number, to: number): void {
    this.#write(
      to,
      at(this.#times, from),
      at(this.#order, from),
      at(this.#kinds, from),
      at(this.#as, from),
      at(this.#bs, from),
    );
  }

  #write(place: number, time: number, order: number, kind: number, a: number, b: number): void {
    this.#times[place] = time;
    this.#order[place] = order;
    this.#kinds[place] = kind;
    this.#as[place] = a;
    this.#bs[place] = b;
  }

  #grow(): void {
    const grown = (column: Float64Array): Float64Array<ArrayBuffer> => {
      const wider = new Float64Array(column.length * 2);
      wider.set(column);
      return wider;
    };
    this.#times = grown(this.#times);
    this.#order = grown(this.#order);
    this.#as = grown(this.#as);
    this.#bs = grown(this.#bs);
    const kinds = new Uint8Array(this.#kinds.length * 2);
    kinds.set(this.#kinds);
    this.#kinds = kinds;
  }
}
