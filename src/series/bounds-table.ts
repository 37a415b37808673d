/** A set of explicit bounds, shared by all series that have it. */
export class BoundsSet {
  readonly id: number;
  readonly bounds: Float64Array;
  /** Increments of one point, lent to cells: one more than bounds. */
  readonly increments: Float64Array;
  readonly #scaled = new Map<number, Float64Array>();

  constructor(id: number, bounds: Float64Array) {
    this.id = id;
    this.bounds = bounds;
    this.increments = new Float64Array(bounds.length + 1);
  }

  /** The bounds times `factor`, computed once. */
  scaledBy(factor: number): Float64Array {
    let scaled = this.#scaled.get(factor);
    if (scaled === undefined) {
      scaled = this.bounds.map((bound) => bound * factor);
      this.#scaled.set(factor, scaled);
    }
    return scaled;
  }

  equals(numbers: Float64Array, from: number, length: number): boolean {
    const { bounds } = this;
    if (bounds.length !== length) return false;
    for (let index = 0; index < length; index += 1) if (bounds[index] !== numbers[from + index]) return false;
    return true;
  }
}

/** More different sets than any fleet has; a sender that makes up new bounds all the time is refused. */
const SETS_MAX = 65_536;

export class BoundsTable {
  readonly #sets: BoundsSet[] = [];
  readonly #byText = new Map<string, BoundsSet>();

  get(id: number): BoundsSet {
    return this.#sets[id] as BoundsSet;
  }

  /** The set with these bounds; null when there are too many sets. */
  find(numbers: Float64Array, from: number, length: number): BoundsSet | null {
    const bounds = numbers.slice(from, from + length);
    const text = bounds.join(' ');
    const known = this.#byText.get(text);
    if (known !== undefined || this.#sets.length >= SETS_MAX) return known ?? null;
    const added = new BoundsSet(this.#sets.length, bounds);
    this.#sets.push(added);
    this.#byText.set(text, added);
    return added;
  }

  snapshot(): readonly Float64Array[] {
    return this.#sets.map(({ bounds }) => bounds.slice());
  }

  restore(sets: readonly Float64Array[]): void {
    for (const bounds of sets) this.find(bounds, 0, bounds.length);
  }
}
