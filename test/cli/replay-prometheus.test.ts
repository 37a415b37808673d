import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createFolder, type Folder, latencyRatio, sloText } from '../config/fixture.ts';
import { type Answer, runCommand } from '../support/command.ts';
import { type FakePrometheus, type FakeSeries, startFakePrometheus } from '../support/fake-prometheus.ts';
import { availabilitySlo, replayLines, type Series } from '../support/replay-file.ts';

const START = Date.UTC(2026, 2, 2);
const FROM = '2026-03-02T00:00:00Z';
/** Two days: more than one query's steps. */
const MINUTES = 2880;
const TO = '2026-03-04T00:00:00Z';

/** 600 requests a minute, 15 % errors in ten minutes of the second day. */
const isOutage = (minute: number): boolean => minute >= 1500 && minute < 1510;
const SERIES: readonly Series[] = [
  { cluster: 'checkout', responseClass: '2xx', perMinute: (minute) => (isOutage(minute) ? 510 : 600) },
  { cluster: 'checkout', responseClass: '5xx', perMinute: (minute) => (isOutage(minute) ? 90 : 0) },
];

/** The same as counters. They restart at minute 2000. */
const counters = (): readonly FakeSeries[] =>
  SERIES.map(({ cluster, responseClass, perMinute }) => {
    const totals = [0];
    for (let minute = 0; minute < MINUTES; minute += 1) {
      totals.push((minute === 2000 ? 0 : (totals[minute] ?? 0)) + perMinute(minute));
    }
    return {
      labels: {
        __name__: 'lb_requests_total',
        instance: 'edge-1:9000',
        job: 'edge',
        lb_side: 'downstream',
        lb_upstream_cluster: cluster,
        lb_response_class: responseClass,
      },
      valueAt: (seconds) => totals[(seconds * 1000 - START) / 60_000] ?? null,
    };
  });

/** Of 100 requests a minute, all within 0.5 s, half within 0.25 s from minute 60 on, before all. */
const buckets = (): readonly FakeSeries[] =>
  (['0.25', '0.5', '+Inf'] as const).map((le) => ({
    labels: { __name__: 'http_server_request_duration_seconds_bucket', instance: 'edge-1:9000', le },
    valueAt: (seconds) => {
      const minute = (seconds * 1000 - START) / 60_000;
      return le === '0.25' ? 100 * Math.min(60, minute) + 50 * Math.max(0, minute - 60) : 100 * minute;
    },
  }));

interface Alerts {
  readonly severity: string;
  readonly tier: string;
  readonly labels: object;
  readonly firedAt: string;
  readonly burningSince: string;
  readonly endedAt: string;
  readonly budgetSpentAtEnd: number;
}

describe('slowburn replay --prometheus', () => {
  let folder: Folder;
  let peer: FakePrometheus;
  beforeEach(async () => {
    folder = createFolder().write({ 'rules/slos/checkout.yaml': availabilitySlo('workbook') });
    peer = await startFakePrometheus([...counters(), ...buckets()]);
  });
  afterEach(async () => {
    folder.remove();
    await peer.close();
  });

  const replay = (...args: readonly string[]): Promise<Answer> =>
    runCommand(folder.root, ['replay', '--rules', 'rules', ...args]);

  const alertsOf = (stdout: string): readonly Alerts[] =>
    (JSON.parse(stdout) as { slos: { policies: { alerts: Alerts[] }[] }[] }).slos.flatMap(({ policies }) =>
      policies.flatMap(({ alerts }) => alerts),
    );

  test('a server and a file of the same traffic give the same alerts', async () => {
    const lines = replayLines({ startMs: START, minutes: MINUTES, pushEveryMs: 60_000, series: SERIES });
    folder.write({ 'history.jsonl': `${lines.join('\n')}\n` });
    const args = ['--summary', '--json', '--policy', 'workbook', '--policy', 'countdown'];
    const file = await replay(...args, 'history.jsonl');
    const server = await replay(...args, '--prometheus', `${peer.url}/`, '--from', FROM, '--to', TO);
    assert.deepEqual([server.code, server.stderr], [0, '']);
    const [expected, found] = [alertsOf(file.stdout), alertsOf(server.stdout)];
    assert.equal(found.length, 2);
    for (const [index, alert] of found.entries()) {
      const { budgetSpentAtEnd: spent, ...rest } = alert;
      const { budgetSpentAtEnd: wanted, ...other } = expected[index] as Alerts;
      assert.ok(Math.abs(spent - wanted) < wanted * 0.001, `${spent} ${wanted}`);
      const said = ({ severity, tier, labels, firedAt, burningSince, endedAt }: Omit<Alerts, 'budgetSpentAtEnd'>) => ({
        severity,
        tier,
        labels,
        firedAt,
        burningSince,
        endedAt,
      });
      assert.deepEqual(said(rest), said(other));
    }
    // No query asks for more than a server gives, and each asks once for the total and once for the bad.
    assert.deepEqual(
      peer.queries.map((query) => query.get('query')?.replace(/lb_side="downstream"/, '')),
      Array.from({ length: 3 }, () => ['lb_requests_total{, lb_response_class="5xx"}', 'lb_requests_total{}']).flat(),
    );
  });

  test('counts every event once over a restart, the edges of queries, and beside durations', async () => {
    folder.write({
      'rules/slos/a.yaml': sloText({ name: 'a', indicator: latencyRatio('0.25'), objectives: '[{ target: 0.9 }]' }),
    });
    const { stdout } = await replay('--prometheus', peer.url, '--from', FROM, '--to', TO);
    const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as {
      slo: { groups: { total: number; bad: number }[] };
    };
    assert.deepEqual(
      last.slo.groups.map(({ total, bad }) => [total, bad]),
      [[MINUTES * 600, 900]],
    );
  });

  test('reads of a histogram the bound that an SLO asks for, and calls all bad where there is none', async () => {
    folder.write({
      'latency/slos/a.yaml': sloText({ name: 'a', indicator: latencyRatio('0.25'), objectives: '[{ target: 0.9 }]' }),
      'other/slos/a.yaml': sloText({ name: 'a', indicator: latencyRatio('0.3'), objectives: '[{ target: 0.9 }]' }),
    });
    const counted = async (rules: string): Promise<readonly number[]> => {
      const times = ['--from', FROM, '--to', '2026-03-02T02:00:00Z'];
      const { stdout } = await replay('--rules', rules, '--prometheus', peer.url, ...times);
      const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as {
        slo: { groups: { total: number; bad: number }[] };
      };
      return last.slo.groups.flatMap(({ total, bad }) => [total, bad]);
    };
    assert.deepEqual(await counted('latency'), [12_000, 3000]);
    assert.deepEqual(await counted('other'), [12_000, 12_000]);
  });

  test('asks again when the server has closed a connection that idled', async () => {
    peer.dropNext();
    const times = ['--from', FROM, '--to', '2026-03-02T02:00:00Z'];
    const { code, stderr } = await replay('--prometheus', peer.url, ...times);
    assert.deepEqual([code, stderr, peer.dropped()], [0, '', 1]);
  });

  test('says which metric the server does not have', async () => {
    const { code, stderr } = await replay(
      '--prometheus',
      peer.url,
      '--from',
      '2027-01-01T00:00:00Z',
      '--to',
      '2027-01-01T01:00:00Z',
    );
    assert.equal(code, 1);
    assert.match(stderr, /no series of lb_requests_total\{lb_side="downstream"\} in this time/);
  });

  test('refuses what does not go together, and says what a server answered', async () => {
    const times = ['--from', FROM, '--to', TO];
    for (const args of [
      [],
      ['--prometheus', peer.url],
      ['--prometheus', peer.url, '--from', TO, '--to', FROM],
      ['--prometheus', peer.url, ...times, 'history.jsonl'],
      ['--prometheus', 'ftp://x', ...times],
      ['--prometheus', peer.url, ...times, '--step', 'often'],
    ]) {
      assert.equal((await replay(...args)).code, 2, args.join(' '));
    }
    const wrong = await replay('--prometheus', `${peer.url}/prom`, ...times);
    assert.deepEqual([wrong.code, /answers 400: exceeded maximum/.test(wrong.stderr)], [3, true]);
    const { url } = peer;
    await peer.close();
    const gone = await replay('--prometheus', url, ...times);
    assert.deepEqual([gone.code, /does not answer/.test(gone.stderr)], [3, true]);
    peer = await startFakePrometheus([]);
  });
});
