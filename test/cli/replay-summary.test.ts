import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createFolder, type Folder, sloText } from '../config/fixture.ts';
import { type Answer, runCommand } from '../support/command.ts';
import { availabilitySlo, replayLines, type Series } from '../support/replay-file.ts';

const START = Date.UTC(2026, 2, 2);

/** 600 requests a minute: 60 clean minutes, 10 minutes with 15 % errors, 30 clean ones. */
const isOutage = (minute: number): boolean => minute >= 60 && minute < 70;
const SERIES: readonly Series[] = [
  { cluster: 'checkout', responseClass: '2xx', perMinute: (minute) => (isOutage(minute) ? 510 : 600) },
  { cluster: 'checkout', responseClass: '5xx', perMinute: (minute) => (isOutage(minute) ? 90 : 0) },
];

interface PolicyOut {
  readonly policy: string;
  readonly own: boolean;
  readonly unusable: string | null;
  readonly pages: number;
  readonly tickets: number;
  readonly alerts: readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly severity: string;
    readonly tier: string;
    readonly burningSince: string;
    readonly firedAt: string;
    readonly minute: number;
    readonly budgetSpentAtFire: number;
    readonly budgetSpentAtEnd: number;
    readonly endedAt: string | null;
    readonly seconds: number;
  }[];
}

interface SummaryOut {
  readonly from: string;
  readonly until: string;
  readonly pagesSent: Readonly<Record<string, number>>;
  readonly slos: readonly { readonly id: string; readonly policy: string; readonly policies: readonly PolicyOut[] }[];
}

describe('slowburn replay --summary', () => {
  let folder: Folder;
  beforeEach(() => {
    const lines = replayLines({ startMs: START, minutes: 100, pushEveryMs: 10_000, series: SERIES });
    folder = createFolder().write({
      'rules/slos/checkout.yaml': availabilitySlo('workbook'),
      'history.jsonl': `${lines.join('\n')}\n`,
    });
  });
  afterEach(() => folder.remove());

  const replay = (...args: readonly string[]): Promise<Answer> =>
    runCommand(folder.root, ['replay', '--rules', 'rules', ...args]);

  const json = async (...args: readonly string[]): Promise<SummaryOut> =>
    JSON.parse((await replay('--summary', '--json', ...args)).stdout) as SummaryOut;

  test('prints per SLO what each policy would have done, the same twice', async () => {
    const first = await replay('--summary', 'history.jsonl');
    assert.deepEqual(first, await replay('--summary', 'history.jsonl'));
    assert.deepEqual([first.code, first.stderr], [0, '']);
    assert.equal(
      first.stdout,
      `replayed 2026-03-02 00:00:10Z to 2026-03-02 01:40:00Z

checkout-availability: 99.9 % over 30d per lb.upstream.cluster
  policy      pages  tickets  first     at                    minute  spent at fire  spent at end  longest
  workbook *  1      0        page 50h  2026-03-02 01:05:50Z  6       2.0 %          3.5 %         9 min
  countdown   1      0        page 6h   2026-03-02 01:04:30Z  4.5     1.6 %          3.5 %         10 min
  * its own policy
  workbook would have paged
    2026-03-02 01:05:50Z for checkout, at minute 6, 2.0 % spent, tier 50h; over after 9 min, 3.5 % spent
  countdown would have paged
    2026-03-02 01:04:30Z for checkout, at minute 4.5, 1.6 % spent, tier 6h; over after 10 min, 3.5 % spent
  budget at the end: 97 % left for checkout, the worst

pages sent, alerts of one incident being one: workbook 1, countdown 1
`,
    );
  });

  test('gives the same as JSON, with figures that the history explains', async () => {
    const { from, until, slos, pagesSent } = await json('history.jsonl');
    assert.deepEqual([from, until], ['2026-03-02T00:00:10.000Z', '2026-03-02T01:40:00.000Z']);
    assert.deepEqual(pagesSent, { workbook: 1, countdown: 1 });
    const [slo] = slos;
    assert.deepEqual([slo?.id, slo?.policy, slos.length], ['checkout-availability', 'workbook', 1]);
    assert.deepEqual(
      slo?.policies.map(({ policy, own, pages, tickets }) => ({ policy, own, pages, tickets })),
      [
        { policy: 'workbook', own: true, pages: 1, tickets: 0 },
        { policy: 'countdown', own: false, pages: 1, tickets: 0 },
      ],
    );
    for (const { policy, alerts } of slo?.policies ?? []) {
      const [alert] = alerts;
      assert.ok(alert !== undefined, policy);
      assert.deepEqual(alert.labels, { 'lb.upstream.cluster': 'checkout' });
      // To a minute, a sixtieth of what the tier looks back.
      const early = START + 60 * 60_000 - Date.parse(alert.burningSince);
      assert.ok(early >= 0 && early < 60_000, `${policy}: ${alert.burningSince}`);
      assert.equal(alert.minute, (Date.parse(alert.firedAt) - Date.parse(alert.burningSince)) / 60_000);
      // 15 % errors against 0.1 %: m minutes are 90 m bad ones of 600 requests a minute over 30 days, clean before.
      const minutes = alert.minute - early / 60_000;
      const wanted = (90 * minutes) / (0.001 * 600 * 60 * 24 * 30);
      assert.ok(Math.abs(alert.budgetSpentAtFire - wanted) < 5e-4, `${policy}: ${alert.budgetSpentAtFire}, ${wanted}`);
      const all = 900 / (0.001 * 600 * 60 * 24 * 30);
      assert.ok(Math.abs(alert.budgetSpentAtEnd - all) < 1e-9, `${policy}: ${alert.budgetSpentAtEnd}, ${all}`);
    }
  });

  test('runs the policies named, and only those, for every SLO', async () => {
    folder.write({
      'rules/tiers.yaml': `policies:
  slow:
    confidence: null
    tiers: [{ name: 10d, severity: ticket, exhaustsWithin: 10d, long: 1h, short: 5m, minBurn: full, minBadEvents: 0 }]
  fast:
    confidence: null
    tiers: [{ name: 1h, severity: page, exhaustsWithin: 1h, long: 5m, short: 1m, minBurn: full, minBadEvents: 0 }]
`,
      'rules/slos/loose.yaml': sloText({ name: 'loose', objectives: '[{ target: 0.99 }]' }),
    });
    const { slos } = await json('--policy', 'slow', '--policy', 'fast', 'history.jsonl');
    const [checkout, loose] = slos;
    assert.deepEqual(
      checkout?.policies.map(({ policy, own, pages, tickets }) => [policy, own, pages, tickets]),
      [
        ['slow', false, 0, 1],
        ['fast', false, 0, 0],
      ],
    );
    // 720x is more than a full outage of a 99 % SLO can burn.
    assert.match(loose?.policies[1]?.unusable ?? '', /a burn of 720x, and a full outage burns 100x/);
    const { stdout } = await replay('--summary', '--policy', 'slow', '--policy', 'fast', 'history.jsonl');
    assert.match(stdout, /^ {2}slow +0 +1 +ticket 10d +2026-03-02 01:0/m);
    assert.match(stdout, /^ {2}fast cannot be used: tier 1h asks for a burn/m);
  });

  test('shows a policy of its own beside workbook and countdown', async () => {
    folder.write({
      'rules/tiers.yaml': `policies:
  mine:
    confidence: null
    tiers: [{ name: 2d, severity: page, exhaustsWithin: 2d, long: 1h, short: 5m, minBurn: full, minBadEvents: 0 }]
`,
      'rules/slos/checkout.yaml': availabilitySlo('mine'),
      'rules/slos/other.yaml': sloText({ name: 'other', annotations: '{ slowburn/policy: countdown }' }),
    });
    const { slos } = await json('history.jsonl');
    assert.deepEqual(
      slos.map(({ id, policies }) => [id, ...policies.map(({ policy, own }) => `${policy} ${own}`)]),
      [
        ['checkout-availability', 'mine true', 'workbook false', 'countdown false'],
        ['other', 'workbook false', 'countdown true'],
      ],
    );
  });

  test('counts what still fires at the end, and a ticket that rises as a page', async () => {
    const lines = replayLines({
      startMs: START,
      minutes: 300,
      pushEveryMs: 60_000,
      series: [
        { cluster: 'checkout', responseClass: '2xx', perMinute: () => 6000 },
        // 0.5 % errors from minute 60, 30 % from minute 280.
        {
          cluster: 'checkout',
          responseClass: '5xx',
          perMinute: (minute) => (minute < 60 ? 0 : minute < 280 ? 30 : 2600),
        },
      ],
    });
    writeFileSync(folder.path('history.jsonl'), `${lines.join('\n')}\n`);
    const { stdout } = await replay('--summary', 'history.jsonl');
    const { slos, until } = await json('history.jsonl');
    for (const { policy, pages, tickets, alerts } of slos[0]?.policies ?? []) {
      assert.deepEqual([pages, tickets], [1, 0], policy);
      const [alert] = alerts;
      assert.equal(alert?.endedAt, null);
      assert.ok((alert?.firedAt ?? '') > '2026-03-02T04:40:00.000Z', alert?.firedAt);
      assert.equal(alert?.seconds, (Date.parse(until) - Date.parse(alert?.firedAt ?? '')) / 1000);
    }
    assert.match(stdout, /still firing at the end/);
  });

  test('a bad line is named once and skipped, and the exit code is 1', async () => {
    writeFileSync(folder.path('bad.jsonl'), '{"at": "yesterday"}\n');
    const { code, stdout, stderr } = await replay('--summary', 'bad.jsonl', 'history.jsonl');
    assert.equal(code, 1);
    assert.equal(stderr.match(/bad\.jsonl:1: "at" is not an RFC 3339 time; the line is skipped/g)?.length, 1);
    assert.equal(stdout, (await replay('--summary', 'history.jsonl')).stdout);
  });

  test('refuses what it does not know, and what belongs to a summary without it', async () => {
    const unknown = await replay('--summary', '--policy', 'contdown', 'history.jsonl');
    assert.deepEqual([unknown.code, unknown.stdout], [2, '']);
    assert.match(unknown.stderr, /unknown policy contdown, did you mean countdown\?/);
    assert.equal((await replay('--json', 'history.jsonl')).code, 2);
    assert.equal((await replay('--policy', 'workbook', 'history.jsonl')).code, 2);
    assert.equal((await replay('--summary', 'gone.jsonl')).code, 3);
  });

  test('says so when nothing moved the time', async () => {
    folder.write({ 'empty.jsonl': '' });
    assert.equal((await replay('--summary', 'empty.jsonl')).stdout, 'nothing to replay: no line moved the time\n');
    assert.equal((await json('empty.jsonl')).from, null);
  });
});
