import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createAggregate } from '../../../src/aggregate/cells.ts';
import { present } from '../../../src/base/assert.ts';
import { createBurnEngine } from '../../../src/burn/engine.ts';
import { reportOf } from '../../../src/cli/check-report.ts';
import { loadRules } from '../../../src/config/load.ts';
import { decodeMetrics } from '../../../src/otlp/decode-metrics.ts';
import { encodeMetrics } from '../../../src/otlp/encode-metrics.ts';
import { Staging } from '../../../src/otlp/staging.ts';
import { createBinder } from '../../../src/series/bind.ts';
import { createSeriesIngest } from '../../../src/series/ingest.ts';
import type { Slo } from '../../../src/slo/slo.ts';
import { at } from '../../aggregate/fixture.ts';
import { CHECKOUT, createFolder, latencyRatio, RUNBOOKS, SHIPPED, sloText } from '../../config/fixture.ts';
import { cumulative, requestOf } from '../../support/recording-ingest.ts';

interface Case {
  readonly name: string;
  readonly others?: string;
  readonly objectives: readonly string[];
  readonly window?: string;
  readonly policy?: string;
  readonly tiers?: string;
  readonly thresholds?: readonly string[];
  readonly expect: {
    readonly codes: readonly string[];
    readonly says?: readonly string[];
    readonly left?: number;
    readonly tiers?: readonly string[];
    readonly spentAtFire?: Readonly<Record<string, number>>;
    readonly factor?: Readonly<Record<string, number>>;
    readonly threshold?: number;
    readonly generations?: number;
  };
}

interface Loaded {
  readonly codes: readonly string[];
  readonly slo: Slo | null;
  readonly report: ReturnType<typeof reportOf> | null;
  /** Problems and notes. */
  readonly said: string;
}

/** One SLO file through the loader, as `check` reads it. */
function load(text: string, tiers?: string): Loaded {
  const folder = createFolder().write({ ...RUNBOOKS, 'rules/slos/a.yaml': text });
  try {
    if (tiers !== undefined) {
      folder.write({ 'rules/tiers.yaml': `policies:\n  own: { confidence: null, tiers: [${tiers}] }\n` });
    }
    const rulesDir = folder.path('rules');
    const loaded = loadRules({ rulesDir, shippedDir: SHIPPED, runbooksDir: folder.path('runbooks') });
    const [slo = null] = loaded.slos;
    const report = slo === null ? null : reportOf(slo, loaded);
    const said = [...loaded.problems.map(({ message }) => message), ...(report?.notes ?? [])].join('\n');
    return { codes: loaded.problems.map(({ code }) => code), slo, report, said };
  } finally {
    folder.remove();
  }
}

function near(ours: number | undefined, right: number, what: string): void {
  assert.ok(ours !== undefined && Math.abs(ours - right) <= 1e-9, `${what}: ${ours} is not ${right}`);
}

function check(one: Case, objective: string, threshold: string | undefined): Loaded {
  const { expect, window, policy, tiers } = one;
  const loaded = load(
    sloText({
      objectives: `[${objective}]`,
      annotations: policy === undefined ? '{}' : `{ slowburn/policy: ${policy} }`,
      ...(window !== undefined && { window }),
      ...(threshold !== undefined && { indicator: latencyRatio(threshold) }),
    }),
    tiers,
  );
  const { slo, report } = loaded;
  assert.deepEqual(loaded.codes, expect.codes, objective);
  for (const pattern of expect.says ?? []) assert.match(loaded.said, new RegExp(pattern));
  if (expect.left !== undefined) assert.equal(report?.neverFires.length, expect.left);
  if (expect.tiers !== undefined) {
    assert.deepEqual(
      slo?.policy.tiers.map(({ name }) => name),
      expect.tiers,
    );
  }
  const tierOf = (name: string) => report?.reach.tiers.find(({ tier }) => tier.name === name);
  for (const [name, right] of Object.entries(expect.spentAtFire ?? {})) near(tierOf(name)?.spentAtFire, right, name);
  for (const [name, right] of Object.entries(expect.factor ?? {})) near(tierOf(name)?.minBurn, right, name);
  if (expect.threshold !== undefined) {
    assert.equal(slo?.indicator.kind === 'latency' && slo.indicator.threshold, expect.threshold);
  }
  return loaded;
}

describe('SLO contract of the loader, as data', () => {
  const file = join(import.meta.dirname, 'rules.json');
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: readonly Case[] };
  for (const one of cases) {
    test(one.name, (t) => {
      const all = one.objectives.flatMap((objective) =>
        (one.thresholds ?? [undefined]).map((threshold) => {
          const loaded = check(one, objective, threshold);
          t.diagnostic(`${objective} ${threshold ?? ''}: ${loaded.codes.join() || 'loads'}; ${loaded.said}`);
          return loaded;
        }),
      );
      if (one.others !== undefined) t.diagnostic(`others: ${one.others}`);
      if (one.expect.generations !== undefined) {
        assert.equal(new Set(all.map(({ slo }) => slo?.generation)).size, one.expect.generations);
      }
    });
  }

  test('F21 editing a label keeps the SLO, its budget and its one alert; editing the query begins anew', (t) => {
    const loadOne = (from: string, to: string): Slo =>
      present(load(CHECKOUT.replace(from, to)).slo ?? undefined, 'SLO');
    const [qa, bob] = [loadOne('team: edge', 'owner: qa'), loadOne('team: edge', 'owner: bob')];
    const other = loadOne('lb.response.class: 5xx', 'lb.response.class: 4xx');
    const aggregate = createAggregate();
    aggregate.replaceSlos([qa]);
    const ingest = createSeriesIngest({ binder: createBinder({ slos: [qa], aggregate }), balancers: aggregate });
    const engine = createBurnEngine();
    const kinds: string[] = [];
    const push = (minute: number): void => {
      const now = at(minute * 60);
      const staging = new Staging();
      const common = { 'lb.side': 'downstream', 'lb.upstream.cluster': 'a' };
      const sums = ['2xx', '5xx'].map((name) =>
        cumulative('lb.requests', now, minute * 100, at(0), { ...common, 'lb.response.class': name }),
      );
      decodeMetrics(encodeMetrics(requestOf(sums)), staging);
      ingest.apply(staging, { receivedAt: now, peer: '10.0.0.1', identityHeader: null });
      const { changes } = engine.evaluate(aggregate, now);
      kinds.push(...changes.map(({ kind }) => kind).filter((kind) => kind !== 'updated'));
    };
    const edit = (next: Slo): void => {
      aggregate.replaceSlos([next]);
      ingest.rebind(createBinder({ slos: [next], aggregate }));
    };
    for (let minute = 1; minute <= 30; minute += 1) push(minute);
    const before = present(engine.statuses()[0], 'status');
    edit(bob);
    for (let minute = 31; minute <= 40; minute += 1) push(minute);
    const after = present(engine.statuses()[0], 'status');
    t.diagnostic(
      `${before.bad} of ${before.total} before the edit, ${after.bad} of ${after.total} after; ${kinds.join()}`,
    );
    assert.equal(after.key, before.key);
    assert.deepEqual([before.bad, before.total, after.bad, after.total], [3000, 6000, 4000, 8000]);
    assert.deepEqual([after.slo.labels.get('owner'), after.since], ['bob', before.since]);
    assert.deepEqual(
      kinds.filter((kind) => kind !== 'changed'),
      ['fired'],
    );
    edit(other);
    push(41);
    const fresh = present(engine.statuses()[0], 'status');
    assert.notEqual(fresh.key, before.key);
    assert.equal(fresh.total, 200);
  });
});
