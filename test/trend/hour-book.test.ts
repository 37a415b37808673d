import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { drained } from '../../src/base/steps.ts';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import type { HourlyFigures } from '../../src/model/measure.ts';
import { HourBook } from '../../src/trend/hour-book.ts';
import { HOUR, HostFleet, MINUTE, ORIGIN } from '../support/host-fleet.ts';

const S = 1000;
/** One host of four gets three times what the others get; hosts 0 and 2 are in zone a. */
const uneven = ({ index }: { readonly index: number }) => ({ requests: index === 0 ? 300 : 100 });
const newFleet = (): HostFleet => new HostFleet({ hosts: 4, zoneOf: (index) => (index % 2 === 0 ? 'a' : 'b') });

const due = (book: HourBook, fleet: HostFleet): readonly HourlyFigures[] | null =>
  drained(book.due(fleet.aggregate, fleet.now));

const subjectOf = ({ subject }: HourlyFigures): string => [...subject].map(([, value]) => value).join('/');

const hoursOf = (rows: readonly HourlyFigures[] | null): readonly EpochMs[] => [
  ...new Set((rows ?? []).map(({ hour }) => hour)),
];

describe('what is kept of every hour', () => {
  test('an hour is told once, five minutes after its end, with the skew of its hosts and zones', () => {
    const fleet = newFleet();
    const book = new HourBook();
    fleet.run((HOUR + 5 * MINUTE) / S - 10, uneven);
    assert.deepEqual(hoursOf(due(book, fleet)), []);
    fleet.run(10, uneven);
    const rows = due(book, fleet) ?? [];
    assert.deepEqual(rows.map(subjectOf), ['checkout', 'checkout/a', 'checkout/b']);
    assert.deepEqual(hoursOf(rows), [ORIGIN + HOUR]);
    const [cluster, a, b] = rows;
    // 300 beside a mean of 150; zone a has 400 of 600.
    assert.ok(Math.abs((cluster?.figures.host_skew ?? 0) - 2) < 0.05, JSON.stringify(cluster?.figures));
    assert.deepEqual(cluster?.notes, { top_host: fleet.hostName(0) });
    assert.ok(Math.abs((a?.figures.zone_skew ?? 0) - 4 / 3) < 0.03);
    assert.ok(Math.abs((a?.figures.zone_skew ?? 0) + (b?.figures.zone_skew ?? 0) - 2) < 1e-9);
    assert.equal(due(book, fleet), null);
  });

  test('an hour with too few requests tells no skew, and one without any nothing', () => {
    const fleet = newFleet();
    const book = new HourBook();
    fleet.run(HOUR / S, () => ({ requests: 0.05 }));
    fleet.silence(HOUR / S + 300);
    const rows = due(book, fleet) ?? [];
    assert.deepEqual(
      rows.map(subjectOf).filter((subject) => subject.includes('/')),
      [],
    );
    for (const { figures } of rows) assert.equal(figures.host_skew, undefined);
    assert.ok(!hoursOf(rows).includes(epochMs(ORIGIN + 2 * HOUR)));
  });

  test('after a restart it goes on behind the newest hour that is stored, also over hours without a tick', () => {
    const fleet = newFleet();
    fleet.run((3 * HOUR + 5 * MINUTE) / S, uneven);
    const book = new HourBook();
    book.restore(epochMs(ORIGIN + HOUR));
    assert.deepEqual(hoursOf(due(book, fleet)), [ORIGIN + 2 * HOUR, ORIGIN + 3 * HOUR]);
    const first = new HourBook();
    first.restore(null);
    assert.deepEqual(hoursOf(due(first, fleet)), [ORIGIN + 3 * HOUR]);
  });
});
