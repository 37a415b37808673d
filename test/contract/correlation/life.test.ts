import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createReplay } from '../../../src/app/replay.ts';
import type { ReplayLine } from '../../../src/app/replay-input.ts';
import { createLineSink } from '../../../src/app/replay-output.ts';
import { formatInstant } from '../../../src/base/instant.ts';
import { type EpochMs, epochMs } from '../../../src/base/units.ts';
import type { Rules } from '../../../src/config/config.ts';
import { loadRules } from '../../../src/config/load.ts';
import { decodeJsonMetrics } from '../../../src/otlp/decode-json.ts';
import { Pusher } from '../../support/live-service.ts';

/**
 * Scenarios of the life of alerts and incidents, in the format of the files beside this one; `expect` may say more than
 * what is sent: members and leads by incident, lines of the timelines, states at moments.
 */
interface Scenario {
  readonly id: string;
  readonly title: string;
  readonly source: string;
  readonly correlation: string;
  readonly events: readonly (readonly [at: number, fields: Fields])[];
  readonly until: number;
  readonly expect: Expectation;
}
interface Expectation {
  /** Every message: when, and `incident/episode reason severity`. */
  readonly said: readonly (readonly [at: number, what: string])[];
  readonly incidents: number;
  readonly open: number;
  readonly members?: readonly (readonly string[])[];
  readonly leads?: readonly string[];
  /** Every line of the timelines: when, and `incident change`. */
  readonly lines?: readonly (readonly [at: number, what: string])[];
  /** When changes of one kind came. */
  readonly linesOf?: Readonly<Record<string, readonly number[]>>;
  /** `incident state` at moments. */
  readonly stateAt?: readonly (readonly [at: number, what: string])[];
}
type Fields = Readonly<Record<string, unknown>>;
type Line = Readonly<Record<string, unknown>>;

const IDS = ['C12', 'C12-late', 'C13', 'C16', 'C17', 'C19', 'C20', 'C23', 'C25', 'C26', 'C33'];
const PACKAGE = join(import.meta.dirname, '..', '..', '..');
const START = epochMs(1_800_000_000_000);
const instantAt = (second: number): EpochMs => epochMs(START + second * 1000);
const secondOf = (line: Line): number => (Date.parse(String(line['at'])) - START) / 1000;

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
  if (typeof value === 'number' && ['until', 'startsAt', 'endsAt'].includes(key))
    return formatInstant(instantAt(value));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, timed(one, name)]));
}

/** What a replay writes; `metrics` names a balancer that pushes at that moment. */
function replay(scenario: Scenario): Line[] {
  const written: Line[] = [];
  const run = createReplay(
    rulesOf(scenario),
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
    if (fields['alerts'] !== undefined) return { ...base, kind: 'alerts', alerts: fields['alerts'] as unknown[] };
    return fields['action'] === undefined ? { ...base, kind: 'time' } : { ...base, kind: 'action', action: fields };
  };
  for (const [second, fields] of scenario.events) assert.equal(run.line(lineOf(second, timed(fields) as Fields)), null);
  run.finish(instantAt(scenario.until));
  return written;
}

function check(lines: readonly Line[], expect: Expectation): void {
  const said = lines.filter(({ type }) => type === 'notification');
  const changes = lines.filter(({ type }) => type === 'incident');
  assert.deepEqual(
    said.map((one) => [secondOf(one), `${one['incident']}/${one['episode']} ${one['reason']} ${one['severity']}`]),
    expect.said,
  );
  const last = [...new Map(changes.map((line) => [line['id'], line])).values()];
  assert.equal(last.length, expect.incidents);
  assert.equal(last.filter(({ state }) => state !== 'resolved').length, expect.open);
  if (expect.members !== undefined)
    assert.deepEqual(
      last.map(({ alerts }) => alerts),
      expect.members,
    );
  if (expect.leads !== undefined)
    assert.deepEqual(
      last.map(({ lead }) => lead),
      expect.leads,
    );
  if (expect.lines !== undefined) {
    assert.deepEqual(
      changes.map((one) => [secondOf(one), `${one['id']} ${one['change']}`]),
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

describe('the life of alerts and incidents', () => {
  for (const id of IDS) {
    const file = join(import.meta.dirname, `${id}.json`);
    const scenario = JSON.parse(readFileSync(file, 'utf8')) as Scenario;
    test(`${id}: ${scenario.title} (${scenario.source})`, () => check(replay(scenario), scenario.expect));
  }
  test('each file is read', () => {
    const names = readdirSync(import.meta.dirname);
    for (const id of IDS) assert.ok(names.includes(`${id}.json`), id);
  });
});
