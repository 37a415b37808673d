import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createEngine, type Engine } from '../../../src/app/engine.ts';
import { createForeignAlerts, type ForeignAlerts } from '../../../src/app/foreign-alerts.ts';
import { createReplay } from '../../../src/app/replay.ts';
import type { ReplayLine } from '../../../src/app/replay-input.ts';
import { createLineSink } from '../../../src/app/replay-output.ts';
import { TICK_MS } from '../../../src/app/ticker.ts';
import { formatInstant } from '../../../src/base/instant.ts';
import { type EpochMs, epochMs } from '../../../src/base/units.ts';
import type { Rules } from '../../../src/config/config.ts';
import { loadRules } from '../../../src/config/load.ts';
import { createWebhookNotifier } from '../../../src/notify/webhook/notifier.ts';
import { decodeJsonMetrics } from '../../../src/otlp/decode-json.ts';
import { createMemoryForeignAlerts } from '../../../src/store/foreign-alert-store.ts';
import { createMemoryStore } from '../../../src/store/memory-store.ts';
import { Pusher } from '../../support/live-service.ts';

/**
 * Situations in which other tools are known to go wrong, each a file beside this one: what happens (seconds from the start,
 * and the fields of a line of replay, times in seconds too), under which correlation.yaml, and what must come of it.
 * `restart` is a new process over the same store, which a replay cannot express: such a file runs the engine itself.
 * `metrics` names a balancer that pushes at that moment.
 */
interface Scenario {
  readonly id: string;
  readonly title: string;
  readonly source: string;
  /** A correlation.yaml; empty = the shipped one. */
  readonly correlation: string;
  readonly events: readonly (readonly [at: number, fields: Fields])[];
  readonly until: number;
  readonly expect: {
    /** Every message: when, and `incident/episode reason severity`. */
    readonly said: readonly (readonly [at: number, what: string])[];
    readonly incidents: number;
    readonly open: number;
    /** Lines of the timelines. */
    readonly muted: number;
    readonly unmuted: number;
    /** Changes of alerts, where history is what matters. */
    readonly alerts?: number;
    /** Names of the alerts of each incident, and its lead. */
    readonly members?: readonly (readonly string[])[];
    readonly leads?: readonly string[];
    /** Every line of the timelines: when, and `incident change`. */
    readonly lines?: readonly (readonly [at: number, what: string])[];
    /** When changes of one kind came. */
    readonly linesOf?: Readonly<Record<string, readonly number[]>>;
    /** `incident state` at moments. */
    readonly stateAt?: readonly (readonly [at: number, what: string])[];
  };
}
type Fields = Readonly<Record<string, unknown>>;
type Line = Readonly<Record<string, unknown>>;

const PACKAGE = join(import.meta.dirname, '..', '..', '..');
const START = epochMs(1_800_000_000_000);
const instantAt = (second: number): EpochMs => epochMs(START + second * 1000);

function rulesOf({ correlation }: Scenario): Rules {
  const folder = mkdtempSync(join(tmpdir(), 'slowburn-scenario-'));
  try {
    writeFileSync(join(folder, 'routes.yaml'), 'routes: []\n');
    if (correlation !== '') writeFileSync(join(folder, 'correlation.yaml'), correlation);
    const options = { rulesDir: folder, shippedDir: join(PACKAGE, 'rules'), runbooksDir: join(PACKAGE, 'runbooks') };
    const { rules, problems } = loadRules(options);
    assert.ok(rules !== null, JSON.stringify(problems));
    return rules;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Times of an event as RFC 3339. */
function timed(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => timed(one));
  if (typeof value === 'number' && ['until', 'from', 'startsAt', 'endsAt'].includes(key)) {
    return formatInstant(instantAt(value));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, timed(one, name)]));
}

function replay(scenario: Scenario, rules: Rules): Line[] {
  const written: Line[] = [];
  const run = createReplay(
    rules,
    createLineSink((line) => written.push(JSON.parse(line) as Line)),
  );
  const pushers = new Map<string, Pusher>();
  const metrics = (balancer: string, at: EpochMs): Uint8Array => {
    const pusher = pushers.get(balancer) ?? new Pusher({ instance: balancer, startMs: START - 60_000 });
    pushers.set(balancer, pusher);
    return decodeJsonMetrics(new TextEncoder().encode(pusher.body({ '2xx': 60 }, 'checkout', at)));
  };
  const lineOf = (second: number, fields: Fields): ReplayLine => {
    const base = { where: scenario.id, at: instantAt(second) };
    if (typeof fields['metrics'] === 'string') {
      return { where: scenario.id, kind: 'metrics', body: metrics(fields['metrics'], base.at) };
    }
    if (fields['action'] !== undefined) return { ...base, kind: 'action', action: fields };
    if (fields['alerts'] === undefined) return { ...base, kind: 'time' };
    return { ...base, kind: 'alerts', alerts: fields['alerts'] as unknown[] };
  };
  for (const [second, fields] of scenario.events) assert.equal(run.line(lineOf(second, timed(fields) as Fields)), null);
  run.finish(instantAt(scenario.until));
  return written;
}

/** The engine that serve and replay run, over one store that survives its processes. */
function runEngine(scenario: Scenario, rules: Rules): Line[] {
  const written: Line[] = [];
  const sink = createLineSink((line) => written.push(JSON.parse(line) as Line));
  const store = createMemoryStore();
  const foreignStore = createMemoryForeignAlerts();
  const receiver = {
    name: 'default',
    type: 'webhook',
    url: 'http://127.0.0.1:9/',
    secret: null,
    sendResolved: true,
  } as const;
  const begin = (at: EpochMs): Engine => {
    const engine = createEngine({
      rules,
      receivers: [receiver],
      notifiers: new Map([['default', createWebhookNotifier(receiver)]]),
      store,
      baseUrl: () => 'http://slowburn.local',
      runbook: () => null,
    });
    engine.evaluator.restore(at, new Set());
    return engine;
  };
  const beginForeign = (of: Engine): ForeignAlerts =>
    createForeignAlerts({
      settings: rules.correlation,
      store: foreignStore,
      firing: () => of.evaluator.firing(),
      balancers: (now) => of.aggregate.balancers(now),
    });
  let engine = begin(START);
  let foreign = beginForeign(engine);
  const waiting = [...scenario.events];
  for (let second = 0; second <= scenario.until; second += TICK_MS / 1000) {
    for (let next = waiting[0]; next !== undefined && next[0] <= second; next = waiting[0]) {
      waiting.shift();
      const fields = timed(next[1]) as Fields;
      if (fields['restart'] === true) {
        engine = begin(instantAt(next[0]));
        foreign = beginForeign(engine);
      } else {
        const received = foreign.receive(fields['alerts'] as unknown[], 'alerts', instantAt(next[0]));
        assert.deepEqual(received.refused, []);
      }
    }
    sink.outcome(engine.evaluator.tick(instantAt(second), () => foreign.due(instantAt(second))));
  }
  return written;
}

const secondOf = ({ at }: Line): number => (Date.parse(String(at)) - START) / 1000;

describe('what others got wrong', () => {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.json'));
  for (const file of files.sort()) {
    const scenario = JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as Scenario;
    test(`${scenario.id}: ${scenario.title} (${scenario.source})`, () => {
      const rules = rulesOf(scenario);
      const restarts = scenario.events.some(([, fields]) => fields['restart'] === true);
      const lines = restarts ? runEngine(scenario, rules) : replay(scenario, rules);
      const ofType = (type: string): Line[] => lines.filter((line) => line['type'] === type);
      const { said, incidents, open, muted, unmuted, alerts } = scenario.expect;
      assert.deepEqual(
        ofType('notification').map((line) => [
          secondOf(line),
          `${line['incident']}/${line['episode']} ${line['reason']} ${line['severity']}`,
        ]),
        said,
      );
      const last = new Map(ofType('incident').map((line) => [line['id'], line]));
      const changes = (change: string): number => ofType('incident').filter((line) => line['change'] === change).length;
      assert.deepEqual(
        {
          incidents: last.size,
          open: [...last.values()].filter(({ state }) => state !== 'resolved').length,
          muted: changes('muted'),
          unmuted: changes('unmuted'),
        },
        { incidents, open, muted, unmuted },
      );
      if (alerts !== undefined) assert.equal(ofType('alert').length, alerts);
      checkLives(ofType('incident'), scenario.expect);
    });
  }
});

/** What is expected of members, leads, timelines and states, where a file says so. */
function checkLives(changes: readonly Line[], expect: Scenario['expect']): void {
  const last = [...new Map(changes.map((line) => [line['id'], line])).values()];
  if (expect.members !== undefined) {
    assert.deepEqual(
      last.map(({ alerts }) => alerts),
      expect.members,
    );
  }
  if (expect.leads !== undefined) {
    assert.deepEqual(
      last.map(({ lead }) => lead),
      expect.leads,
    );
  }
  if (expect.lines !== undefined) {
    assert.deepEqual(
      changes.map((line) => [secondOf(line), `${line['id']} ${line['change']}`]),
      expect.lines,
    );
  }
  for (const [kind, times] of Object.entries(expect.linesOf ?? {})) {
    assert.deepEqual(changes.filter(({ change }) => change === kind).map(secondOf), times, kind);
  }
  for (const [at, what] of expect.stateAt ?? []) {
    const id = Number(what.split(' ')[0]);
    const before = changes.filter((line) => line['id'] === id && secondOf(line) <= at).at(-1);
    assert.equal(`${id} ${String(before?.['state'])}`, what, `at ${at}`);
  }
}
