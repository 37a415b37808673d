import { DAY, type EpochMs } from '../base/units.ts';
import type { Alert, Place } from '../model/alert.ts';

/** A person said that two kinds of alerts do not belong together in a place. */
export interface Apart {
  /** In the order of their names; one kind twice where two alerts of it were told apart. */
  readonly kinds: readonly [string, string];
  /** `cluster checkout`; null where the two shared no place: then anywhere. */
  readonly place: string | null;
  readonly at: EpochMs;
}

const REMEMBERED_MS = 30 * DAY;
const REMEMBERED_MAX = 1000;

/** The narrowest thing that is usually meant by "here" comes first. */
const PARTS: readonly (keyof Place)[] = ['cluster', 'service', 'balancer', 'host', 'zone', 'region', 'listener'];

/** What splits have taught: pairs of kinds and places that do not go together. Newest win; each is kept for 30 days. */
export class ApartBook {
  #pairs: readonly Apart[] = [];

  restore(pairs: readonly Apart[]): void {
    this.#pairs = pairs;
  }

  list(): readonly Apart[] {
    return this.#pairs;
  }

  get isEmpty(): boolean {
    return this.#pairs.length === 0;
  }

  /** Whether a person told these two kinds apart where both are. */
  has(a: Alert, b: Alert): boolean {
    const kinds = kindsOf(a, b);
    return this.#pairs.some((pair) => isOf(pair, kinds) && isIn(pair, a) && isIn(pair, b));
  }

  /** Every one of the first does not belong with any of the second. */
  learn(some: readonly Alert[], others: readonly Alert[], now: EpochMs): void {
    const learnt = new Map<string, Apart>();
    for (const a of some) {
      for (const b of others) {
        const kinds = kindsOf(a, b);
        const place = sharedPlaceOf(a, b);
        learnt.set(`${kinds.join(' ')} ${place}`, { kinds, place, at: now });
      }
    }
    const old = this.#pairs.filter((pair) => !learnt.has(`${pair.kinds.join(' ')} ${pair.place}`));
    const kept = old.filter(({ at }) => now - at < REMEMBERED_MS);
    this.#pairs = [...kept, ...learnt.values()].slice(-REMEMBERED_MAX);
  }

  /** They do belong together after all. Says whether that is news. */
  unlearn(some: readonly Alert[], others: readonly Alert[]): boolean {
    const kept = this.#pairs.filter(
      (pair) => !some.some((a) => others.some((b) => isOf(pair, kindsOf(a, b)) && isIn(pair, a) && isIn(pair, b))),
    );
    const isNews = kept.length < this.#pairs.length;
    this.#pairs = kept;
    return isNews;
  }
}

const kindsOf = (a: Alert, b: Alert): readonly [string, string] =>
  a.name <= b.name ? [a.name, b.name] : [b.name, a.name];

const isOf = ({ kinds }: Apart, [first, second]: readonly [string, string]): boolean =>
  kinds[0] === first && kinds[1] === second;

const isIn = ({ place }: Apart, alert: Alert): boolean =>
  place === null || PARTS.some((part) => placeText(part, alert) === place);

function sharedPlaceOf(a: Alert, b: Alert): string | null {
  const part = PARTS.find((one) => a.place[one] !== undefined && a.place[one] === b.place[one]);
  return part === undefined ? null : placeText(part, a);
}

const placeText = (part: keyof Place, { place }: Alert): string | null =>
  place[part] === undefined ? null : `${part} ${place[part]}`;
