import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { runCheck } from '../../src/cli/check.ts';
import { CHECKOUT, createFolder, type Folder, PACKAGE, RUNBOOKS, sloText } from '../config/fixture.ts';

interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface JsonAnswer {
  readonly ok: boolean;
  readonly problems: readonly { readonly file: string; readonly code: string }[];
  readonly slos: readonly {
    readonly id: string;
    readonly unpagedShare: number;
    readonly requestsForOnePercent: number;
    readonly tiersThatNeverFire: readonly string[];
    readonly lowTraffic: {
      readonly pages: readonly object[];
      readonly outageMinutes: Readonly<Record<string, number | null>>;
    };
    readonly notes: readonly string[];
    readonly tiers: readonly {
      readonly name: string;
      readonly minBurn: number;
      readonly budgetSpentAtFire: number;
      readonly detectionMinutes: Readonly<Record<string, number | null>>;
    }[];
  }[];
}

describe('slowburn check', () => {
  let folder: Folder;
  beforeEach(() => {
    folder = createFolder().write(RUNBOOKS);
  });
  afterEach(() => folder.remove());

  async function check(paths: readonly string[], more: { configPath?: string; json?: boolean } = {}): Promise<Answer> {
    let [stdout, stderr] = ['', ''];
    const io = {
      stdout: (text: string) => {
        stdout += text;
      },
      stderr: (text: string) => {
        stderr += text;
      },
      cwd: folder.root,
      env: {},
      packageDir: PACKAGE,
    };
    const code = await runCheck({ paths, configPath: more.configPath ?? null, json: more.json ?? false }, io);
    return { code, stdout, stderr };
  }

  const json = async (paths: readonly string[]): Promise<JsonAnswer> =>
    JSON.parse((await check(paths, { json: true })).stdout) as JsonAnswer;

  it('checks the shipped rules when nothing is named', async () => {
    const { code, stdout, stderr } = await check([]);
    assert.equal(code, 0);
    assert.equal(stderr, '');
    for (const id of ['edge-handshakes', 'upstream-availability', 'upstream-latency']) {
      assert.match(stdout, new RegExp(`^${id}: `, 'm'));
    }
  });

  it('mentions that nobody is told when slowburn dies, until somebody is or the Watchdog is off', async () => {
    const says = /^note: Watchdog has no receiver: .*Watchdog\.receiver/m;
    assert.match((await check([])).stdout, says);
    const files = { 'slowburn.yaml': 'rules: ./rules\nreceivers: [{ name: w, type: webhook, url: "http://x/" }]\n' };
    for (const [text, expected] of [
      ['Watchdog: { every: 2m }\n', true],
      ['Watchdog: { receiver: w }\n', false],
      ['Watchdog: { enabled: false }\n', false],
    ] as const) {
      folder.write({ ...files, 'rules/detectors.yaml': text });
      const { code, stdout } = await check(['slowburn.yaml']);
      assert.deepEqual([code, says.test(stdout)], [0, expected], text);
    }
  });

  it('says for one SLO file what can page it', async () => {
    folder.write({ 'checkout.yaml': CHECKOUT });
    const { code, stdout } = await check(['checkout.yaml']);
    assert.equal(code, 0);
    assert.equal(
      stdout,
      `
checkout-availability: 99.9 % over 30d per lb.upstream.cluster, policy workbook
  tier  severity  windows  factor  fires at burn  budget spent  at 100 %  at 10 %  at 2 %  at 0.2 %
  50h   page      1h/5m    14.4x   14.4x          2 %           0.864     8.64     43.2    never
  5d    page      6h/30m   6x      6x             5 %           2.16      21.6     108     never
  10d   ticket    1d/2h    3x      3x             10 %          4.32      43.2     216     never
  30d   ticket    3d/6h    1x      1x             10 %          4.32      43.2     216     2160
  the last columns: minutes until the tier fires at so many errors, from a clean window and with enough traffic
  up to 0.6 % of the fleet can die without a page
  one failed request is 1 % of the budget at 100,000 requests of a group in 30d, and more where there are fewer
  low traffic: a single failed request pages where there are at most 69 requests of a group in 1h (tier 50h)
  low traffic: a full outage pages after 1 min at 1 request a minute, after 0.9 min at 10 requests a minute
`,
    );
  });

  it('gives the same figures as JSON, never as null', async () => {
    folder.write({ 'checkout.yaml': CHECKOUT });
    const { ok, problems, slos } = await json(['checkout.yaml']);
    assert.ok(ok);
    assert.deepEqual(problems, []);
    const [slo] = slos;
    assert.equal(slo?.unpagedShare.toFixed(6), '0.006000');
    const page = slo?.tiers.find((tier) => tier.name === '50h');
    assert.equal(page?.budgetSpentAtFire.toFixed(6), '0.020000');
    assert.equal(page?.detectionMinutes['100']?.toFixed(6), '0.864000');
    assert.equal(page?.detectionMinutes['2']?.toFixed(6), '43.200000');
    assert.equal(page?.detectionMinutes['0.2'], null);
    assert.equal(slo?.requestsForOnePercent, 100_000);
    assert.deepEqual(slo?.lowTraffic.pages[0], { tier: '50h', failures: 1, requests: 69, withinSeconds: 3600 });
    assert.equal(slo?.lowTraffic.outageMinutes['1'], 1);
  });

  it('decides never exactly: errors of just the burn that a tier asks for do reach it', async () => {
    // 0.2 % errors against 99.8 %: burn 1 in exact arithmetic, 0.999999... in binary.
    folder.write({
      'a.yaml': sloText({ annotations: '{ slowburn/policy: workbook }', objectives: '[{ target: 0.998 }]' }),
    });
    const { slos } = await json(['a.yaml']);
    const ticket = slos[0]?.tiers.find((tier) => tier.name === '30d');
    assert.equal(ticket?.detectionMinutes['0.2']?.toFixed(3), (3 * 24 * 60).toFixed(3));
  });

  it('notes a tier that can never fire', async () => {
    folder.write({ 'a.yaml': sloText({ objectives: '[{ target: 0.99 }]' }) });
    const { slos } = await json(['a.yaml']);
    assert.ok(!slos[0]?.tiers.some((tier) => tier.name === '6h'));
    assert.match(slos[0]?.notes.join('\n') ?? '', /left out: .*6h/);
    assert.deepEqual(slos[0]?.tiersThatNeverFire, ['tier 6h asks for a burn of 120x, and a full outage burns 100x']);
  });

  it('prints findings sorted, relative to where it runs, and exits 1', async () => {
    folder.write({
      'rules/slos/b.yaml': sloText({ name: 'b', objectives: '[{ target: 100 }]' }),
      'rules/slos/a.yaml': sloText({ name: 'a', window: '90d', bad: '{ metric: lb.reqests }' }),
      'rules/slos/good.yaml': sloText({ name: 'good' }),
      'rules/detectors.yaml': 'HostEjection: {}\n',
    });
    const { code, stdout } = await check(['rules']);
    assert.equal(code, 1);
    const [first, ...rest] = stdout.split('\n\n');
    assert.equal(
      first,
      [
        'rules/detectors.yaml:1:1 CONFIG_KEY_UNKNOWN unknown key "HostEjection", did you mean HostEjections?',
        'rules/slos/a.yaml:6:94 CONFIG_METRIC_UNKNOWN unknown metric "lb.reqests", did you mean lb.requests?',
        'rules/slos/a.yaml:7:28 CONFIG_WINDOW_TOO_LONG a window of 90d is longer than the history kept, use at most 35d; 28d or 30d are usual',
        'rules/slos/b.yaml:9:26 CONFIG_TARGET_INVALID target 100 leaves no error budget, write a ratio below 1, such as 0.999 for 99.9 %',
      ].join('\n'),
    );
    assert.equal(rest.length, 1, 'the sound SLO still gets its table');
    assert.match(rest[0] ?? '', /^good: /);
  });

  it('names both places of a duplicate in two files given by name', async () => {
    folder.write({ 'a.yaml': sloText({}), 'b.yaml': sloText({}) });
    const { code, stdout } = await check(['b.yaml', 'a.yaml']);
    assert.equal(code, 1);
    assert.match(stdout, /^a\.yaml:3:19 CONFIG_SLO_DUPLICATE the SLO a is already defined at b\.yaml:3:19,/);
  });

  it('exits 0 on warnings and marks them', async () => {
    folder.write({ 'a.yaml': sloText({ bad: '{ metric: lb.requests, where: { lb.response.clas: 5xx } }' }) });
    const { code, stdout } = await check(['a.yaml']);
    assert.equal(code, 0);
    assert.match(stdout, /^a\.yaml:\d+:\d+ CONFIG_ATTRIBUTE_UNKNOWN warning: .*did you mean lb\.response\.class\?/);
  });

  it('checks a slowburn.yaml with the rules, runbooks and receivers that it names', async () => {
    folder.write({
      'etc/slowburn.yaml': `rules: ../rules
runbooks: ../runbooks
receivers: [{ name: oncall, type: webhook, url: http://127.0.0.1:9/x }]
`,
      'rules/slos/a.yaml': sloText({ annotations: '{ slowburn/runbook: Mine }' }),
      'rules/routes.yaml': 'routes: [{ receiver: oncall }, { receiver: queue }]\n',
    });
    const named = await check(['etc/slowburn.yaml']);
    assert.equal(named.code, 1);
    assert.match(named.stdout, /^rules\/routes\.yaml:1:44 CONFIG_RECEIVER_UNKNOWN /);
    assert.match(named.stdout, /^rules\/slos\/a\.yaml:3:55 CONFIG_RUNBOOK_MISSING /m);
    assert.doesNotMatch(named.stdout, /^a: /m, 'an SLO with an error gets no table');
    assert.deepEqual(await check([], { configPath: 'etc/slowburn.yaml' }), named);
    folder.write({ 'runbooks/Mine.md': '# Mine\n', 'rules/routes.yaml': 'routes: [{ receiver: oncall }]\n' });
    assert.equal((await check(['etc/slowburn.yaml'])).code, 0);
  });

  it('reports the errors of a slowburn.yaml', async () => {
    folder.write({ 'slowburn.yaml': 'listen: { http: 0.0.0.0:80 }\n' });
    const { code, stdout } = await check(['slowburn.yaml']);
    assert.equal(code, 1);
    assert.match(stdout, /^slowburn\.yaml:1:17 CONFIG_LISTEN_EXPOSED /);
  });

  it('takes a folder of plain SLO files and a single rule file', async () => {
    folder.write({ 'mine/a.yaml': sloText({ name: 'mine' }), 'mine/sub/b.yaml': sloText({ name: 'other' }) });
    assert.deepEqual(
      (await json(['mine'])).slos.map((slo) => slo.id),
      ['mine', 'other'],
    );
    folder.write({ 'tiers.yaml': 'policies: {}\nextra: 1\n' });
    const { code, stdout } = await check(['tiers.yaml']);
    assert.equal(code, 1);
    assert.match(stdout, /^tiers\.yaml:2:1 CONFIG_KEY_UNKNOWN /);
  });

  it('calls a path that does not exist a mistake of usage', async () => {
    const { code, stdout, stderr } = await check(['no-such.yaml']);
    assert.deepEqual([code, stdout, stderr], [2, '', 'slowburn check: there is no no-such.yaml\n']);
    assert.equal((await check([], { configPath: 'no.yaml' })).code, 2);
  });
});
