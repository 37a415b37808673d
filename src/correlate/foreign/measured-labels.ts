import { type Labels, labelsKey } from '../../model/labels.ts';

/** So many alerts that differ only in one number look like a measurement. */
const SUSPECT_COUNT = 20;
/** Families of alerts that are watched for it; what comes later is not. */
const FAMILIES_MAX = 50_000;

const NUMBER = /^[-+]?\d+(\.\d+)?([eE][-+]?\d+)?%?$/;

/** A label whose value is part of an alert's identity and seems to be measured. */
export interface MeasuredLabel {
  readonly alert: string;
  readonly label: string;
}

/** Finds labels that carry a measured value: each reading would be an alert of its own. Tells each label once. */
export class MeasuredLabels {
  /** Number of identities by what they have in common but for one numeric label. */
  readonly #families = new Map<string, number>();
  readonly #told = new Set<string>();

  /** Takes note of an identity that was not there before. */
  note(name: string, labels: Labels, ignored: readonly string[]): readonly MeasuredLabel[] {
    const found: MeasuredLabel[] = [];
    const identity = [...labels].filter(([label]) => !ignored.includes(label));
    for (const [label, value] of identity) {
      const about = `${name} ${label}`;
      if (!NUMBER.test(value) || this.#told.has(about)) continue;
      const family = `${about} ${labelsKey(new Map(identity.filter(([other]) => other !== label)))}`;
      const count = (this.#families.get(family) ?? 0) + 1;
      if (count === 1 && this.#families.size >= FAMILIES_MAX) continue;
      this.#families.set(family, count);
      if (count < SUSPECT_COUNT) continue;
      this.#told.add(about);
      this.#families.delete(family);
      found.push({ alert: name, label });
    }
    return found;
  }
}
