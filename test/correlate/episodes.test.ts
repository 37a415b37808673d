import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { epochMs } from '../../src/base/units.ts';
import { createCorrelator } from '../../src/correlate/correlate.ts';
import type { Correlator } from '../../src/correlate/correlator.ts';
import type { Alert, AlertChange } from '../../src/model/alert.ts';
import type { Incident, IncidentAction, Notification } from '../../src/model/incident.ts';
import type { Route, WebhookReceiver } from '../../src/model/receiver.ts';
import { toOutboxEntries } from '../../src/notify/outbox.ts';
import { createWebhookNotifier } from '../../src/notify/webhook/notifier.ts';
import type { OutboxEntry } from '../../src/store/store.ts';
import { alertOf, MINUTE, SETTINGS, T0 } from '../support/alerts.ts';

type Kind = AlertChange['kind'];
const time = (minute: number) => epochMs(T0 + minute * MINUTE);
const changeOf = (kind: Kind, alert: Alert, minute: number): AlertChange =>
  kind === 'resolved'
    ? { kind, at: time(minute), alert, reason: 'recovered' }
    : { kind, at: time(minute), alert: { ...alert, since: alert.since } };

/** Ticks every minute from 0 to `until`; changes come at their minute. */
function play(
  correlator: Correlator,
  until: number,
  script: readonly (readonly [minute: number, kind: Kind, alert: Alert])[],
  from = 0,
): Notification[] {
  const said: Notification[] = [];
  for (let minute = from; minute <= until; minute += 1) {
    const changes = script.filter(([at]) => at === minute).map(([, kind, alert]) => changeOf(kind, alert, minute));
    said.push(...correlator.correlate(changes, time(minute)).notifications);
  }
  return said;
}

const reasons = (said: readonly Notification[]): string[] =>
  said.map(({ incident, reason }) => `${incident.id} ${reason}`);
const burn = (since = 0, fields: Parameters<typeof alertOf>[2] = {}): Alert =>
  alertOf('ErrorBudgetBurn', { cluster: 'checkout' }, { severity: 'page', tier: '50h', since, ...fields });
const ejections = (since = 0): Alert => alertOf('HostEjections', { cluster: 'checkout' }, { since });

describe('an incident that follows another', () => {
  test('names the last one of the same lead, though that can no longer reopen and ticks went by in between', () => {
    const correlator = createCorrelator(SETTINGS);
    const said = play(correlator, 120, [
      [0, 'fired', burn()],
      [5, 'resolved', burn()],
      [100, 'fired', burn(100)],
    ]);
    const opened = said
      .filter(({ reason }) => reason === 'opened')
      .map(({ incident }) => [incident.id, incident.previous]);
    assert.deepEqual(opened, [
      [1, null],
      [2, 1],
    ]);
  });

  test('goes by its lead, not by the alert that sorts first', () => {
    const correlator = createCorrelator({ ...SETTINGS, reopenWithinTicket: SETTINGS.reopenWithin });
    play(correlator, 60, [
      [0, 'fired', ejections()],
      [5, 'resolved', ejections()],
    ]);
    const [opened] = play(
      correlator,
      100,
      [
        [100, 'fired', burn(100)],
        [100, 'fired', ejections(100)],
      ],
      100,
    );
    assert.deepEqual([opened?.incident.lead, opened?.incident.previous], [ejections().key, 1]);
  });

  test('is known over a restart, and another lead is nobody’s follower', () => {
    const before = createCorrelator(SETTINGS);
    const [opened] = play(before, 0, [[0, 'fired', burn()]]);
    const ended: Incident[] = [];
    for (const [minute, changes] of [
      [5, [changeOf('resolved', burn(), 5)]],
      [10, []],
    ] as const) {
      ended.push(...before.correlate(changes, time(minute)).incidents);
    }
    assert.equal(opened?.incident.id, 1);
    const after = createCorrelator(SETTINGS);
    after.restore(ended.slice(-1), 2);
    const other = alertOf('DiskFull', { cluster: 'search' }, { since: 100 });
    const said = play(
      after,
      100,
      [
        [100, 'fired', burn(100)],
        [100, 'fired', other],
      ],
      60,
    );
    assert.deepEqual(
      said.map(({ incident }) => [incident.id, incident.lead, incident.previous]),
      [
        [2, other.key, null],
        [3, burn().key, 1],
      ],
    );
  });
});

test('an episode in which nothing was said ends without a word', () => {
  const said = play(createCorrelator(SETTINGS), 40, [
    [0, 'fired', burn()],
    [5, 'resolved', burn()],
    [15, 'fired', burn(15)],
    [20, 'resolved', burn(15)],
  ]);
  assert.deepEqual(reasons(said), ['1 opened', '1 resolved']);
});

describe('a reopening by hand', () => {
  test('begins an episode like any other: it can say once more that it still burns, and is closed once', () => {
    const correlator = createCorrelator(SETTINGS);
    const person = (kind: 'resolve' | 'reopen', minute: number): string[] => {
      const action: IncidentAction = { kind, by: 'ada', note: null };
      const acted = correlator.act(1, action, time(minute));
      assert.equal(acted.kind, 'done');
      return acted.kind === 'done' ? reasons(acted.result.notifications) : [];
    };
    assert.deepEqual(reasons(play(correlator, 1, [[0, 'fired', burn()]])), ['1 opened']);
    for (const [start, episode] of [
      [2, 2],
      [40, 3],
    ] as const) {
      assert.deepEqual(person('resolve', start), ['1 resolved']);
      assert.deepEqual(person('reopen', start), []);
      assert.equal(correlator.incidents()[0]?.episode, episode);
      assert.deepEqual(reasons(play(correlator, start + 30, [], start)), ['1 still_burning'], `episode ${episode}`);
    }
  });
});

const HIGH = burn(0, { tier: '6h', tiersHolding: ['6h', '50h'] });
const LOW = burn(0, { severity: 'ticket', tier: '10d' });
const CLUSTERS = ['checkout', 'search'];
const POOL: readonly Alert[] = CLUSTERS.flatMap((cluster) => {
  const at = (alert: Alert): Alert => alertOf(alert.name, { cluster }, { ...alert, since: 0 });
  return [
    at(burn()),
    at(ejections()),
    alertOf('UpstreamErrors', { cluster }),
    alertOf('DiskFull', { cluster, zone: 'a' }),
  ];
});
const VARIANTS: readonly Partial<Alert>[] = [burn(), HIGH, LOW].map(({ severity, tier, tiersHolding }) => ({
  severity,
  tier,
  tiersHolding,
}));

/** What may happen to one alert in one tick: it toggles, or (while it fires) changes tier. */
const step = fc.record({
  alert: fc.constantFrom(...POOL),
  does: fc.constantFrom('toggle', 'toggle', 'change'),
  variant: fc.nat({ max: VARIANTS.length - 1 }),
});
const ticks = fc.array(fc.tuple(fc.integer({ min: 1, max: 25 }), fc.array(step, { maxLength: 6 })), {
  minLength: 1,
  maxLength: 40,
});
type Steps = typeof ticks extends fc.Arbitrary<infer T> ? T : never;

/** Turns steps into changes that engines could make: an alert fires once until it resolves. */
function changesOf(steps: Steps): { readonly minute: number; readonly changes: readonly AlertChange[] }[] {
  const firing = new Map<string, Alert>();
  let minute = 0;
  return steps.map(([gap, wanted]) => {
    minute += gap;
    const changes: AlertChange[] = [];
    for (const { alert, does, variant } of new Map(wanted.map((one) => [one.alert.key, one])).values()) {
      const before = firing.get(alert.key);
      const fields = alert.burn === null ? {} : (VARIANTS[variant] ?? {});
      if (before === undefined) {
        const started = { ...alert, ...fields, since: time(minute) };
        firing.set(alert.key, started);
        changes.push({ kind: 'fired', at: time(minute), alert: started });
      } else if (does === 'toggle') {
        firing.delete(alert.key);
        changes.push({ kind: 'resolved', at: time(minute), alert: before, reason: 'recovered' });
      } else {
        const changed = { ...before, ...fields };
        firing.set(alert.key, changed);
        changes.push({ kind: 'changed', at: time(minute), alert: changed });
      }
    }
    return { minute, changes };
  });
}

describe('properties', () => {
  test('any order of the changes of every tick gives the identical result, all along a history', () => {
    fc.assert(
      fc.property(ticks, fc.infiniteStream(fc.nat({ max: 1_000_000 })), (steps, numbers) => {
        const [straight, shuffled] = [createCorrelator(SETTINGS), createCorrelator(SETTINGS)];
        for (const { minute, changes } of changesOf(steps)) {
          const order = changes.map((change) => ({ change, rank: numbers.next().value ?? 0 }));
          const mixed = order.sort((a, b) => a.rank - b.rank).map(({ change }) => change);
          const want = straight.correlate(changes, time(minute));
          assert.deepEqual(shuffled.correlate(mixed, time(minute)), want);
        }
        assert.deepEqual(shuffled.incidents(), straight.incidents());
      }),
      { seed: 17, numRuns: 150 },
    );
  });

  test('a resolved incident has no firing member, and everything firing is in exactly one incident that is not', () => {
    fc.assert(
      fc.property(ticks, (steps) => {
        const correlator = createCorrelator(SETTINGS);
        const firing = new Set<string>();
        for (const { minute, changes } of changesOf(steps)) {
          for (const { kind, alert } of changes) {
            if (kind === 'resolved') firing.delete(alert.key);
            else firing.add(alert.key);
          }
          correlator.correlate(changes, time(minute));
          const held = correlator.incidents();
          const members = (open: boolean): string[] =>
            held
              .filter(({ state }) => (state !== 'resolved') === open)
              .flatMap((incident) => incident.members.filter(({ state }) => state === 'firing'))
              .map(({ alert }) => alert.key)
              .sort();
          assert.deepEqual([members(true), members(false)], [[...firing].sort(), []]);
        }
      }),
      { seed: 19, numRuns: 150 },
    );
  });

  test('restored after any tick, a correlator goes on exactly as the one that never stopped', () => {
    fc.assert(
      fc.property(ticks, (steps) => {
        const running = createCorrelator(SETTINGS);
        let restarted = createCorrelator(SETTINGS);
        const everyone = new Map<number, Incident>();
        for (const { minute, changes } of changesOf(steps)) {
          const want = running.correlate(changes, time(minute));
          assert.deepEqual(restarted.correlate(changes, time(minute)), want);
          for (const incident of want.incidents) everyone.set(incident.id, incident);
          restarted = createCorrelator(SETTINGS);
          const kept = [...everyone.values()].sort((a, b) => a.id - b.id);
          restarted.restore(kept, Math.max(0, ...everyone.keys()) + 1);
        }
      }),
      { seed: 23, numRuns: 100 },
    );
  });

  test('at each receiver messages open and close in turn, and an episode that ended has none left open', () => {
    const receivers = ['pager', 'queue', 'quiet'].map(
      (name): WebhookReceiver => ({
        name,
        type: 'webhook',
        url: 'http://127.0.0.1:9/',
        secret: null,
        sendResolved: name !== 'quiet',
      }),
    );
    const routes: Route[] = [
      { receiver: 'pager', severity: ['page'], matchers: [] },
      { receiver: 'queue', severity: ['ticket'], matchers: [] },
      { receiver: 'quiet', severity: [], matchers: [] },
    ];
    const notifiers = new Map(receivers.map((receiver) => [receiver.name, createWebhookNotifier(receiver)]));
    const links = { incident: 'http://x/incidents/1', runbook: 'http://x/runbooks/x', dashboard: 'http://x/slos' };
    const context = () => ({ links, step: null });
    fc.assert(
      fc.property(ticks, (steps) => {
        const correlator = createCorrelator(SETTINGS);
        const all: OutboxEntry[] = [];
        const open = new Set<string>();
        for (const { minute, changes } of changesOf(steps)) {
          const { notifications, changes: lines } = correlator.correlate(changes, time(minute));
          const entries = toOutboxEntries(notifications, {
            routes,
            receivers,
            notifiers,
            context,
            sent: () => all,
            sentTo: () => all,
          });
          all.push(...entries);
          for (const { incident, episode, receiver, reason, eventId } of entries) {
            const line = `${incident}/${episode} ${receiver}`;
            if (reason === 'resolved') assert.ok(open.delete(line), `${eventId} closes what is not open`);
            else open.add(line);
          }
          for (const { incident, episode, change } of lines) {
            if (change !== 'resolved') continue;
            const left = [...open].filter(
              (line) => line.startsWith(`${incident}/${episode} `) && !line.endsWith('quiet'),
            );
            assert.deepEqual(left, []);
          }
        }
        assert.equal(new Set(all.map(({ eventId }) => eventId)).size, all.length);
        assert.ok(all.every(({ receiver, reason }) => receiver !== 'quiet' || reason !== 'resolved'));
      }),
      { seed: 29, numRuns: 150 },
    );
  });
});
