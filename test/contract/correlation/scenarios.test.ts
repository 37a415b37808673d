import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createEngine, type Engine } from '../../../src/app/engine.ts';
import { createForeignAlerts } from '../../../src/app/foreign-alerts.ts';
import { createReplay } from '../../../src/app/replay.ts';
import type { ReplayLine } from '../../../src/app/replay-input.ts';
import { createLineSink } from '../../../src/app/replay-output.ts';
import { TICK_MS } from '../../../src/app/ticker.ts';
import { formatInstant } from '../../../src/base/instant.ts';
import { type EpochMs, epochMs } from '../../../src/base/units.ts';
import type { Rules } from '../../../src/config/config.ts';
import { loadRules } from '../../../src/config/load.ts';
import { createWebhookNotifier } from '../../../src/notify/webhook/notifier.ts';
import { createMemoryStore } from '../../../src/store/memory-store.ts';

/**
 * Situations in which other tools are known to go wrong, each a file beside this one: what happens (seconds from the start,
 * and the fields of a line of replay, times in seconds too), under which correlation.yaml, and what must come of it.
 * `restart` is a new process over the same store, which a replay cannot express: such a file runs the engine itself.
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
  };
}
type Fields = Readonly<Record<string, unknown>>;
type Line = Readonly<Record<string, string | number>>;

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
  for (const [second, given] of scenario.events) {
    const fields = timed(given) as Fields;
    const base = { where: scenario.id, at: instantAt(second) };
    const line: ReplayLine =
      fields['alerts'] !== undefined
        ? { ...base, kind: 'alerts', alerts: fields['alerts'] as unknown[] }
        : fields['action'] !== undefined
          ? { ...base, kind: 'action', action: fields }
          : { ...base, kind: 'time' };
    assert.equal(run.line(line), null);
  }
  run.finish(instantAt(scenario.until));
  return written;
}

/** The engine that serve and replay run, over one store that survives its processes. */
function runEngine(scenario: Scenario, rules: Rules): Line[] {
  const written: Line[] = [];
  const sink = createLineSink((line) => written.push(JSON.parse(line) as Line));
  const store = createMemoryStore();
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
  let engine = begin(START);
  let foreign = createForeignAlerts(rules.correlation);
  const waiting = [...scenario.events];
  for (let second = 0; second <= scenario.until; second += TICK_MS / 1000) {
    for (let next = waiting[0]; next !== undefined && next[0] <= second; next = waiting[0]) {
      waiting.shift();
      const fields = timed(next[1]) as Fields;
      if (fields['restart'] === true) {
        engine = begin(instantAt(next[0]));
        foreign = createForeignAlerts(rules.correlation);
      } else assert.equal(foreign.receive(fields['alerts'] as unknown[], instantAt(next[0])), null);
    }
    sink.outcome(engine.evaluator.tick(instantAt(second), foreign.due(instantAt(second))));
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
    });
  }
});
