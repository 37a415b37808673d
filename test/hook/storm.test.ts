import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createEngine, type Engine } from '../../src/app/engine.ts';
import { createHooks, type Hooks } from '../../src/app/hooks.ts';
import { ManualClock } from '../../src/base/clock.ts';
import { createPrng } from '../../src/base/prng.ts';
import { type EpochMs, epochMs, HOUR, MINUTE } from '../../src/base/units.ts';
import { loadRules } from '../../src/config/load.ts';
import type { Pool } from '../../src/hook/plan.ts';
import type { Alert, AlertChange } from '../../src/model/alert.ts';
import type { RemediateHook } from '../../src/model/hook.ts';
import type { Answer, Post } from '../../src/notify/http.ts';
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite-store.ts';
import { alertOf, T0 } from '../support/alerts.ts';

const PACKAGE = join(import.meta.dirname, '../..');
const loaded = loadRules({
  rulesDir: null,
  shippedDir: join(PACKAGE, 'rules'),
  runbooksDir: join(PACKAGE, 'runbooks'),
});
const rules = loaded.rules;
assert.ok(rules !== null);

const replaceOf = (name: string, alerts: readonly string[]): RemediateHook => ({
  kind: 'remediate',
  name,
  url: 'http://127.0.0.1:9/',
  secret: null,
  alerts,
  perHost: HOUR,
  poolShare: 0.1,
  notWhile: [],
});
/** Two, so that they could share out the bounds. */
const HOOKS = [replaceOf('sinkholes', ['FastFailSinkhole']), replaceOf('outliers', ['HostOutlier'])];
const KINDS = ['FastFailSinkhole', 'HostOutlier'];

const hostsOf = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${name}-${index}`);
const SHARED = hostsOf('shared', 6);
/** Members of each pool; some hosts serve two. */
const POOLS: Readonly<Record<string, readonly string[]>> = {
  shop: [...hostsOf('shop', 34), ...SHARED],
  pay: [...hostsOf('pay', 14), ...SHARED],
  mail: hostsOf('mail', 12),
  tiny: hostsOf('tiny', 8),
};

interface Called {
  readonly id: string;
  readonly at: EpochMs;
  readonly host: string;
  readonly sizes: ReadonlyMap<string, number>;
}

/** A storm of some hours: alerts come and go on hosts everywhere, pools shrink and grow, and the service is killed. */
class Storm {
  readonly called: Called[] = [];
  restarts = 0;
  readonly #directory = mkdtempSync(join(tmpdir(), 'slowburn-storm-'));
  readonly #prng;
  readonly #clock = new ManualClock(epochMs(T0));
  readonly #firing = new Map<string, Alert>();
  #sizes = new Map<string, number>();
  #store!: SqliteStore;
  #engine!: Engine;
  #hooks!: Hooks;

  constructor(seed: number) {
    this.#prng = createPrng(seed);
    this.#start();
  }

  async run(minutes: number): Promise<void> {
    for (let minute = 1; minute <= minutes; minute += 1) {
      const now = epochMs(T0 + minute * MINUTE);
      this.#clock.advanceTo(now);
      this.#resize();
      const changes = this.#stir(now);
      this.#engine.evaluator.tick(now, () => changes);
      this.#hooks.evaluated(now);
      // Some calls are answered before the kill, some are not.
      if (this.#chance(0.7)) await new Promise((done) => setImmediate(done));
      if (this.#chance(0.04)) this.#kill();
    }
  }

  timelines(): readonly { readonly change: string; readonly reason: string }[] {
    const all = this.#store.listIncidents({
      states: ['open', 'acknowledged', 'resolved'],
      before: null,
      limit: 10_000,
    });
    return all.flatMap(({ id }) => this.#store.timeline(id));
  }

  records() {
    return this.#store.hookCallsSince(epochMs(0));
  }

  close(): void {
    this.#store.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #start(): void {
    this.#store = openSqliteStore(join(this.#directory, 'incidents.sqlite'));
    assert.ok(rules !== null);
    this.#engine = createEngine({
      rules,
      receivers: [],
      notifiers: new Map(),
      store: this.#store,
      baseUrl: () => 'http://slowburn.test',
      runbook: () => null,
    });
    this.#engine.evaluator.restore(this.#clock.now(), new Set());
    this.#hooks = createHooks({
      rules: HOOKS,
      evaluator: this.#engine.evaluator,
      store: this.#store,
      features: this.#engine.aggregate,
      clock: this.#clock,
      baseUrl: () => 'http://slowburn.test',
      onError: (error) => assert.fail(String(error)),
      post: (request) => this.#answer(request),
      pools: () => this.#pools(),
    });
    this.#hooks.restore();
  }

  /** Without a goodbye: what is in flight is lost, what is on disk is all there is. */
  #kill(): void {
    this.restarts += 1;
    void this.#hooks.stop();
    this.#store.close();
    this.#start();
  }

  #answer({ body }: Post): Promise<Answer> {
    const { eventId, remediate } = JSON.parse(body) as { eventId: string; remediate: { host: string } };
    this.called.push({ id: eventId, at: this.#clock.now(), host: remediate.host, sizes: new Map(this.#sizes) });
    if (this.#chance(0.2)) return new Promise(() => undefined);
    if (this.#chance(0.2)) return Promise.resolve({ kind: 'failed', error: 'ECONNRESET' });
    const status = this.#chance(0.1) ? 500 : 200;
    return Promise.resolve({ kind: 'answered', status, text: '{}', retryAfterMs: null });
  }

  #resize(): void {
    for (const [name, hosts] of Object.entries(POOLS)) {
      const lost = this.#chance(0.5) ? 0 : Math.floor(this.#prng.next() * hosts.length * 0.5);
      this.#sizes.set(name, hosts.length - lost);
    }
  }

  #pools(): ReadonlyMap<string, Pool> {
    return new Map(
      Object.entries(POOLS).map(([name, hosts]) => [
        name,
        { size: this.#sizes.get(name) ?? null, hosts: new Set(hosts) },
      ]),
    );
  }

  /** Up to six alerts begin, and a tenth of those that fire end. */
  #stir(now: EpochMs): readonly AlertChange[] {
    const changes: AlertChange[] = [];
    for (const [key, alert] of this.#firing) {
      if (!this.#chance(0.1)) continue;
      this.#firing.delete(key);
      changes.push({ kind: 'resolved', at: now, alert, reason: 'recovered' });
    }
    for (let count = Math.floor(this.#prng.next() * 7); count > 0; count -= 1) {
      const [cluster, hosts] = this.#pick(Object.entries(POOLS));
      const since = (now - T0) / MINUTE;
      const alert = alertOf(this.#pick(KINDS), { cluster, host: this.#pick(hosts) }, { since });
      if (this.#firing.has(alert.key) || changes.some((change) => change.alert.key === alert.key)) continue;
      this.#firing.set(alert.key, alert);
      changes.push({ kind: 'fired', at: now, alert });
    }
    return changes;
  }

  #pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.#prng.next() * values.length)] as T;
  }

  #chance(p: number): boolean {
    return this.#prng.next() < p;
  }
}

/** Every call that broke a bound, worked out from the calls alone. */
function violations(called: readonly Called[]): readonly string[] {
  const found: string[] = [];
  for (const [index, call] of called.entries()) {
    const lastHour = called.slice(0, index).filter(({ at }) => call.at - at < HOUR);
    if (lastHour.some(({ host }) => host === call.host)) found.push(`${call.host} twice within an hour at ${call.at}`);
    for (const [name, hosts] of Object.entries(POOLS)) {
      if (!hosts.includes(call.host)) continue;
      const gone = new Set([...lastHour, call].map(({ host }) => host).filter((host) => hosts.includes(host))).size;
      const size = call.sizes.get(name) ?? 0;
      if (gone * 10 > size) found.push(`${gone} of ${size} hosts of ${name} at ${call.at}`);
    }
  }
  return found;
}

describe('remediate in a storm', () => {
  test('the oracle sees a host called twice, and a pool of which too many are', () => {
    const sizes = new Map([['mail', 12]]);
    const call = (id: string, minute: number, host: string): Called => ({
      id,
      at: epochMs(T0 + minute * MINUTE),
      host,
      sizes,
    });
    assert.equal(violations([call('1', 0, 'mail-1'), call('2', 60, 'mail-1')]).length, 0);
    assert.equal(violations([call('1', 0, 'mail-1'), call('2', 59, 'mail-1')]).length, 1);
    assert.equal(violations([call('1', 0, 'mail-1'), call('2', 59, 'mail-2')]).length, 1);
  });

  test('never breaks a bound, whatever fires, however often the service is killed', async (t) => {
    const totals = { called: 0, restarts: 0, refused: 0, unknown: 0 };
    for (let seed = 1; seed <= 8; seed += 1) {
      const storm = new Storm(seed);
      await storm.run(240);
      assert.deepEqual(violations(storm.called), [], `seed ${seed}`);
      const ids = storm.called.map(({ id }) => id);
      assert.equal(new Set(ids).size, ids.length, `seed ${seed}: a call was made twice`);
      const records = storm.records();
      const made = records.filter(({ state }) => state !== 'refused');
      assert.deepEqual(new Set(ids), new Set(made.map(({ id }) => id)), `seed ${seed}: calls and records differ`);
      const lines = storm.timelines().filter(({ change }) => change === 'hook');
      assert.equal(lines.filter(({ reason }) => / called: /.test(reason)).length, made.length);
      assert.equal(lines.filter(({ reason }) => / refused: /.test(reason)).length, records.length - made.length);
      const ended = made.filter(({ endedAt }) => endedAt !== null).length;
      assert.equal(lines.filter(({ reason }) => / (answered|failed|unknown): /.test(reason)).length, ended);
      totals.called += ids.length;
      totals.restarts += storm.restarts;
      totals.refused += records.length - made.length;
      totals.unknown += made.filter(({ state }) => state === 'unknown').length;
      storm.close();
    }
    t.diagnostic(JSON.stringify(totals));
    // The bounds were reached, and the kills hit calls that were under way.
    assert.ok(totals.called > 150 && totals.refused > 1000, JSON.stringify(totals));
    assert.ok(totals.restarts > 40 && totals.unknown > 10, JSON.stringify(totals));
  });
});
