import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createCorrelator } from '../../src/correlate/correlate.ts';
import { NOTHING_MUTED } from '../../src/correlate/mute.ts';
import type { Alert, Place } from '../../src/model/alert.ts';
import { labelsOf } from '../../src/model/labels.ts';
import { toOutboxEntries } from '../../src/notify/outbox.ts';
import { createWebhookNotifier } from '../../src/notify/webhook/notifier.ts';
import { type AlertFields, alertOf, SETTINGS } from '../support/alerts.ts';
import { changeOf, minuteOf, pageOf, Scene, type Step } from './scene.ts';

const clusters = (count: number, from = 0): readonly string[] =>
  Array.from({ length: count }, (_, i) => `s${String(from + i).padStart(4, '0')}`);

/** So many clusters that telemetry has told of. */
const fleetOf = (count: number) => ({ clusters: () => clusters(count) });

const SECOND = 1 / 60;
const starts = (names: readonly string[], kind = 'CacheDown', fields: AlertFields = {}): Step[] =>
  names.map((cluster) => ['fired', alertOf(kind, { cluster }, { severity: 'page', ...fields })]);
const ends = (steps: readonly Step[]): Step[] => steps.map(([, alert]) => ['resolved', alert]);

const fleetWide = (name: string, since: number): Alert => ({
  ...alertOf(name, {}, { severity: 'page', since }),
  key: `${name}{scope="fleet"}`,
  labels: labelsOf([['scope', 'fleet']]),
});

describe('a storm', () => {
  test('one kind in many clusters at once is one incident with one page, and says in how many', () => {
    const scene = new Scene({}, fleetOf(140)).at(0, ...starts(clusters(34)));
    assert.deepEqual(scene.said, ['1/1 opened']);
    const [incident] = scene.open;
    assert.equal(incident?.title, 'CacheDown in 34 of 140 clusters');
    assert.equal(incident?.members.length, 34);
    assert.ok(incident?.members.slice(1).every(({ reason }) => /^CacheDown started in 34 of 140/.test(reason)));
    scene.at(1, ...ends(starts(clusters(34)))).ticks(2, 8);
    assert.deepEqual(scene.said, ['1/1 opened', '1/1 resolved']);
  });

  test('a kind in fewer clusters than five, or than a fifth of those known, is as many incidents', () => {
    assert.equal(new Scene({}, fleetOf(10)).at(0, ...starts(clusters(4))).open.length, 4);
    assert.equal(new Scene({}, fleetOf(140)).at(0, ...starts(clusters(27))).open.length, 27);
    assert.equal(new Scene({}, fleetOf(140)).at(0, ...starts(clusters(28))).open.length, 1);
    assert.equal(new Scene().at(0, ...starts(clusters(5))).open.length, 1, 'clusters that only alerts told of');
  });

  test('what starts further apart is none, however late it is told', () => {
    const apart = clusters(6).map((cluster, i): Step => {
      return ['fired', alertOf('CacheDown', { cluster }, { severity: 'page', since: i * 20 * SECOND })];
    });
    assert.equal(new Scene({}, fleetOf(20)).at(3, ...apart).open.length, 6);
    assert.equal(new Scene({}, fleetOf(20)).at(3, ...apart.slice(0, 4), ...starts(clusters(1, 9))).open.length, 1);
  });

  test('several alerts of one cluster count once', () => {
    const steps = clusters(4).flatMap((cluster) =>
      ['a', 'b'].map((zone): Step => ['fired', alertOf('CacheDown', { cluster, zone }, { severity: 'page' })]),
    );
    assert.equal(new Scene({}, fleetOf(4)).at(0, ...steps).open.length, 4);
  });

  test('clusters that came first are merged into the oldest; what was opened is closed once, as merged', () => {
    const scene = new Scene({}, fleetOf(20)).at(0, ...starts(clusters(3)));
    assert.deepEqual(scene.said, ['1/1 opened', '2/1 opened', '3/1 opened']);
    const later = { since: 10 * SECOND };
    scene.at(10 * SECOND, ...starts(clusters(5, 3), 'CacheDown', later));
    assert.deepEqual(scene.said.slice(3), ['2/1 merged', '3/1 merged']);
    assert.equal(scene.open.length, 1);
    assert.equal(scene.open[0]?.title, 'CacheDown in 8 of 20 clusters');
    assert.equal(scene.open[0]?.members.length, 8);
    const lines = scene.changes.filter(({ change }) => change === 'merged');
    assert.deepEqual(
      lines.map(({ incident }) => incident),
      [2, 1, 3, 1],
    );
    assert.ok(lines.every(({ reason }) => /CacheDown started in 8 of 20 clusters within 60 s/.test(reason)));
    const merged = scene.stored.get(2);
    assert.deepEqual([merged?.state, merged?.mergedInto], ['resolved', 1]);
    assert.deepEqual(
      merged?.members.map(({ state }) => state),
      ['moved'],
    );
    assert.match(scene.notifications.at(-1)?.why ?? '', /^merged into incident 1: /);
    scene.at(1, ...ends(starts(clusters(8)))).ticks(2, 60);
    assert.deepEqual(scene.said.slice(5), ['1/1 resolved']);
    assert.deepEqual(scene.open, []);
  });

  test('of those that came first one that has paged stays, so that its message goes on', () => {
    const scene = new Scene({}, fleetOf(20)).at(
      0,
      ...starts(clusters(1), 'CacheDown', { severity: 'ticket' }),
      ...starts(clusters(1, 1)),
    );
    scene.at(10 * SECOND, ...starts(clusters(5, 2), 'CacheDown', { since: 10 * SECOND }));
    assert.deepEqual(scene.said, ['1/1 opened', '2/1 opened', '1/1 merged']);
    assert.deepEqual(
      scene.open.map(({ id }) => id),
      [2],
    );
  });

  test('an incident that was there before stays apart', () => {
    const scene = new Scene({}, fleetOf(20)).at(0, ...starts(clusters(1), 'DiskFull'), ...starts(clusters(1)));
    assert.equal(scene.open.length, 1);
    scene.at(30, ...starts(clusters(6, 1), 'CacheDown', { since: 30 }));
    assert.deepEqual(scene.said, ['1/1 opened', '2/1 opened']);
    assert.equal(scene.open[1]?.title, 'CacheDown in 6 of 20 clusters');
  });

  test('goes on in clusters that follow, without another page; a straggler is an incident of its own', () => {
    const scene = new Scene({}, fleetOf(20)).at(0, ...starts(clusters(6)));
    scene.at(50 * SECOND, ...starts(clusters(2, 6), 'CacheDown', { since: 50 * SECOND }));
    scene.restart().at(100 * SECOND, ...starts(clusters(2, 8), 'CacheDown', { since: 100 * SECOND }));
    assert.deepEqual(scene.said, ['1/1 opened']);
    assert.equal(scene.open[0]?.title, 'CacheDown in 10 of 20 clusters');
    scene.at(9, ...starts(clusters(1, 12), 'CacheDown', { since: 9 }));
    assert.deepEqual(scene.said, ['1/1 opened', '2/1 opened']);
  });

  test('what it explains is the same incident, in whichever clusters', () => {
    const scene = new Scene({}, fleetOf(20));
    scene.at(0, ...starts(clusters(8), 'HostEjections', { severity: 'ticket' }));
    scene.at(20 * SECOND, ...starts(clusters(9, 2), 'UpstreamErrors', { since: 20 * SECOND, severity: 'ticket' }));
    scene.at(1, ['fired', pageOf({ cluster: 's0003' }, { since: 1 })]);
    assert.deepEqual(scene.said, ['1/1 opened', '1/1 escalated']);
    assert.equal(scene.open.length, 1);
  });

  test('what befalls the whole fleet makes one of all that began with it', () => {
    const causes = [
      ...SETTINGS.causes,
      { cause: 'AuthDown', effect: 'CacheDown', scope: 'cluster' as const, within: SETTINGS.resolveHold },
    ];
    const scene = new Scene({ causes }, fleetOf(20)).at(0, ...starts(clusters(3)));
    scene.at(10 * SECOND, ['fired', fleetWide('AuthDown', 10 * SECOND)]);
    assert.deepEqual(scene.said.slice(3).sort(), ['2/1 merged', '3/1 merged']);
    const first = new Scene({ causes }, fleetOf(20));
    first.at(0, ...starts(clusters(3)), ['fired', fleetWide('AuthDown', 0)]);
    assert.deepEqual(first.said, ['1/1 opened'], 'the cause is placed before what it explains');
  });

  test('a storm that comes back within the time reopens its incident, though in other clusters first', () => {
    const scene = new Scene({}, fleetOf(20)).at(0, ...starts(clusters(6)));
    scene.at(1, ...ends(starts(clusters(6)))).ticks(2, 10);
    scene.at(12, ...starts(clusters(8), 'CacheDown', { since: 12 }));
    assert.equal(scene.open.length, 1);
    assert.deepEqual(scene.said, ['1/1 opened', '1/1 resolved']);
    assert.equal(scene.open[0]?.title, 'CacheDown in 8 of 20 clusters');
  });

  test('what was merged away takes no more orders, also after a restart', () => {
    const scene = new Scene({}, fleetOf(20)).at(0, ...starts(clusters(2)));
    scene.at(10 * SECOND, ...starts(clusters(5, 2), 'CacheDown', { since: 10 * SECOND }));
    for (const _ of ['running', 'restarted']) {
      const acted = scene.correlator.act(2, { kind: 'reopen', by: 'ada', note: null }, minuteOf(1));
      assert.deepEqual(acted, { kind: 'conflict', message: 'incident 2 was merged into incident 1' });
      scene.restart();
    }
  });

  test('a merged incident is closed at every receiver that has it open, in words that do not say that it is over', () => {
    const scene = new Scene({}, fleetOf(20)).at(0, ...starts(clusters(2)));
    scene.at(10 * SECOND, ...starts(clusters(5, 2), 'CacheDown', { since: 10 * SECOND }));
    const receiver = { name: 'hook', sendResolved: true } as Parameters<typeof toOutboxEntries>[1]['receivers'][number];
    const entries = toOutboxEntries(scene.notifications, {
      routes: [],
      receivers: [receiver],
      notifiers: new Map([['hook', createWebhookNotifier(receiver as never)]]),
      context: () => ({ links: { incident: 'x' } as never, step: null }),
      sent: () => [],
      sentTo: () => [],
    });
    assert.deepEqual(
      entries.map(({ incident, reason }) => `${incident} ${reason}`),
      ['1 opened', '2 opened', '2 merged'],
    );
    assert.match(JSON.parse(entries[2]?.payload ?? '{}').text, /^MERGED, not over: .* Merged into incident 1: /);
  });

  test('a thousand ejections over forty clusters in a minute, budgets with them: one incident, two things said', () => {
    const scene = new Scene({}, fleetOf(40));
    const ejections = clusters(40).flatMap((cluster, i) =>
      Array.from({ length: 25 }, (_, host): Alert => {
        return alertOf('HostEjections', { cluster, host: `h${host}` } as Place, { since: (i * 25 + host) / 1000 });
      }),
    );
    for (let second = 10; second <= 60; second += 10) {
      const now = minuteOf(second * SECOND);
      const due = ejections.filter(({ since }) => since <= now && since > now - 10_000);
      const first = second === 10 ? ejections.filter(({ since }) => since === minuteOf(0)) : [];
      scene.at(second * SECOND, ...[...first, ...due].map((alert): Step => ['fired', alert]));
    }
    scene.at(61 * SECOND, ...clusters(5).map((cluster): Step => ['fired', pageOf({ cluster }, { since: 1 })]));
    assert.equal(scene.open.length, 1);
    assert.equal(scene.open[0]?.members.length, 1005);
    assert.equal(scene.notifications.filter(({ severity }) => severity === 'page').length, 1);
  });
});

describe('whatever the order', () => {
  const KINDS = ['CacheDown', 'HostEjections', 'UpstreamErrors', 'ErrorBudgetBurn'];
  const start = fc.record({
    cluster: fc.nat(7),
    kind: fc.constantFrom(...KINDS),
    page: fc.boolean(),
    tick: fc.nat(5),
    late: fc.nat(40),
    lasts: fc.integer({ min: 1, max: 60 }),
  });

  /** Each start once per kind and cluster, and its end; ticks of 10 s. */
  function play(moves: readonly (typeof start extends fc.Arbitrary<infer M> ? M : never)[], shuffle: boolean): Scene {
    const scene = new Scene({}, fleetOf(12));
    const seen = new Map(moves.map((move) => [`${move.kind} ${move.cluster}`, move]));
    const ticks = new Map<number, Step[]>();
    for (const { cluster, kind, page, tick, late, lasts } of seen.values()) {
      const since = tick / 6 - late * SECOND;
      const alert = alertOf(kind, { cluster: `s${cluster}` }, { severity: page ? 'page' : 'ticket', since });
      ticks.set(tick, [...(ticks.get(tick) ?? []), ['fired', alert]]);
      ticks.set(tick + lasts, [...(ticks.get(tick + lasts) ?? []), ['resolved', alert]]);
    }
    for (let tick = 0; tick <= 110; tick += 1) {
      const steps = ticks.get(tick) ?? [];
      scene.at(tick / 6, ...(shuffle ? [...steps].reverse() : steps));
    }
    return scene;
  }

  test('of a tick, the same comes of it, and every message is closed exactly once', () => {
    fc.assert(
      fc.property(fc.array(start, { maxLength: 32 }), (moves) => {
        const [one, other] = [play(moves, false), play(moves, true)];
        assert.deepEqual(other.said, one.said);
        assert.deepEqual(other.timeline, one.timeline);
        assert.deepEqual([...other.stored], [...one.stored]);
        assert.deepEqual(one.open, []);
        const lives = new Map<string, string[]>();
        for (const line of one.said) {
          const [life = '', reason = ''] = line.split(' ');
          lives.set(life, [...(lives.get(life) ?? []), reason]);
        }
        for (const [life, reasons] of lives) {
          const closing = reasons.filter((reason) => reason === 'resolved' || reason === 'merged');
          assert.equal(closing.length, 1, `${life}: ${reasons.join()}`);
          assert.equal(reasons.at(-1), closing[0], life);
        }
        const firing = [...one.stored.values()].flatMap(({ members }) =>
          members.filter(({ state }) => state === 'firing'),
        );
        assert.deepEqual(firing, []);
      }),
      { seed: 21, numRuns: 300 },
    );
  });
});

test('ten thousand alerts in one tick: one incident and one page where they are a storm, else one for each cluster', () => {
  const alerts = ['HostEjections', 'UpstreamErrors'].flatMap((kind) =>
    clusters(50).flatMap((cluster) =>
      Array.from({ length: 100 }, (_, host) => alertOf(kind, { cluster, host: `h${host}` }, { severity: 'page' })),
    ),
  );
  for (const [known, expected] of [
    [50, 1],
    [10_000, 50],
  ] as const) {
    const { incidents, notifications } = createCorrelator(SETTINGS).correlate(
      alerts.map((alert) => changeOf(['fired', alert], minuteOf(0))),
      minuteOf(0),
      { fleet: fleetOf(known), mutesOf: NOTHING_MUTED },
    );
    const members = incidents.reduce((sum, one) => sum + one.members.length, 0);
    assert.deepEqual([incidents.length, members, notifications.length], [expected, alerts.length, expected]);
  }
});
