/** One resolution of a ring: `steps` cells of `stepMs` each. */
export interface LevelSpec {
  readonly stepMs: number;
  readonly steps: number;
}

export type Cells = Uint8Array | Uint16Array | Int32Array | Float64Array;

/** The part of a level that holds anything: the cells from slot `offset` on. */
export interface LevelState {
  readonly head: number;
  readonly offset: number;
  readonly cells: Cells | null;
}

/** Narrowest first, of 1, 2, 4 and 8 bytes; each holds everything that the one before it holds. */
const WIDTHS = [
  { create: (size: number): Cells => new Uint8Array(size), min: 0, max: 0xff },
  { create: (size: number): Cells => new Uint16Array(size), min: 0, max: 0xffff },
  { create: (size: number): Cells => new Int32Array(size), min: -0x80000000, max: 0x7fffffff },
  {
    create: (size: number): Cells => new Float64Array(size),
    min: Number.NEGATIVE_INFINITY,
    max: Number.POSITIVE_INFINITY,
  },
] as const;

const BLOCK_BITS = 5;
const SPAN_BITS = 10;
const BLOCK = 1 << BLOCK_BITS;
const SPAN = 1 << SPAN_BITS;
const NOTHING = new Float64Array(0);

/**
 * Counts per step in a ring, with sums over blocks of 32 and spans of 1,024 cells, so that any range costs at most some
 * 140 additions. Cells are allocated at the first count and widened (8, 16, 32 bits, double) when one no longer fits.
 * Step numbers grow with time; the slot of a step is its number modulo the ring's size, and slots are valid for (head -
 * steps, head].
 */
export class CountLevel {
  readonly stepMs: number;
  readonly steps: number;
  /** Newest step that the slots know; steps after it count 0. */
  #head = Number.NEGATIVE_INFINITY;
  #width = 0;
  #min = 0;
  #max = 0;
  #cells: Cells | null = null;
  #blocks = NOTHING;
  #spans = NOTHING;

  constructor(spec: LevelSpec) {
    this.stepMs = spec.stepMs;
    this.steps = spec.steps;
  }

  /** Adds to one step, which must not be older than the ring keeps. */
  add(step: number, amount: number): void {
    if (step > this.#head) this.#advance(step);
    this.#addToSlot(step % this.steps, amount);
  }

  /** Events of the steps `first` to `last`, both included. Steps that are no longer kept count 0. */
  sum(first: number, last: number): number {
    if (this.#cells === null) return 0;
    const from = Math.max(first, this.#head - this.steps + 1, 0);
    const to = Math.min(last, this.#head);
    if (from > to) return 0;
    const slotFrom = from % this.steps;
    const slotTo = (to % this.steps) + 1;
    if (slotFrom < slotTo) return this.#sumSlots(this.#cells, slotFrom, slotTo);
    return this.#sumSlots(this.#cells, slotFrom, this.steps) + this.#sumSlots(this.#cells, 0, slotTo);
  }

  /** Bytes of cells and sums. */
  byteLength(): number {
    return (this.#cells?.byteLength ?? 0) + this.#blocks.byteLength + this.#spans.byteLength;
  }

  /** Forgets everything and gives the memory back. */
  release(): void {
    this.#head = Number.NEGATIVE_INFINITY;
    this.#cells = null;
    this.#width = this.#min = this.#max = 0;
    this.#blocks = this.#spans = NOTHING;
  }

  snapshot(): LevelState {
    const cells = this.#cells;
    if (cells === null) return { head: this.#head, offset: 0, cells: null };
    let from = 0;
    let to = cells.length;
    while (from < to && cells[from] === 0) from += 1;
    while (to > from && cells[to - 1] === 0) to -= 1;
    return { head: this.#head, offset: from, cells: cells.slice(from, to) };
  }

  restore(state: LevelState): void {
    this.release();
    this.#head = state.head;
    if (state.cells === null) return;
    const { BYTES_PER_ELEMENT: bytes } = state.cells;
    this.#allocate();
    const cells = this.#use(Math.log2(bytes), null);
    cells.set(state.cells, state.offset);
    const end = state.offset + state.cells.length;
    for (let block = state.offset >> BLOCK_BITS; block << BLOCK_BITS < end; block += 1) {
      let total = 0;
      const until = Math.min((block + 1) << BLOCK_BITS, end);
      for (let slot = block << BLOCK_BITS; slot < until; slot += 1) total += cells[slot] as number;
      this.#blocks[block] = total;
      const span = block >> (SPAN_BITS - BLOCK_BITS);
      this.#spans[span] = (this.#spans[span] as number) + total;
    }
  }

  #addToSlot(slot: number, amount: number): void {
    let cells = this.#cells ?? this.#allocate();
    const count = (cells[slot] as number) + amount;
    if (count > this.#max || count < this.#min) cells = this.#widen(cells, count);
    cells[slot] = count;
    this.#blocks[slot >> BLOCK_BITS] = (this.#blocks[slot >> BLOCK_BITS] as number) + amount;
    this.#spans[slot >> SPAN_BITS] = (this.#spans[slot >> SPAN_BITS] as number) + amount;
  }

  #advance(step: number): void {
    const head = this.#head;
    this.#head = step;
    const cells = this.#cells;
    if (cells === null) return;
    if (step - head >= this.steps) {
      cells.fill(0);
      this.#blocks.fill(0);
      this.#spans.fill(0);
      return;
    }
    for (let skipped = head + 1; skipped <= step; skipped += 1) {
      const slot = skipped % this.steps;
      const old = cells[slot] as number;
      if (old !== 0) this.#addToSlot(slot, -old);
    }
  }

  #allocate(): Cells {
    this.#blocks = new Float64Array(Math.ceil(this.steps / BLOCK));
    this.#spans = new Float64Array(Math.ceil(this.steps / SPAN));
    return this.#use(0, null);
  }

  #widen(cells: Cells, count: number): Cells {
    const fits = WIDTHS.findIndex(({ min, max }, width) => width > this.#width && count >= min && count <= max);
    return this.#use(fits, cells);
  }

  #use(width: number, old: Cells | null): Cells {
    const { create, min, max } = WIDTHS[width] as (typeof WIDTHS)[number];
    const cells = create(this.steps);
    if (old !== null) cells.set(old);
    this.#width = width;
    this.#min = min;
    this.#max = max;
    this.#cells = cells;
    return cells;
  }

  /** Over slots [from, to): single cells up to a block's edge, blocks up to a span's edge, spans, and down again. */
  #sumSlots(cells: Cells, from: number, to: number): number {
    let total = 0;
    let slot = from;
    while (slot < to && slot % BLOCK !== 0) total += cells[slot++] as number;
    for (; slot + BLOCK <= to && slot % SPAN !== 0; slot += BLOCK) total += this.#blocks[slot >> BLOCK_BITS] as number;
    for (; slot + SPAN <= to; slot += SPAN) total += this.#spans[slot >> SPAN_BITS] as number;
    for (; slot + BLOCK <= to; slot += BLOCK) total += this.#blocks[slot >> BLOCK_BITS] as number;
    while (slot < to) total += cells[slot++] as number;
    return total;
  }
}
