import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { epochMs } from '../../src/base/units.ts';
import { createCorrelator } from '../../src/correlate/correlate.ts';
import type { Correlator } from '../../src/correlate/correlator.ts';
import type { Alert, AlertChange } from '../../src/model/alert.ts';
import type { Incident, IncidentAction } from '../../src/model/incident.ts';
import { alertOf, MINUTE, SETTINGS, T0 } from '../support/alerts.ts';

const CHECKOUT = { cluster: 'checkout' };
const burn = (place: object = CHECKOUT, fields: Parameters<typeof alertOf>[2] = {}): Alert =>
  alertOf('ErrorBudgetBurn', { service: 'shop', ...place }, { severity: 'page', tier: '50h', ...fields });

/** A correlator with what it said so far; minutes count from T0. */
class Scene {
  readonly correlator: Correlator = createCorrelator(SETTINGS);
  readonly said: string[] = [];
  readonly changes: string[] = [];

  at(minute: number, ...changes: readonly [AlertChange['kind'], Alert][]): this {
    const now = epochMs(T0 + minute * MINUTE);
    const result = this.correlator.correlate(
      changes.map(([kind, alert]) => ({ kind, at: now, alert, reason: 'recovered' }) as AlertChange),
      now,
    );
    this.said.push(...result.notifications.map(({ incident, reason }) => `${incident.id} ${reason}`));
    this.changes.push(...result.changes.map(({ incident, change }) => `${incident} ${change}`));
    return this;
  }

  act(minute: number, action: IncidentAction, incident = 1): string {
    const acted = this.correlator.act(incident, action, epochMs(T0 + minute * MINUTE));
    if (acted.kind !== 'done') return acted.kind;
    this.said.push(...acted.result.notifications.map(({ incident: one, reason }) => `${one.id} ${reason}`));
    this.changes.push(...acted.result.changes.map(({ incident: one, change }) => `${one} ${change}`));
    return 'done';
  }

  get open(): readonly Incident[] {
    return this.correlator.incidents().filter(({ state }) => state !== 'resolved');
  }
}

describe('one cause, one incident', () => {
  test('ejection, errors and burn of one cluster are one incident, led by the ejection, each with its reason', () => {
    const errors = alertOf('UpstreamErrors', CHECKOUT, { since: 0 });
    const ejections = alertOf('HostEjections', CHECKOUT, { since: 2 });
    const scene = new Scene().at(0, ['fired', errors]).at(1, ['fired', burn()]).at(2, ['fired', ejections]);
    assert.equal(scene.open.length, 1);
    const [incident] = scene.open;
    assert.equal(incident?.lead, ejections.key);
    assert.equal(incident?.title, 'Balancers eject hosts (cluster checkout)');
    assert.deepEqual(
      incident?.members.map(({ reason }) => reason),
      [
        'first alert',
        'UpstreamErrors explains ErrorBudgetBurn in cluster checkout, at the same time',
        'HostEjections explains UpstreamErrors in cluster checkout, at the same time',
      ],
    );
    assert.deepEqual(scene.said, ['1 opened', '1 escalated']);
  });

  test('the same alerts in two clusters are two incidents', () => {
    const scene = new Scene().at(0, ['fired', burn()], ['fired', burn({ cluster: 'search' })]);
    assert.deepEqual(scene.said, ['1 opened', '2 opened']);
  });

  test('kinds that the graph does not know join on the same cluster within 5 min, never across', () => {
    const foreign = (cluster: string, since: number): Alert => alertOf('DiskFull', { cluster }, { since });
    const scene = new Scene()
      .at(0, ['fired', burn()])
      .at(3, ['fired', foreign('checkout', 3)], ['fired', foreign('search', 3)]);
    assert.deepEqual(
      scene.open.map(({ members }) => members.length),
      [2, 1],
    );
  });

  test('an alert that started long after its relatives ended is another incident', () => {
    const errors = alertOf('UpstreamErrors', CHECKOUT);
    const scene = new Scene().at(0, ['fired', errors]).at(1, ['resolved', errors]);
    scene.at(4, ['fired', alertOf('DiskFull', { cluster: 'other' }, { since: 4 })]);
    scene.at(30, ['fired', burn(CHECKOUT, { since: 30 })]);
    assert.deepEqual(
      scene.said.filter((line) => line.endsWith('opened')),
      ['1 opened', '2 opened', '3 opened'],
    );
  });

  test('a stray resolve opens nothing', () => {
    const scene = new Scene().at(0, ['resolved', burn()]);
    assert.deepEqual([scene.said, scene.changes], [[], []]);
  });
});

describe('the life of an incident', () => {
  test('it resolves once its alerts have stayed resolved for the hold, and says so once', () => {
    const scene = new Scene().at(0, ['fired', burn()]).at(10, ['resolved', burn()]).at(14).at(15).at(16).at(60);
    assert.deepEqual(scene.said, ['1 opened', '1 resolved']);
    assert.equal(scene.changes.filter((change) => change === '1 resolved').length, 1);
  });

  test('a flap within the hold is the same episode and says nothing', () => {
    const scene = new Scene()
      .at(0, ['fired', burn()])
      .at(10, ['resolved', burn()])
      .at(12, ['fired', burn(CHECKOUT, { since: 12 })])
      .at(18);
    assert.deepEqual(scene.said, ['1 opened']);
    assert.equal(scene.open[0]?.episode, 1);
  });

  test('it reopens quietly within 15 min, says once that it still burns, and is closed once more', () => {
    const scene = new Scene().at(0, ['fired', burn()]).at(10, ['resolved', burn()]).at(16);
    const again = burn(CHECKOUT, { since: 20 });
    scene.at(20, ['fired', again]).at(30);
    assert.deepEqual([scene.open[0]?.id, scene.open[0]?.episode], [1, 2]);
    assert.deepEqual(scene.said, ['1 opened', '1 resolved']);
    scene.at(36).at(50).at(60, ['resolved', again]).at(66);
    assert.deepEqual(scene.said, ['1 opened', '1 resolved', '1 still_burning', '1 resolved']);
  });

  test('later it is a new incident', () => {
    const scene = new Scene().at(0, ['fired', burn()]).at(1, ['resolved', burn()]).at(6);
    scene.at(60, ['fired', burn(CHECKOUT, { since: 60 })]);
    assert.deepEqual(
      scene.open.map(({ id }) => id),
      [2],
    );
  });

  test('it pages again on a rise to page and for the fastest tier, not for figures', () => {
    const scene = new Scene().at(0, ['fired', burn(CHECKOUT, { severity: 'ticket', tier: '10d' })]);
    scene.at(5, ['changed', burn()]).at(6, ['updated', burn()]);
    scene.at(30, ['changed', burn(CHECKOUT, { tier: '6h', tiersHolding: ['6h', '50h'] })]).at(31);
    assert.deepEqual(scene.said, ['1 opened', '1 escalated', '1 escalated']);
  });

  test('the fastest tier within ten minutes of a page says nothing', () => {
    const scene = new Scene().at(0, ['fired', burn()]);
    scene.at(4, ['changed', burn(CHECKOUT, { tier: '6h', tiersHolding: ['6h', '50h'] })]).at(30);
    assert.deepEqual(scene.said, ['1 opened']);
  });

  test('a new zone pages once', () => {
    const scene = new Scene().at(0, ['fired', burn({ ...CHECKOUT, zone: 'a' })]);
    scene.at(2, ['fired', burn({ ...CHECKOUT, zone: 'b' }, { since: 2 })]).at(3);
    assert.deepEqual(scene.said, ['1 opened', '1 new_failure_domain']);
  });

  test('a fall to ticket is told, and the end closes it once', () => {
    const ticket = burn(CHECKOUT, { severity: 'ticket', tier: '50h', tiersHolding: ['10d'] });
    const scene = new Scene().at(0, ['fired', burn()]).at(20, ['changed', ticket]).at(40, ['resolved', ticket]).at(46);
    assert.deepEqual(scene.said, ['1 opened', '1 deescalated', '1 resolved']);
  });
});

describe('what people do', () => {
  const ack: IncidentAction = { kind: 'acknowledge', by: 'ada', note: null, until: null };
  const resolve: IncidentAction = { kind: 'resolve', by: 'ada', note: 'rolled back' };

  test('an acknowledgement lapses after an hour only while it pages', () => {
    const paging = new Scene().at(0, ['fired', burn()]);
    paging.act(1, ack);
    paging.at(60).at(61);
    assert.deepEqual(paging.said, ['1 opened', '1 ack_lapsed']);
    const ticket = new Scene().at(0, ['fired', burn(CHECKOUT, { severity: 'ticket' })]);
    ticket.act(1, ack);
    ticket.at(61).at(90);
    assert.deepEqual(ticket.said, ['1 opened']);
  });

  test('a late acknowledge never undoes a resolve, but is written down; an unknown incident is not found', () => {
    const scene = new Scene().at(0, ['fired', burn()]);
    assert.equal(scene.act(1, resolve), 'done');
    assert.equal(scene.act(2, ack), 'done');
    assert.equal(scene.open.length, 0);
    assert.equal(scene.changes.at(-1), '1 acknowledged');
    assert.equal(scene.act(2, ack, 7), 'not_found');
    assert.deepEqual(scene.said, ['1 opened', '1 resolved']);
  });

  test('resolved by hand while it fires, it stays resolved until a rise', () => {
    const low = burn(CHECKOUT, { severity: 'ticket', tier: '10d' });
    const scene = new Scene().at(0, ['fired', low]);
    scene.act(1, resolve);
    scene.at(2, ['updated', low]).at(3, ['changed', low]);
    assert.equal(scene.open.length, 0);
    scene.at(4, ['changed', burn()]);
    assert.equal(scene.open.length, 1);
    assert.deepEqual(scene.said, ['1 opened', '1 resolved', '1 escalated']);
  });

  test('a snooze holds pages back and says when it ended', () => {
    const scene = new Scene().at(0, ['fired', burn({ ...CHECKOUT, zone: 'a' })]);
    scene.act(1, { kind: 'snooze', by: 'ada', note: null, until: epochMs(T0 + 30 * MINUTE) });
    scene.at(2, ['fired', burn({ ...CHECKOUT, zone: 'b' }, { since: 2 })]).at(20);
    assert.deepEqual(scene.said, ['1 opened']);
    scene.at(30);
    assert.deepEqual(scene.said, ['1 opened', '1 unmuted']);
  });
});

describe('properties', () => {
  const pool: readonly Alert[] = ['checkout', 'search'].flatMap((cluster) => [
    burn({ cluster }),
    alertOf('UpstreamErrors', { cluster }),
    alertOf('HostEjections', { cluster }),
    alertOf('DiskFull', { cluster }),
  ]);
  const tick = fc.array(fc.record({ alert: fc.constantFrom(...pool), fires: fc.boolean() }), { maxLength: 4 });

  test('the same changes in any order within a tick give the same incidents', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...pool], { minLength: 2 }), (order) => {
        const sorted = [...order].sort((a, b) => (a.key < b.key ? -1 : 1));
        const run = (alerts: readonly Alert[]): string => {
          const scene = new Scene().at(
            0,
            ...alerts
              .map((alert) => ['fired', alert] as const)
              .map(([kind, alert]) => [kind, alert] as [AlertChange['kind'], Alert]),
          );
          return JSON.stringify([
            scene.said,
            scene.changes,
            scene.open.map(({ title, members }) => [title, members.map(({ alert }) => alert.key)]),
          ]);
        };
        assert.equal(run(order), run(sorted));
      }),
      { seed: 3, numRuns: 200 },
    );
  });

  test('what was opened in an episode is closed at most once, and nothing is closed that was not opened', () => {
    fc.assert(
      fc.property(fc.array(tick, { maxLength: 60 }), (ticks) => {
        const firing = new Set<string>();
        const correlator = createCorrelator(SETTINGS);
        const told = new Map<string, string[]>();
        ticks.forEach((wanted, index) => {
          const now = epochMs(T0 + index * 3 * MINUTE);
          const changes: AlertChange[] = [];
          for (const { alert, fires } of new Map(wanted.map((one) => [one.alert.key, one])).values()) {
            if (fires === firing.has(alert.key)) continue;
            if (fires) firing.add(alert.key);
            else firing.delete(alert.key);
            const own = { ...alert, since: now };
            changes.push(
              fires
                ? { kind: 'fired', at: now, alert: own }
                : { kind: 'resolved', at: now, alert: own, reason: 'recovered' },
            );
          }
          for (const { incident, reason } of correlator.correlate(changes, now).notifications) {
            const key = `${incident.id}/${incident.episode}`;
            told.set(key, [...(told.get(key) ?? []), reason]);
          }
        });
        for (const [key, reasons] of told) {
          assert.notEqual(reasons[0], 'resolved', key);
          assert.ok(reasons.filter((reason) => reason === 'resolved').length <= 1, `${key}: ${reasons.join()}`);
          if (reasons.includes('resolved')) assert.equal(reasons.at(-1), 'resolved', key);
        }
      }),
      { seed: 5, numRuns: 300 },
    );
  });
});
