/**
 * A label set: names and values, in the order of the names. Two sets with the same pairs have the same `labelsKey`.
 * A Map, so that a label called `__proto__` is an ordinary label.
 */
export type Labels = ReadonlyMap<string, string>;

export const NO_LABELS: Labels = new Map();

const byName = (a: readonly [string, string], b: readonly [string, string]): number =>
  a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0;

/** Builds a label set; the last of two pairs with one name wins. Order of input does not matter otherwise. */
export function labelsOf(entries: Iterable<readonly [string, string]>): Labels {
  const last = new Map(entries);
  return new Map([...last].sort(byName));
}

/** The union of two sets; `over` wins. */
export const mergeLabels = (base: Labels, over: Labels): Labels => labelsOf([...base, ...over]);

/** The subset with the given names; absent names are left out. */
export function pickLabels(labels: Labels, names: Iterable<string>): Labels {
  const picked: [string, string][] = [];
  for (const name of names) {
    const value = labels.get(name);
    if (value !== undefined) picked.push([name, value]);
  }
  return labelsOf(picked);
}

/** A canonical text of the set, usable as a map key: `{a="1",b="2"}` with JSON-escaped values. */
export function labelsKey(labels: Labels): string {
  const parts: string[] = [];
  for (const [name, value] of labels) parts.push(`${JSON.stringify(name)}=${JSON.stringify(value)}`);
  return `{${parts.join(',')}}`;
}

/** For JSON: an object without a prototype, keys in label order. */
export function labelsToObject(labels: Labels): Record<string, string> {
  const object: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of labels) object[name] = value;
  return object;
}

export const labelsFromObject = (object: Readonly<Record<string, string>>): Labels => labelsOf(Object.entries(object));
