import { present } from '../../src/base/assert.ts';
import { type BurnEngine, createBurnEngine } from '../../src/burn/engine.ts';
import type { GroupStatus } from '../../src/burn/status.ts';
import type { AlertChange } from '../../src/model/alert.ts';
import { at, type RawCells, SECOND } from './raw-cells.ts';

/** A change, with its time in milliseconds after T0. */
export interface Said {
  readonly after: number;
  readonly change: AlertChange;
}

export interface Run {
  readonly said: readonly Said[];
  /** Without `updated`: what replay prints. */
  readonly news: readonly Said[];
  readonly statuses: readonly GroupStatus[];
  readonly engine: BurnEngine;
}

/** Ticks over (from, to], milliseconds after T0. Events of a step are seen by the tick at its end. */
export function run(
  cells: RawCells,
  from: number,
  to: number,
  options: { readonly everyMs?: number; readonly engine?: BurnEngine } = {},
): Run {
  const { everyMs = 10 * SECOND, engine = createBurnEngine() } = options;
  const said: Said[] = [];
  for (let after = from + everyMs; after <= to; after += everyMs) {
    cells.reveal(at(after));
    for (const change of engine.evaluate(cells, at(after)).changes) said.push({ after, change });
  }
  const news = said.filter(({ change }) => change.kind !== 'updated');
  return { said, news, statuses: engine.statuses(), engine };
}

/** Of the only group, at one moment. */
export function statusAt(cells: RawCells, after: number): GroupStatus {
  cells.reveal(at(after));
  const [status] = createBurnEngine().evaluate(cells, at(after)).statuses;
  return present(status, 'status');
}

/** `fired page 50h`, `changed ticket 50h`, `resolved`. */
export const headline = ({ change }: Said): string =>
  change.kind === 'resolved' ? 'resolved' : `${change.kind} ${change.alert.severity} ${change.alert.tier}`;

/** How often the alert became a page. */
export function pagesIn(news: readonly Said[]): number {
  let severity = 'none';
  let pages = 0;
  for (const { change } of news) {
    const next = change.kind === 'resolved' ? 'none' : change.alert.severity;
    if (next === 'page' && severity !== 'page') pages += 1;
    severity = next;
  }
  return pages;
}
