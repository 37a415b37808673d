import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { epochMs, HOUR, MINUTE, ms } from '../../src/base/units.ts';
import { callText, readHookAnswer } from '../../src/hook/message.ts';
import { type Pool, planHooks, type Situation } from '../../src/hook/plan.ts';
import type { Alert } from '../../src/model/alert.ts';
import type { CaptureHook, HookCall, RemediateHook } from '../../src/model/hook.ts';
import type { Incident } from '../../src/model/incident.ts';
import type { Mute } from '../../src/model/mute.ts';
import { alertOf, T0 } from '../support/alerts.ts';

const CAPTURE: CaptureHook = {
  kind: 'capture',
  name: 'tail',
  url: 'http://127.0.0.1:9/',
  secret: null,
  alerts: ['StageTailShift'],
  what: 'packets',
  balancers: [],
  maxBalancers: 2,
  maxDuration: ms(30_000),
  maxBytes: 1000,
  every: HOUR,
  maxPerHour: 2,
};
const REPLACE: RemediateHook = {
  kind: 'remediate',
  name: 'replace',
  url: 'http://127.0.0.1:9/',
  secret: null,
  alerts: ['FastFailSinkhole'],
  perHost: HOUR,
  poolShare: 0.1,
  notWhile: ['HealthCheckCascade'],
};
const balancer = (id: string, clusters: readonly string[], stale = false) => ({
  id,
  zone: null,
  region: null,
  clusters,
  stale,
});
const incidentOf = (id: number, ...alerts: readonly Alert[]): Incident =>
  ({
    id,
    episode: 1,
    seq: 1,
    state: 'open',
    members: alerts.map((alert) => ({ alert, state: 'firing', joinedAt: alert.since, resolvedAt: null, reason: '' })),
  }) as unknown as Incident;
const at = (minute: number) => epochMs(T0 + minute * MINUTE);
const poolOf = (size: number | null, ...hosts: readonly string[]): Pool => ({ size, hosts: new Set(hosts) });

function situation(minute: number, incidents: readonly Incident[], over: Partial<Situation> = {}): Situation {
  return {
    now: at(minute),
    incidents,
    firing: incidents.flatMap(({ members }) => members.map(({ alert }) => alert)),
    mutesOf: () => [],
    balancers: () => [
      balancer('c', ['shop']),
      balancer('a', ['shop']),
      balancer('b', ['shop'], true),
      balancer('d', ['x']),
    ],
    pools: () => new Map([['shop', poolOf(20, 'h1', 'h2', 'h3')]]),
    calls: [],
    ...over,
  };
}

const said = (calls: readonly HookCall[]): readonly (string | null)[] =>
  calls.map(({ state, refusal }) => refusal ?? state);
const tail = (since = 0, cluster = 'shop'): Alert => alertOf('StageTailShift', { cluster }, { since });
const sink = (host: string, since = 0, cluster = 'shop'): Alert =>
  alertOf('FastFailSinkhole', { cluster, host }, { since });

describe('capture', () => {
  test('asks balancers of the cluster that are heard, at most as many as allowed', () => {
    const [call] = planHooks([CAPTURE], situation(0, [incidentOf(1, tail())]));
    assert.deepEqual([call?.state, call?.balancers], ['calling', ['a', 'c']]);
    const named = { ...CAPTURE, balancers: ['d', 'b'] };
    assert.deepEqual(planHooks([named], situation(0, [incidentOf(1, tail())]))[0]?.balancers, ['d']);
    assert.deepEqual(said(planHooks([CAPTURE], situation(0, [incidentOf(1, tail(0, 'none'))]))), ['no_balancer']);
  });

  test('is made once for an alert, and at most so often for an incident and in all', () => {
    const first = planHooks([CAPTURE], situation(0, [incidentOf(1, tail())]));
    const calls = first.map((call): HookCall => ({ ...call, state: 'done' }));
    assert.deepEqual(planHooks([CAPTURE], situation(70, [incidentOf(1, tail())], { calls })), []);
    const again = situation(5, [incidentOf(1, tail(4))], { calls });
    const refused = planHooks([CAPTURE], again);
    assert.deepEqual(said(refused), ['asked_lately']);
    assert.deepEqual(planHooks([CAPTURE], { ...again, calls: [...calls, ...refused] }), []);
    assert.deepEqual(said(planHooks([CAPTURE], situation(61, [incidentOf(1, tail(61))], { calls }))), ['calling']);
    const many = [1, 2, 3].map((id) => incidentOf(id, tail(id)));
    assert.deepEqual(said(planHooks([CAPTURE], situation(9, many))), ['calling', 'calling', 'too_many_captures']);
  });

  test('that failed is asked for twice more, a minute apart; one whose answer nobody knows is not', () => {
    let calls: readonly HookCall[] = [];
    let made = 0;
    for (let minute = 0; minute < 10; minute += 0.5) {
      const planned = planHooks(
        [{ ...CAPTURE, maxPerHour: 60 }],
        situation(minute, [incidentOf(1, tail())], { calls }),
      );
      made += planned.length;
      calls = [...calls, ...planned.map((call): HookCall => ({ ...call, state: 'failed' }))];
    }
    assert.equal(made, 3);
    const unknown = planHooks([CAPTURE], situation(0, [incidentOf(1, tail())])).map(
      (call): HookCall => ({ ...call, state: 'unknown' }),
    );
    assert.deepEqual(planHooks([CAPTURE], situation(5, [incidentOf(1, tail())], { calls: unknown })), []);
  });

  test('is not made for what is over, or is no incident yet', () => {
    const open = incidentOf(1, tail());
    for (const incident of [
      { ...open, state: 'resolved' as const },
      { ...open, seq: 0 },
    ]) {
      assert.deepEqual(planHooks([CAPTURE], situation(0, [incident])), []);
    }
  });
});

describe('remediate', () => {
  const plan = (minute: number, alerts: readonly Alert[], over: Partial<Situation> = {}) =>
    planHooks([REPLACE], situation(minute, [incidentOf(1, ...alerts)], over));

  test('replaces a host once an hour, and goes no further than a tenth of its pool', () => {
    const calls = plan(0, [sink('h1'), sink('h2', 1), sink('h3', 2)]);
    assert.deepEqual(
      calls.map(({ host, state, refusal }) => [host, refusal ?? state]),
      [
        ['h1', 'calling'],
        ['h2', 'calling'],
        ['h3', 'pool_bound'],
      ],
    );
    assert.match(calls[2]?.reason ?? '', /10 % of the 20 hosts of shop are 2, and 2 went in the last 1h/);
    assert.deepEqual(plan(59, [sink('h1')], { calls }), []);
    assert.deepEqual(said(plan(59, [sink('h1', 58)], { calls })), ['host_bound']);
    assert.deepEqual(said(plan(60, [sink('h1', 58)], { calls })), ['calling']);
  });

  test('a call that nobody answered counts like any other', () => {
    for (const state of ['calling', 'done', 'failed', 'unknown'] as const) {
      const calls = plan(0, [sink('h1'), sink('h2')]).map((call): HookCall => ({ ...call, state }));
      assert.deepEqual(
        said(plan(30, [sink('h1', 20), sink('h3', 20)], { calls })),
        ['host_bound', 'pool_bound'],
        state,
      );
    }
  });

  test('is refused with its reason where a bound is broken or not known', () => {
    const pools = (pool: Pool) => ({ pools: () => new Map([['shop', pool]]) });
    assert.deepEqual(said(plan(0, [sink('h1')], pools(poolOf(9, 'h1')))), ['pool_bound']);
    assert.match(plan(0, [sink('h1')], pools(poolOf(9)))[0]?.reason ?? '', /10 % of the 9 hosts of shop is none/);
    assert.deepEqual(said(plan(0, [sink('h1')], pools(poolOf(null)))), ['pool_unknown']);
    assert.deepEqual(said(plan(0, [sink('h1')], { pools: () => new Map() })), ['pool_unknown']);
    assert.deepEqual(said(plan(0, [alertOf('FastFailSinkhole', { cluster: 'shop' })])), ['no_host']);
    const foreign: Alert = { ...sink('h1'), foreign: { link: null } };
    assert.deepEqual(said(plan(0, [foreign])), ['foreign']);
    const mute: Mute = { kind: 'silence', id: 's', by: 'ada', comment: 'kernel update', until: at(60) } as Mute;
    assert.deepEqual(said(plan(0, [sink('h1')], { mutesOf: () => [mute] })), ['muted']);
    const cascade = alertOf('HealthCheckCascade', {});
    assert.deepEqual(said(plan(0, [sink('h1')], { firing: [cascade] })), ['not_while']);
    const elsewhere = alertOf('HealthCheckCascade', { cluster: 'x' });
    assert.deepEqual(said(plan(0, [sink('h1')], { firing: [elsewhere] })), ['calling']);
  });

  test('a host of two pools is bounded by both', () => {
    const pools = () =>
      new Map([
        ['shop', poolOf(20, 'h1', 'h2')],
        ['pay', poolOf(10, 'h1', 'h2')],
      ]);
    const calls = plan(0, [sink('h1'), sink('h2', 1)], { pools });
    assert.deepEqual(said(calls), ['calling', 'pool_bound']);
    assert.deepEqual(calls[0]?.clusters, ['shop', 'pay']);
  });

  test('a refusal is said once, and again where the reason is another', () => {
    const refused = plan(0, [sink('h1')], { pools: () => new Map() });
    assert.deepEqual(plan(1, [sink('h1')], { calls: refused, pools: () => new Map() }), []);
    assert.deepEqual(said(plan(2, [sink('h1')], { calls: refused, firing: [alertOf('HealthCheckCascade', {})] })), [
      'not_while',
    ]);
    assert.deepEqual(said(plan(3, [sink('h1')], { calls: refused })), ['calling']);
  });
});

test('an answer gives a link only where it is one, and a note', () => {
  assert.deepEqual(readHookAnswer('{"link":"https://x/1","note":"soon"}'), { link: 'https://x/1', note: 'soon' });
  for (const text of [
    '',
    'ok',
    '[]',
    'null',
    '{"link":"javascript:alert(1)"}',
    '{"link":"https://x/ y"}',
    '{"link":7}',
    '{"link":"https://x\\"><b>"}',
  ]) {
    assert.equal(readHookAnswer(text).link, null, text);
  }
  const [call] = planHooks([CAPTURE], situation(0, [incidentOf(1, tail())]));
  assert.ok(call !== undefined);
  assert.equal(callText(call), 'capture tail called: packets of a, c');
});
