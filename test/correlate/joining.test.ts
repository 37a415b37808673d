import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ms } from '../../src/base/units.ts';
import { causesOf, commonCause, isKnownKind } from '../../src/correlate/causes.ts';
import { relationOf } from '../../src/correlate/relation.ts';
import type { CauseEdge, Scope } from '../../src/correlate/settings.ts';
import { type Alert, alertKey } from '../../src/model/alert.ts';
import type { IncidentMember } from '../../src/model/incident.ts';
import { labelsOf } from '../../src/model/labels.ts';
import { alertOf, MINUTE, SETTINGS } from '../support/alerts.ts';
import { CHECKOUT, minuteOf, pageOf, Scene } from './scene.ts';

const edge = (cause: string, effect: string, scope: Scope = 'cluster', within = 10): CauseEdge => ({
  cause,
  effect,
  scope,
  within: ms(within * MINUTE),
});
const memberOf = (alert: Alert, endedAtMinute: number | null = null): IncidentMember => ({
  alert,
  state: endedAtMinute === null ? 'firing' : 'resolved',
  joinedAt: alert.since,
  resolvedAt: endedAtMinute === null ? null : minuteOf(endedAtMinute),
  reason: 'first alert',
});
const relate = (alert: Alert, member: IncidentMember, causes = SETTINGS.causes): string | null =>
  relationOf(alert, member, { ...SETTINGS, causes })?.reason ?? null;

const [A, B] = [{ name: 'A' }, { name: 'B' }];

describe('the cause graph', () => {
  test('follows causes through others, and ends on a circle', () => {
    const edges = [edge('A', 'B'), edge('B', 'C'), edge('C', 'A')];
    assert.deepEqual([...causesOf('C', edges)].sort(), ['A', 'B', 'C']);
    assert.deepEqual([...causesOf('C', edges.slice(0, 2))].sort(), ['A', 'B']);
    assert.deepEqual([isKnownKind('A', edges), isKnownKind('D', edges)], [true, false]);
  });

  test('a common cause does not depend on the order of the lines', () => {
    const edges = [edge('X', 'A', 'cluster', 2), edge('X', 'B', 'cluster', 3), edge('Y', 'A'), edge('Y', 'B')];
    assert.equal(commonCause(A, B, edges)?.cause, 'Y');
    assert.equal(commonCause(A, B, [...edges].reverse())?.cause, 'Y');
    assert.equal(commonCause(A, B, edges.slice(0, 2))?.within, 2 * MINUTE);
    assert.equal(commonCause(A, A, edges), null);
  });
});

describe('why an alert joins', () => {
  const burn = (since: number, place: object = CHECKOUT): Alert => pageOf(place, { since });
  const ejections = alertOf('HostEjections', CHECKOUT);

  test('a cause edge holds in both directions and up to its window, counted from the end of the other', () => {
    const errors = alertOf('UpstreamErrors', CHECKOUT, { since: 11 });
    assert.equal(
      relate(errors, memberOf(ejections, 1)),
      'HostEjections explains UpstreamErrors in cluster checkout, 10 min apart',
    );
    assert.equal(relate(alertOf('UpstreamErrors', CHECKOUT, { since: 12 }), memberOf(ejections, 1)), null);
    assert.match(relate(errors, memberOf(burn(0))) ?? '', /^UpstreamErrors explains ErrorBudgetBurn/);
    assert.match(relate(burn(0), memberOf(ejections)) ?? '', /^HostEjections explains ErrorBudgetBurn/);
    assert.match(relate(errors, memberOf(ejections)) ?? '', /at the same time$/);
  });

  test('a start before that of the member is measured to its start', () => {
    const early = alertOf('HostEjections', CHECKOUT, { since: -0.5 });
    assert.match(relate(early, memberOf(burn(0))) ?? '', /, 30 s apart$/);
    assert.equal(relate(alertOf('HostEjections', CHECKOUT, { since: -11 }), memberOf(burn(0))), null);
  });

  test('each scope asks for its own place, and the fleet for none', () => {
    const pair = (scope: Scope, a: object, b: object): boolean =>
      relate(alertOf('A', a), memberOf(alertOf('B', b)), [edge('A', 'B', scope)]) !== null;
    assert.ok(pair('zone', { zone: 'a', cluster: 'x' }, { zone: 'a', cluster: 'y' }));
    assert.ok(!pair('zone', { zone: 'a', cluster: 'x' }, { zone: 'b', cluster: 'x' }));
    assert.ok(pair('balancer', { balancer: 'lb1' }, { balancer: 'lb1' }));
    assert.ok(!pair('cluster', {}, {}), 'two unknown places are not the same place');
    assert.ok(pair('all', { cluster: 'x' }, { cluster: 'y' }));
  });

  test('two effects of one cause join in a cluster, not across', () => {
    const causes = [edge('L4Rehash', 'Resets'), edge('L4Rehash', 'Handshakes')];
    const resets = alertOf('Resets', CHECKOUT);
    assert.equal(
      relate(resets, memberOf(alertOf('Handshakes', CHECKOUT)), causes),
      'L4Rehash would explain both Resets and Handshakes in cluster checkout, at the same time',
    );
    assert.equal(relate(resets, memberOf(alertOf('Handshakes', { cluster: 'search' })), causes), null);
  });

  test('two kinds that the graph knows but does not link stay apart in one cluster', () => {
    const causes = [edge('A', 'B'), edge('C', 'D')];
    assert.equal(relate(alertOf('A', CHECKOUT), memberOf(alertOf('D', CHECKOUT)), causes), null);
    assert.match(relate(alertOf('E', CHECKOUT), memberOf(alertOf('D', CHECKOUT)), causes) ?? '', /^same cluster/);
  });

  test('an unknown kind has 5 min, not more', () => {
    const ended = memberOf(burn(0), 1);
    assert.notEqual(relate(alertOf('DiskFull', CHECKOUT, { since: 6 }), ended), null);
    assert.equal(relate(alertOf('DiskFull', CHECKOUT, { since: 6.1 }), ended), null);
  });

  test('burns of one cluster, or of one service without clusters, join; burns of nothing known do not', () => {
    assert.notEqual(relate(burn(2, { cluster: 'checkout', zone: 'b' }), memberOf(burn(0))), null);
    assert.notEqual(relate(burn(2, { listener: 'b' }), memberOf(burn(0, { listener: 'a' }))), null);
    assert.equal(relate(burn(2, { cluster: 'search' }), memberOf(burn(0))), null);
    const foreign = (slo: string): Alert => alertOf('ErrorBudgetBurn', { listener: slo });
    assert.equal(relate(foreign('a'), memberOf(foreign('b'))), null);
  });
});

describe('where an alert goes', () => {
  test('the oldest of several incidents that fit', () => {
    const causes = [edge('ConfigPush', 'ErrorBudgetBurn', 'all')];
    const scene = new Scene({ causes }).at(0, ['fired', pageOf()]).at(1, ['fired', pageOf({ cluster: 'search' })]);
    scene.at(2, ['fired', alertOf('ConfigPush', {}, { since: 2 })]);
    assert.deepEqual(
      scene.open.map(({ members }) => members.length),
      [2, 1],
    );
    assert.equal(
      scene.open[0]?.members[1]?.reason,
      'ConfigPush explains ErrorBudgetBurn in the fleet, at the same time',
    );
  });

  test('the same key joins whatever its severity says, and once', () => {
    const scene = new Scene().at(0, ['fired', pageOf()]).at(60, ['fired', pageOf(CHECKOUT, { severity: 'ticket' })]);
    assert.equal(scene.open[0]?.members.length, 1);
    assert.equal(scene.open.length, 1);
  });

  test('a ticket that comes back a day long joins the open incident that explains it', () => {
    const ejections = alertOf('HostEjections', CHECKOUT);
    const scene = new Scene().at(0, ['fired', ejections]).at(1, ['resolved', ejections]).ticks(2, 7);
    scene.at(600, ['fired', pageOf(CHECKOUT, { since: 600 })]);
    const again = alertOf('HostEjections', CHECKOUT, { since: 601 });
    scene.at(601, ['fired', again]);
    assert.deepEqual(
      scene.open.map(({ id, members }) => [id, members.length]),
      [[2, 2]],
    );
    scene.at(620, ['resolved', again], ['resolved', pageOf(CHECKOUT, { since: 600 })]).ticks(621, 630);
    assert.deepEqual(scene.said, ['1/1 opened', '1/1 resolved', '2/1 opened', '2/1 resolved']);
  });

  test('an alert that is also in a newer, resolved incident ends where it fires', () => {
    const disk = (since: number): Alert => alertOf('DiskFull', CHECKOUT, { since });
    const scene = new Scene({ resolveHold: ms(60 * MINUTE) }).at(0, ['fired', pageOf()]).at(1, ['resolved', pageOf()]);
    scene.at(20, ['fired', disk(20)]).at(21, ['resolved', disk(20)]);
    scene.act(22, { kind: 'resolve', by: 'ada', note: null }, 2);
    scene.at(30, ['fired', pageOf(CHECKOUT, { since: 30 })]).at(31, ['fired', disk(31)]);
    const state = (): string | undefined => scene.open[0]?.members[1]?.state;
    assert.deepEqual([scene.open.map(({ id }) => id), state()], [[1], 'firing']);
    scene.at(32, ['resolved', disk(31)]);
    assert.equal(state(), 'resolved');
  });
});

describe('an alert about the whole fleet', () => {
  const causes = [edge('HealthCheckCascade', 'ErrorBudgetBurn'), edge('HealthCheckCascade', 'EjectionCapReached')];
  const labels = labelsOf([['scope', 'fleet']]);
  const fleet: Alert = {
    ...alertOf('HealthCheckCascade', {}, { severity: 'page' }),
    labels,
    key: alertKey('HealthCheckCascade', labels),
  };

  test('explains its effects in every cluster, and pages once for all', () => {
    const scene = new Scene({ causes });
    scene.at(0, ['fired', fleet]);
    scene.at(1, ['fired', pageOf({ cluster: 'a' }, { since: 1 })], ['fired', pageOf({ cluster: 'b' }, { since: 1 })]);
    scene.at(2, ['fired', alertOf('EjectionCapReached', { cluster: 'c' }, { severity: 'page', since: 2 })]);
    assert.equal(scene.correlator.incidents().length, 1);
    assert.equal(scene.correlator.incidents()[0]?.lead, fleet.key);
    assert.deepEqual(
      scene.notifications.map(({ reason }) => reason),
      ['opened'],
    );
  });

  test('takes up what its effects had begun in one cluster', () => {
    const scene = new Scene({ causes });
    scene.at(0, ['fired', pageOf({ cluster: 'a' })]);
    scene.at(1, ['fired', { ...fleet, since: minuteOf(1) }]);
    assert.equal(scene.correlator.incidents().length, 1);
    assert.deepEqual(
      scene.notifications.map(({ reason }) => reason),
      ['opened', 'new_failure_domain'],
    );
  });

  test('explains nothing in clusters that it is not about, until it is about them too', () => {
    const named: Alert = { ...fleet, clusters: ['a', 'b'] };
    const scene = new Scene({ causes }).at(0, ['fired', named]);
    scene.at(1, ['fired', pageOf({ cluster: 'b' }, { since: 1 })], ['fired', pageOf({ cluster: 'c' }, { since: 1 })]);
    assert.deepEqual(
      scene.correlator.incidents().map(({ members }) => members.map(({ alert }) => alert.place.cluster)),
      [[undefined, 'b'], ['c']],
    );
    scene.at(2, ['updated', { ...named, clusters: ['a', 'b', 'd'] }]);
    scene.at(3, ['fired', pageOf({ cluster: 'd' }, { since: 3 })]);
    assert.deepEqual(
      scene.correlator.incidents().map(({ members }) => members.length),
      [3, 1],
    );
  });

  test('joins its own kind in one cluster, and nothing that it does not explain', () => {
    const scene = new Scene({ causes });
    scene.at(0, ['fired', fleet]);
    scene.at(1, ['fired', alertOf('HealthCheckCascade', { cluster: 'a' }, { since: 1 })]);
    scene.at(1, ['fired', alertOf('Unknown', { cluster: 'b' }, { since: 1 })]);
    assert.deepEqual(
      scene.correlator.incidents().map(({ members }) => members.map(({ alert }) => alert.name)),
      [['HealthCheckCascade', 'HealthCheckCascade'], ['Unknown']],
    );
  });
});

describe('what lies nearer explains better', () => {
  const causes = [
    edge('HandshakeStorm', 'ErrorBudgetBurn', 'all'),
    edge('FastFailSinkhole', 'ErrorBudgetBurn', 'cluster'),
    edge('FastFailSinkhole', 'HostOutlier', 'host'),
  ];
  const storm = (since: number): Alert => alertOf('HandshakeStorm', {}, { since });
  const sinkhole = (since: number): Alert => alertOf('FastFailSinkhole', { ...CHECKOUT, host: 'h7' }, { since });
  const membersOf = (scene: Scene): string[][] =>
    scene.open.map(({ members }) => members.map(({ alert }) => alert.name));

  test('a burn joins the bad host of its cluster, not the older storm at the edge', () => {
    const scene = new Scene({ causes }).at(0, ['fired', storm(0)]).at(1, ['fired', sinkhole(1)]);
    scene.at(2, ['fired', pageOf(CHECKOUT, { since: 2 })]);
    assert.deepEqual(membersOf(scene), [['HandshakeStorm'], ['FastFailSinkhole', 'ErrorBudgetBurn']]);
  });

  test('a storm does not draw in a burn that its own host explains, and takes up one that nothing does', () => {
    const scene = new Scene({ causes }).at(0, ['fired', sinkhole(0)]).at(1, ['fired', pageOf(CHECKOUT, { since: 1 })]);
    scene.at(2, ['fired', storm(2)]);
    assert.deepEqual(membersOf(scene), [['FastFailSinkhole', 'ErrorBudgetBurn'], ['HandshakeStorm']]);
    const alone = new Scene({ causes }).at(1, ['fired', pageOf(CHECKOUT, { since: 1 })]).at(2, ['fired', storm(2)]);
    assert.deepEqual(membersOf(alone), [['ErrorBudgetBurn', 'HandshakeStorm']]);
  });

  test('what a cause of everything explains already is no reason for another of the kind', () => {
    const two = [edge('HandshakeStorm', 'ErrorBudgetBurn', 'all'), edge('HealthCheckCascade', 'ErrorBudgetBurn')];
    const labels = labelsOf([['scope', 'fleet']]);
    const cascade: Alert = {
      ...alertOf('HealthCheckCascade', {}, { since: 2 }),
      labels,
      key: alertKey('HealthCheckCascade', labels),
      clusters: ['search'],
    };
    const edgeBurn = pageOf({ service: 'edge' }, { since: 1 });
    const scene = new Scene({ causes: two }).at(0, ['fired', storm(0)]).at(1, ['fired', edgeBurn]);
    scene.at(2, ['fired', cascade]);
    assert.deepEqual(membersOf(scene), [['HandshakeStorm', 'ErrorBudgetBurn'], ['HealthCheckCascade']]);
    const alone = new Scene({ causes: two }).at(1, ['fired', edgeBurn]).at(2, ['fired', cascade]);
    assert.deepEqual(membersOf(alone), [['ErrorBudgetBurn', 'HealthCheckCascade']]);
  });

  test('a storm does not explain what burned long before it; a host of the cluster may have been found late', () => {
    const scene = new Scene({ causes }).at(0, ['fired', pageOf()]).at(11, ['fired', storm(11)]);
    assert.deepEqual(membersOf(scene), [['ErrorBudgetBurn'], ['HandshakeStorm']]);
    scene.at(12, ['fired', sinkhole(12)]);
    assert.deepEqual(membersOf(scene), [['ErrorBudgetBurn', 'FastFailSinkhole'], ['HandshakeStorm']]);
  });

  test('of two edges between the same kinds the nearer one counts, in any order of the lines', () => {
    const both = [edge('X', 'Y', 'all'), edge('X', 'Y', 'cluster')];
    for (const lines of [both, [...both].reverse()]) {
      const relation = relationOf(alertOf('Y', CHECKOUT), memberOf(alertOf('X', CHECKOUT)), {
        ...SETTINGS,
        causes: lines,
      });
      assert.match(relation?.reason ?? '', /in cluster checkout/);
    }
  });
});

describe('what befalls everything explains what sets in while it lasts', () => {
  const causes = [edge('HandshakeStorm', 'ErrorBudgetBurn', 'all')];
  const storm = (since: number, fields: Partial<Alert> = {}): Alert => ({
    ...alertOf('HandshakeStorm', {}, { since }),
    ...fields,
  });
  const burning = (since: number, began: number): Alert => ({ ...pageOf(CHECKOUT, { since }), began: minuteOf(began) });

  test('not what set in once it was over, though it is near', () => {
    const over = memberOf(storm(0), 5);
    assert.notEqual(relate(burning(7, 4), over, causes), null);
    assert.equal(relate(burning(7, 6), over, causes), null);
    const near = [edge('FastFailSinkhole', 'ErrorBudgetBurn')];
    assert.notEqual(relate(burning(7, 6), memberOf(alertOf('FastFailSinkhole', CHECKOUT), 5), near), null);
  });

  test('not what came more than two minutes before it, reckoned from when it began', () => {
    assert.notEqual(relate(storm(2), memberOf(burning(0, 0)), causes), null);
    assert.equal(relate(storm(2.1), memberOf(burning(0, 0)), causes), null);
    assert.notEqual(relate(storm(5, { began: minuteOf(1) }), memberOf(burning(0, 0)), causes), null);
  });
});

describe('an edge of the graph that has a side', () => {
  const causes: readonly CauseEdge[] = [
    { ...edge('HandshakeStorm', 'ErrorBudgetBurn', 'all'), side: 'downstream' },
    { ...edge('HandshakeStorm', 'StageTailShift', 'all') },
  ];
  const storm = alertOf('HandshakeStorm', {});
  const burnAt = (side: Partial<Pick<Alert, 'side'>>): Alert => ({ ...pageOf(CHECKOUT), ...side });

  test('leads to what is measured there or nobody knows where, in either order', () => {
    for (const side of [{ side: 'downstream' as const }, {}]) {
      assert.notEqual(relate(burnAt(side), memberOf(storm), causes), null);
      assert.notEqual(relate(storm, memberOf(burnAt(side)), causes), null);
    }
    assert.equal(relate(burnAt({ side: 'upstream' }), memberOf(storm), causes), null);
    assert.equal(relate(storm, memberOf(burnAt({ side: 'upstream' })), causes), null);
  });

  test('or leads to one kind of loss', () => {
    const pushes = [{ ...edge('ConfigPush', 'ErrorBudgetBurn', 'all'), of: 'errors' as const }];
    const burn = pageOf(CHECKOUT);
    const slow: Alert = { ...burn, burn: burn.burn === null ? null : { ...burn.burn, slowerThan: ms(250) } };
    const push = memberOf(alertOf('ConfigPush', {}));
    assert.notEqual(relate(burn, push, pushes), null);
    assert.equal(relate(slow, push, pushes), null);
    assert.notEqual(relate(slow, push, [{ ...edge('ConfigPush', 'ErrorBudgetBurn', 'all'), of: 'latency' }]), null);
  });

  test('makes no common cause of what it does not lead to', () => {
    const shift = alertOf('StageTailShift', CHECKOUT);
    assert.notEqual(relate(shift, memberOf(burnAt({ side: 'downstream' })), causes), null);
    assert.equal(relate(shift, memberOf(burnAt({ side: 'upstream' })), causes), null);
  });
});
