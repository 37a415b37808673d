import { type Labels, labelsKey } from '../model/labels.ts';
import type { HourlyFigures, TallyName } from '../model/measure.ts';

/** Which rows: those whose subject has exactly these labels, or these and some of the optional ones. */
export interface SubjectShape {
  readonly with: readonly string[];
  readonly optional?: readonly string[];
}

export const SHAPE = {
  cluster: { with: ['cluster'] },
  clusterZone: { with: ['cluster', 'zone'] },
  layer: { with: ['cluster', 'layer'] },
  listener: { with: ['listener'] },
  balancer: { with: ['balancer'] },
  /** Balancers by zone and region, as far as they are told; without either, those of the fleet's own row. */
  zone: { with: [], optional: ['zone', 'region'] },
  version: { with: ['configVersion'], optional: ['configKind'] },
} as const satisfies Readonly<Record<string, SubjectShape>>;

const fits = (subject: Labels, shape: SubjectShape): boolean =>
  shape.with.every((name) => subject.has(name)) &&
  [...subject.keys()].every((name) => shape.with.includes(name) || shape.optional?.includes(name) === true);

export const rowsOf = (rows: readonly HourlyFigures[], shape: SubjectShape): readonly HourlyFigures[] =>
  rows.filter(({ subject }) => fits(subject, shape));

/** Hours of one subject. */
export interface SubjectHours {
  readonly subject: Labels;
  /** Oldest first. */
  readonly hours: readonly HourlyFigures[];
}

/** Rows by subject, in the order of the subjects. */
export function bySubject(rows: readonly HourlyFigures[], shape: SubjectShape): readonly SubjectHours[] {
  const found = new Map<string, { subject: Labels; hours: HourlyFigures[] }>();
  for (const row of rowsOf(rows, shape)) {
    const key = labelsKey(row.subject);
    const known = found.get(key);
    if (known === undefined) found.set(key, { subject: row.subject, hours: [row] });
    else known.hours.push(row);
  }
  const ordered = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
  for (const { hours } of ordered) hours.sort((a, b) => a.hour - b.hour);
  return ordered;
}

/** Sum over hours; null where no hour tells it. */
export function sumOf(rows: readonly HourlyFigures[], name: TallyName): number | null {
  let sum: number | null = null;
  for (const { tallies } of rows) {
    const amount = tallies?.[name];
    if (amount !== undefined) sum = (sum ?? 0) + amount;
  }
  return sum;
}

/** Of a row of `SHAPE.zone`. */
export const zoneName = (subject: Labels): string => {
  const [zone, region] = [subject.get('zone'), subject.get('region')];
  return zone === undefined ? (region === undefined ? 'balancers without a zone' : `region ${region}`) : `zone ${zone}`;
};

export const tallyOf = ({ tallies }: HourlyFigures, name: TallyName): number => tallies?.[name] ?? 0;
