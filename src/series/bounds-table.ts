/** Bounds are matched as numbers; this much is rounding of units (0.3 s / 1e-3). */
const TOLERANCE = 1e-12;

/** A set of explicit bounds, shared by all series that have it. */
export class BoundsSet {
  readonly id: number;
  readonly bounds: Float64Array;
  /** Increments of one point, lent to cells: one more than bounds. */
  readonly increments: Float64Array;
  readonly #scaled = new Map<number, Float64Array>();
  #threshold = Number.NaN;
  #below = 0;
  #isBound = false;

  constructor(id: number, bounds: Float64Array) {
    this.id = id;
    this.bounds = bounds;
    this.increments = new Float64Array(bounds.length + 1);
  }

  /** How many buckets lie at or below a threshold in the bounds' own unit. Bounds are inclusive. */
  bucketsBelow(threshold: number): number {
    if (threshold === this.#threshold) return this.#below;
    const { bounds } = this;
    const limit = threshold * (1 + TOLERANCE);
    let index = 0;
    while (index < bounds.length && (bounds[index] as number) <= limit) index += 1;
    this.#threshold = threshold;
    this.#below = index;
    this.#isBound = index > 0 && (bounds[index - 1] as number) >= threshold * (1 - TOLERANCE);
    return index;
  }

  /** The bucket that a threshold lies within; -1 where the threshold is a bound, and divides nothing. */
  bucketAround(threshold: number): number {
    const below = this.bucketsBelow(threshold);
    return this.#isBound ? -1 : below;
  }

  /** The bounds times `factor`, computed once. */
  scaledBy(factor: number): Float64Array {
    if (factor === 1) return this.bounds;
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
  /** The bounds matched last in this request, by their place. */
  #from = -1;
  #length = 0;
  #matched: BoundsSet | null = null;

  /** To be called before the points of a request: places in its pool mean other bounds than those of the last one. */
  begin(): void {
    this.#from = -1;
  }

  /**
   * The set of a point whose series last had the set `known` (-1 = none yet); null when there are too many sets. Points
   * share the place of their bounds, so that most need no comparison.
   */
  match(numbers: Float64Array, from: number, length: number, known: number): BoundsSet | null {
    if (from === this.#from && length === this.#length) return this.#matched;
    const last = known < 0 ? null : (this.#sets[known] as BoundsSet);
    this.#matched = last?.equals(numbers, from, length) === true ? last : this.find(numbers, from, length);
    this.#from = from;
    this.#length = length;
    return this.#matched;
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
