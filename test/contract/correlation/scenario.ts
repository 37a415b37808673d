import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatInstant } from '../../../src/base/instant.ts';
import { type EpochMs, epochMs } from '../../../src/base/units.ts';
import type { Rules } from '../../../src/config/config.ts';
import { loadRules } from '../../../src/config/load.ts';
import { Pusher } from '../../support/live-service.ts';

/**
 * Situations in which other tools are known to go wrong, each a file beside this one: what happens (seconds from the start,
 * and the fields of a line of replay, times in seconds too), under which correlation.yaml, and what must come of it.
 * Beyond what replay knows: `metrics` names a balancer that pushes at that moment, `restart` is a new process over the same
 * data, `reload` reads the rules again, and `receivers` answer as written. `for` repeats the alerts of an event for every
 * number of each range, in place of `{name}`; `every` and `last` repeat the event itself.
 */
export interface Scenario {
  readonly id: string;
  readonly title: string;
  readonly source: string;
  /** Where and why the outcome is not what its source asks for. */
  readonly note?: string;
  /** What truly caused its alerts, each with the matcher of those: for the score, where people do nothing in it. */
  readonly causes?: Readonly<Record<string, string>>;
  /** A correlation.yaml; empty = the shipped one. */
  readonly correlation: string;
  readonly receivers?: readonly ScriptedReceiver[];
  readonly events: readonly (readonly [at: number, fields: Fields])[];
  readonly until: number;
  readonly expect: Expected;
}

export interface ScriptedReceiver {
  readonly name: string;
  readonly sendResolved?: boolean;
  readonly pageBudget?: { readonly pages: number; readonly per: string };
  /** The first that holds decides; where none does, the answer is 200. `calls` = the first so many; `before` = seconds. */
  readonly answers?: readonly {
    readonly calls?: number;
    readonly before?: number;
    readonly status: number;
    /** Seconds. */
    readonly retryAfter?: number;
  }[];
}

export interface Expected {
  /** Every message that was decided: when (or not before and not after), and `incident/episode reason severity`. */
  readonly said: readonly (readonly [at: number | readonly [number, number], what: string])[];
  /** What the receivers took, in any order: not before, not after, `receiver incident/episode reason, n alerts`. */
  readonly heard?: readonly (readonly [from: number, to: number, what: string])[];
  /** When a receiver was called without taking it: the times, or at least how many. */
  readonly refused?: readonly number[] | { readonly atLeast: number };
  /** What the text of each message taken must contain, in the order in which they came. */
  readonly texts?: readonly string[];
  /** What pages must show at the end. */
  readonly shows?: Readonly<Record<string, string>>;
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
  /** Of each incident, where there are too many to name. */
  readonly memberCounts?: readonly number[];
  readonly titles?: readonly string[];
  /** Every line of the timelines: when, and `incident change`. */
  readonly lines?: readonly (readonly [at: number, what: string])[];
  /** When changes of one kind came. */
  readonly linesOf?: Readonly<Record<string, readonly number[]>>;
  /** `incident state` at moments. */
  readonly stateAt?: readonly (readonly [at: number, what: string])[];
}
export type Fields = Readonly<Record<string, unknown>>;
/** As replay writes them. */
export type Line = Readonly<Record<string, unknown>>;

const PACKAGE = join(import.meta.dirname, '..', '..', '..');
export const START = epochMs(1_800_000_000_000);
export const instantAt = (second: number): EpochMs => epochMs(START + second * 1000);
export const secondOf = (at: unknown): number => (Date.parse(String(at)) - START) / 1000;

/** Every scenario, by file name. */
export function readScenarios(): readonly Scenario[] {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.json'));
  return files.sort().map((file) => {
    const scenario = JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as Scenario;
    assert.equal(`${scenario.id}.json`, file);
    return { ...scenario, events: repeated(scenario.events).map(([at, fields]) => [at, toFields(fields)] as const) };
  });
}

/** Whether replay can express it: there, receivers take all that there is. */
export const isReplayable = ({ receivers = [], events }: Scenario): boolean =>
  receivers.every(({ name: _, ...script }) => Object.keys(script).length === 0) &&
  events.every(([, { restart, reload }]) => restart !== true && reload !== true);

/** Files of its rules folder. */
export const ruleFilesOf = ({ correlation }: Scenario): Readonly<Record<string, string>> => ({
  'routes.yaml': 'routes: []\n',
  ...(correlation === '' ? {} : { 'correlation.yaml': correlation }),
});

export function rulesOf(scenario: Scenario): Rules {
  const folder = mkdtempSync(join(tmpdir(), 'slowburn-scenario-'));
  try {
    for (const [name, text] of Object.entries(ruleFilesOf(scenario))) writeFileSync(join(folder, name), text);
    const options = { rulesDir: folder, shippedDir: join(PACKAGE, 'rules'), runbooksDir: join(PACKAGE, 'runbooks') };
    const { rules, problems } = loadRules(options);
    assert.ok(rules !== null, JSON.stringify(problems));
    return rules;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function repeated(events: Scenario['events']): Scenario['events'] {
  const all = events.flatMap(([at, { every, last, ...fields }]) => {
    if (every === undefined) return [[at, fields] as const];
    const count = 1 + Math.floor((Number(last) - at) / Number(every));
    return Array.from({ length: count }, (_, index) => [at + index * Number(every), fields] as const);
  });
  return all.sort(([a], [b]) => a - b);
}

function toFields({ for: ranges, ...fields }: Fields): Fields {
  if (ranges === undefined) return timed(fields) as Fields;
  let alerts = fields['alerts'] as readonly unknown[];
  for (const [name, [from, to]] of Object.entries(ranges as Record<string, [number, number]>)) {
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    alerts = numbers.flatMap((number) =>
      alerts.map((alert) => JSON.parse(JSON.stringify(alert).replaceAll(`{${name}}`, String(number))) as unknown),
    );
  }
  return timed({ ...fields, alerts }) as Fields;
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

/** The balancers of a scenario: what each pushes at a `metrics` event. */
export class Balancers {
  readonly #pushers = new Map<string, Pusher>();

  body({ metrics, side = 'downstream', responses = { '2xx': 60 } }: Fields, at: EpochMs): string {
    const instance = String(metrics);
    const options = { instance, side: String(side), startMs: START - 60_000 };
    const pusher = this.#pushers.get(instance) ?? new Pusher(options);
    this.#pushers.set(instance, pusher);
    return pusher.body(responses as Readonly<Record<string, number>>, 'checkout', at);
  }
}

/** Holds lines as replay writes them against what is expected of incidents and messages. */
export function checkLines(lines: readonly Line[], expect: Expected): void {
  const ofType = (type: string): readonly Line[] => lines.filter((line) => line['type'] === type);
  const { said, incidents, open, muted, unmuted, alerts } = expect;
  const decided = ofType('notification').map((line) => {
    const what = `${line['incident']}/${line['episode']} ${line['reason']} ${line['severity']}`;
    return [secondOf(line['at']), what] as const;
  });
  assert.deepEqual(
    decided,
    said.map(([when, what], index) => {
      if (typeof when === 'number') return [when, what];
      const at = decided[index]?.[0] ?? Number.NaN;
      return [at >= when[0] && at <= when[1] ? at : when, what];
    }),
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
  if (alerts !== undefined && ofType('alert').length > 0) assert.equal(ofType('alert').length, alerts);
  checkLives(ofType('incident'), expect);
}

/** What is expected of members, leads, timelines and states, where a file says so. */
function checkLives(changes: readonly Line[], expect: Expected): void {
  const last = [...new Map(changes.map((line) => [line['id'], line])).values()];
  const ofLast = {
    members: last.map(({ alerts }) => alerts),
    memberCounts: last.map(({ alerts }) => (alerts as readonly string[]).length),
    leads: last.map(({ lead }) => lead),
    titles: last.map(({ title }) => title),
    lines: changes.map((line) => [secondOf(line['at']), `${line['id']} ${line['change']}`]),
  };
  for (const key of ['members', 'memberCounts', 'leads', 'titles', 'lines'] as const) {
    if (expect[key] !== undefined) assert.deepEqual(ofLast[key], expect[key], key);
  }
  for (const [kind, times] of Object.entries(expect.linesOf ?? {})) {
    const found = changes.filter(({ change }) => change === kind).map(({ at }) => secondOf(at));
    assert.deepEqual(found, times, kind);
  }
  for (const [at, what] of expect.stateAt ?? []) {
    const id = Number(what.split(' ')[0]);
    const before = changes.filter((line) => line['id'] === id && secondOf(line['at']) <= at).at(-1);
    assert.equal(`${id} ${String(before?.['state'])}`, what, `at ${at}`);
  }
}
