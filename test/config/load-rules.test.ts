import assert from 'node:assert/strict';
import { rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { loadRules, type RulesOptions } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/report.ts';
import { labelsToObject } from '../../src/model/labels.ts';
import type { Slo } from '../../src/slo/slo.ts';
import {
  CHECKOUT,
  createFolder,
  type Folder,
  latencyRatio,
  latencyThreshold,
  RUNBOOKS,
  SHIPPED,
  sloText,
} from './fixture.ts';

describe('loadRules', () => {
  let folder: Folder;
  beforeEach(() => {
    folder = createFolder().write(RUNBOOKS);
  });
  afterEach(() => folder.remove());

  const load = (more: Partial<RulesOptions> = {}) =>
    loadRules({
      rulesDir: folder.path('rules'),
      shippedDir: SHIPPED,
      runbooksDir: folder.path('runbooks'),
      ...more,
    });

  function loadSlos(...texts: string[]): readonly Slo[] {
    rmSync(folder.path('rules/slos'), { recursive: true, force: true });
    folder.write(Object.fromEntries(texts.map((text, index) => [`rules/slos/${index}.yaml`, text])));
    const { rules, problems } = load();
    assert.deepEqual(problems, []);
    assert.ok(rules !== null);
    return rules.slos;
  }

  function loadSlo(text: string): Slo {
    const [slo, ...more] = loadSlos(text);
    assert.ok(slo !== undefined && more.length === 0);
    return slo;
  }

  const reportOf = (more: Partial<RulesOptions> = {}): readonly string[] => {
    const { problems } = load(more);
    return problems.map((problem) => formatProblem(problem).replaceAll(`${folder.root}/`, ''));
  };

  it('loads the example of the design as it stands', () => {
    const slo = loadSlo(CHECKOUT);
    assert.equal(slo.id, 'checkout-availability');
    assert.equal(slo.name, 'checkout-availability');
    assert.equal(slo.service, 'checkout');
    assert.equal(slo.displayName, 'Checkout answers without server errors');
    assert.deepEqual(slo.objective, { text: '0.999', target: { units: 999n, scale: 3 } });
    assert.deepEqual(slo.window, { text: '30d', length: 30 * 86_400_000, rolling: true });
    const side = { kind: 'equals', attribute: 'lb.side', value: 'downstream' };
    assert.deepEqual(slo.indicator, {
      kind: 'events',
      counts: 'bad',
      part: {
        metric: 'lb.requests',
        where: [side, { kind: 'equals', attribute: 'lb.response.class', value: '5xx' }],
      },
      total: { metric: 'lb.requests', where: [side] },
    });
    assert.deepEqual(labelsToObject(slo.labels), Object.assign(Object.create(null), { team: 'edge' }));
    assert.deepEqual(slo.groupBy, ['lb.upstream.cluster']);
    assert.equal(slo.rollup, false);
    assert.equal(slo.runbook, 'ErrorBudgetBurn');
    assert.equal(slo.policy.name, 'workbook');
    assert.equal(slo.policy.confidence, null);
    assert.deepEqual(
      slo.policy.tiers.map(({ name, factor }) => [name, factor]),
      [
        ['50h', { numerator: 72n, denominator: 5n }],
        ['5d', { numerator: 6n, denominator: 1n }],
        ['10d', { numerator: 3n, denominator: 1n }],
        ['30d', { numerator: 1n, denominator: 1n }],
      ],
    );
    assert.deepEqual(slo.source, { file: folder.path('rules/slos/0.yaml'), line: 1 });
  });

  it('reads both forms of a latency SLO as the same indicator and generation', () => {
    const ratio = loadSlo(sloText({ indicator: latencyRatio('0.3') }));
    const threshold = loadSlo(
      sloText({ indicator: latencyThreshold, objectives: '[{ op: lte, value: 0.3, target: 0.999 }]' }),
    );
    assert.deepEqual(ratio.indicator, {
      kind: 'latency',
      query: { metric: 'http.server.request.duration', where: [] },
      threshold: 0.3,
    });
    assert.deepEqual(threshold.indicator, ratio.indicator);
    assert.equal(threshold.generation, ratio.generation);
  });

  it('reads targets from their digits', () => {
    const target = (objective: string) => loadSlo(sloText({ objectives: `[{ ${objective} }]` })).objective;
    assert.deepEqual(target('target: 0.9990'), { text: '0.9990', target: { units: 9990n, scale: 4 } });
    assert.deepEqual(target('target: "0.95"'), { text: '0.95', target: { units: 95n, scale: 2 } });
    assert.deepEqual(target('targetPercent: 99.95'), { text: '0.9995', target: { units: 9995n, scale: 4 } });
    const long = '0.99999999999999999999';
    assert.equal(target(`target: ${long}`).target.units, 99_999_999_999_999_999_999n);
  });

  it('names the ratio that a percentage means', () => {
    folder.write({ 'rules/slos/a.yaml': sloText({ objectives: '[{ target: 99.95 }]' }) });
    assert.deepEqual(reportOf(), [
      'rules/slos/a.yaml:9:26 CONFIG_TARGET_INVALID target 99.95 is a percentage, and targets are ratios, write 0.9995',
    ]);
  });

  it('reads every form of a condition', () => {
    const where = `{ lb.side: upstream, lb.response.class: [4xx, 5xx], lb.route: !health, error.type: "~time.*", tls.resumed: True, http.response.status_code: 503, lb.listener: "" }`;
    const slo = loadSlo(sloText({ bad: `{ metric: lb.requests, where: ${where} }` }));
    assert.ok(slo.indicator.kind === 'events');
    assert.deepEqual(slo.indicator.part.where, [
      { kind: 'equals', attribute: 'lb.side', value: 'upstream' },
      { kind: 'in', attribute: 'lb.response.class', values: ['4xx', '5xx'] },
      { kind: 'not', attribute: 'lb.route', value: 'health' },
      { kind: 'matches', attribute: 'error.type', pattern: 'time.*' },
      { kind: 'equals', attribute: 'tls.resumed', value: 'true' },
      { kind: 'equals', attribute: 'http.response.status_code', value: '503' },
      { kind: 'equals', attribute: 'lb.listener', value: '' },
    ]);
    const quoted = loadSlo(sloText({ bad: '{ metric: lb.requests, where: { lb.route: "!health" } }' }));
    assert.ok(quoted.indicator.kind === 'events');
    assert.deepEqual(quoted.indicator.part.where, [{ kind: 'not', attribute: 'lb.route', value: 'health' }]);
  });

  it('gives one SLO per objective where there are several', () => {
    const slos = loadSlos(
      sloText({
        indicator: latencyThreshold,
        objectives:
          '[{ displayName: fast, op: lte, value: 0.1, target: 0.9 }, { displayName: slow, op: lte, value: 1, target: 0.99 }]',
      }),
    );
    assert.deepEqual(
      slos.map((slo) => [slo.id, slo.name, slo.displayName]),
      [
        ['a:fast', 'a', 'a: fast'],
        ['a:slow', 'a', 'a: slow'],
      ],
    );
    assert.notEqual(slos[0]?.generation, slos[1]?.generation);
  });

  it('keeps the generation over edits of labels, target, names and order, and changes it with the query', () => {
    const base = { bad: '{ metric: lb.requests, where: { lb.side: upstream, lb.response.class: [4xx, 5xx] } }' };
    const { generation } = loadSlo(sloText(base));
    const same = [
      sloText({ ...base, objectives: '[{ target: 0.9 }]' }),
      sloText({ ...base, name: 'b' }),
      sloText({ bad: '{ metric: lb.requests, where: { lb.response.class: [5xx, 4xx], lb.side: upstream } }' }),
      sloText({ ...base, window: '720h' }),
      sloText({ ...base, annotations: '{ slowburn/policy: workbook, other/note: x }' }),
    ];
    for (const text of same) assert.equal(loadSlo(text).generation, generation, text);
    const other = [
      sloText({ bad: '{ metric: lb.requests, where: { lb.side: upstream, lb.response.class: 5xx } }' }),
      sloText({ ...base, total: '{ metric: lb.requests, where: { lb.side: upstream } }' }),
      sloText({ ...base, window: '28d' }),
      sloText({ ...base, annotations: '{ slowburn/group-by: lb.upstream.zone }' }),
      sloText({ ...base, annotations: '{ slowburn/rollup: "true" }' }),
    ];
    for (const text of other) assert.notEqual(loadSlo(text).generation, generation, text);
  });

  it('takes an absolute URL for a runbook and a file of the runbooks folder', () => {
    folder.write({ 'runbooks/Checkout.md': '# Checkout\n' });
    const runbook = (value: string) => loadSlo(sloText({ annotations: `{ slowburn/runbook: "${value}" }` })).runbook;
    assert.equal(runbook('Checkout'), 'Checkout');
    assert.equal(runbook('https://wiki.example.com/checkout'), 'https://wiki.example.com/checkout');
  });

  it('reports a missing default runbook at the name of the SLO', () => {
    rmSync(folder.path('runbooks/ErrorBudgetBurn.md'));
    folder.write({ 'rules/slos/a.yaml': sloText({}) });
    assert.deepEqual(reportOf(), [
      'rules/slos/a.yaml:3:13 CONFIG_RUNBOOK_MISSING there is no runbook ErrorBudgetBurn, create ErrorBudgetBurn.md in the runbooks folder, or write an absolute URL',
    ]);
  });

  it('names both places of a duplicate across files', () => {
    folder.write({ 'rules/slos/a.yaml': sloText({}), 'rules/slos/deep/er/b.yml': sloText({}) });
    assert.deepEqual(reportOf(), [
      'rules/slos/deep/er/b.yml:3:19 CONFIG_SLO_DUPLICATE the SLO a is already defined at rules/slos/a.yaml:3:19, give one of the two another metadata.name',
    ]);
  });

  it('keeps sound SLOs beside those with errors, but gives no rules', () => {
    folder.write({
      'rules/slos/a.yaml': sloText({ name: 'a' }),
      'rules/slos/b.yaml': sloText({ name: 'b', objectives: '[{ target: 100 }]' }),
    });
    const { rules, slos } = load();
    assert.equal(rules, null);
    assert.deepEqual(
      slos.map((slo) => slo.id),
      ['a'],
    );
  });

  it('ignores the hidden copies that Kubernetes keeps of mounted files', () => {
    folder.write({ 'rules/slos/..2026/a.yaml': sloText({}) });
    symlinkSync(folder.path('rules/slos/..2026/a.yaml'), folder.path('rules/slos/a.yaml'));
    const { rules, files } = load();
    assert.equal(rules?.slos.length, 1);
    assert.ok(files.includes(folder.path('rules/slos/a.yaml')));
  });

  it('takes what a folder lacks from the shipped rules', () => {
    const shipped = load({ rulesDir: null }).rules;
    folder.write({ 'rules/notes.txt': 'nothing of ours\n' });
    assert.deepEqual(load().rules, shipped);
    folder.write({ 'rules/slos/only.yaml': sloText({ name: 'only' }) });
    const { rules, files } = load();
    assert.deepEqual(
      rules?.slos.map((slo) => slo.id),
      ['only'],
    );
    assert.deepEqual(rules?.detectors, shipped?.detectors);
    assert.ok(files.includes(path.join(SHIPPED, 'detectors.yaml')));
  });

  it('takes keys that detectors.yaml and correlation.yaml leave out from the shipped files', () => {
    const shipped = load({ rulesDir: null }).rules;
    folder.write({
      'rules/detectors.yaml': 'HostEjections: { rounds: 5, roundsWithin: 90s }\nWatchdog: { enabled: false }\n',
      'rules/correlation.yaml': 'settings: { resolveHold: 1m }\n',
    });
    const { rules } = load();
    assert.deepEqual(rules?.detectors.get('HostEjections')?.thresholds, {
      ...shipped?.detectors.get('HostEjections')?.thresholds,
      rounds: 5,
      roundsWithin: 90_000,
    });
    assert.equal(rules?.detectors.get('Watchdog')?.enabled, false);
    assert.equal(rules?.detectors.get('Watchdog')?.runbook, 'Watchdog');
    assert.deepEqual(rules?.correlation, { ...shipped?.correlation, resolveHold: 60_000 });
  });

  it('takes a receiver of slowburn.yaml or routes.yaml for the heartbeat, and no other', () => {
    const receivers = [{ name: 'watch', type: 'webhook', url: 'http://x/', secret: null, sendResolved: true }] as const;
    folder.write({ 'rules/detectors.yaml': 'Watchdog: { receiver: watch }\n' });
    assert.equal(load({ receivers }).rules?.detectors.get('Watchdog')?.receiver, 'watch');
    assert.equal(load({ rulesDir: null }).rules?.detectors.get('Watchdog')?.receiver, undefined);
    assert.deepEqual(
      load().problems.map(({ line, column, code, fix }) => `${line}:${column} ${code} ${fix}`),
      ['1:23 CONFIG_RECEIVER_UNKNOWN add it under receivers'],
    );
    assert.deepEqual(
      load({ offline: true }).problems.map(({ severity, code }) => `${severity} ${code}`),
      ['warning CONFIG_RECEIVER_UNKNOWN'],
    );
    const pager = { ...receivers[0], type: 'alertmanager-webhook' } as const;
    assert.deepEqual(
      load({ receivers: [pager] }).problems.map(({ line, column, code }) => `${line}:${column} ${code}`),
      ['1:23 CONFIG_RECEIVER_TYPE'],
    );
    folder.write({ 'rules/routes.yaml': 'receivers: [{ name: watch, type: webhook, url: "http://x/" }]\n' });
    assert.notEqual(load().rules, null);
  });

  it('asks no runbook of a detector that is off', () => {
    rmSync(folder.path('runbooks/Watchdog.md'));
    assert.equal(load({ rulesDir: null }).rules, null);
    folder.write({ 'rules/detectors.yaml': 'Watchdog: { enabled: false }\n' });
    assert.notEqual(load().rules, null);
  });

  it('adds custom policies to the shipped ones, and refuses a tier that can never fire', () => {
    const tier =
      '{ name: 2h, severity: page, exhaustsWithin: 2h, long: 2m, short: 1m, minBurn: full, minBadEvents: 1 }';
    folder.write({
      'rules/tiers.yaml': `policies:\n  fast: { confidence: null, tiers: [${tier}] }\n`,
      'rules/slos/a.yaml': sloText({ name: 'a', annotations: '{ slowburn/policy: fast }' }),
      'rules/slos/b.yaml': sloText({ name: 'b' }),
    });
    const { rules } = load();
    assert.deepEqual(
      rules?.slos.map((slo) => [slo.policy.name, slo.policy.tiers[0]?.factor]),
      [
        ['fast', { numerator: 360n, denominator: 1n }],
        ['countdown', { numerator: 120n, denominator: 1n }],
      ],
    );
    folder.write({
      'rules/slos/a.yaml': sloText({
        name: 'a',
        annotations: '{ slowburn/policy: fast }',
        objectives: '[{ target: 0.99 }]',
      }),
    });
    assert.match(reportOf().join('\n'), /^rules\/slos\/a\.yaml:3:54 CONFIG_TIER_UNREACHABLE .*2h/);
  });

  it('leaves out a shipped tier that can never fire, and says so', () => {
    const slo = loadSlo(sloText({ objectives: '[{ target: 0.99 }]' }));
    assert.deepEqual(
      slo.policy.tiers.map((tier) => tier.name),
      ['50h', '5d', '10d', '30d'],
    );
    const built = load().policies.build('countdown', slo.window.length, slo.objective.target);
    assert.ok(built.kind === 'policy');
    assert.equal(built.left.length, 1);
    assert.match(built.left[0] ?? '', /6h/);
  });

  it('fits the shipped tiers to other windows: pages to a sixth, tickets to a third and the whole', () => {
    const tiers = (window: string) =>
      loadSlo(sloText({ window, annotations: '{ slowburn/policy: workbook }' })).policy.tiers.map(
        ({ name, factor }) => `${name} ${Number(factor.numerator) / Number(factor.denominator)}`,
      );
    assert.deepEqual(tiers('28d'), ['50h 13.44', '112h 6', '224h 3', '28d 1']);
    assert.deepEqual(tiers('35d'), ['50h 16.8', '5d 7', '10d 3.5', '35d 1']);
    assert.deepEqual(tiers('7d'), ['28h 6', '56h 3', '7d 1']);
  });

  it('resolves receivers, secrets and routes of routes.yaml', () => {
    folder.write({
      'secret.txt': 'tell nobody\n',
      'rules/routes.yaml': `receivers:
  - { name: queue, type: webhook, url: "http://127.0.0.1:1/\${env:PATH_PART}", secret: "\${file:../secret.txt}", sendResolved: false }
routes:
  - { receiver: queue, severity: [ticket], matchers: [team=edge, 'zone=~"a|b"'] }
  - { receiver: oncall }
`,
    });
    const oncall = { name: 'oncall', type: 'webhook', url: 'http://x/', secret: null, sendResolved: true } as const;
    const { rules, problems } = load({ receivers: [oncall], env: { PATH_PART: 'hook' } });
    assert.deepEqual(problems, []);
    assert.deepEqual(rules?.receivers, [
      { name: 'queue', type: 'webhook', url: 'http://127.0.0.1:1/hook', secret: 'tell nobody', sendResolved: false },
    ]);
    const [queue, rest] = rules?.routes ?? [];
    assert.deepEqual(queue?.severity, ['ticket']);
    assert.deepEqual(
      queue?.matchers.map(({ name, operator, value }) => [name, operator, value]),
      [
        ['team', '=', 'edge'],
        ['zone', '=~', 'a|b'],
      ],
    );
    assert.deepEqual(rest, { receiver: 'oncall', severity: [], matchers: [] });
  });

  it('replays without secrets and without the receivers of slowburn.yaml', () => {
    folder.write({
      'rules/routes.yaml': `receivers: [{ name: a, type: webhook, url: "\${env:NOT_SET}" }]\nroutes: [{ receiver: oncall }]\n`,
    });
    assert.equal(load().rules, null);
    const { rules, problems } = load({ offline: true });
    assert.equal(rules?.receivers[0]?.name, 'a');
    assert.deepEqual(
      problems.map((problem) => `${problem.severity} ${problem.code}`),
      ['warning CONFIG_RECEIVER_UNKNOWN'],
    );
  });

  it('reports a rules folder that does not exist and files that nothing reads', () => {
    assert.match(reportOf().join('\n'), /^rules:1:1 CONFIG_FOLDER_MISSING/);
    folder.write({ 'rules/detector.yaml': '{}\n', 'rules/tiers.yml': '{}\n' });
    assert.deepEqual(reportOf(), [
      'rules/detector.yaml:1:1 CONFIG_FILE_UNUSED warning: nothing reads this file, did you mean detectors.yaml?; SLOs belong into slos/',
      'rules/tiers.yml:1:1 CONFIG_FILE_UNUSED warning: nothing reads this file, did you mean tiers.yaml?; SLOs belong into slos/',
    ]);
  });
});
