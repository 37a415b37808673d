import { type EpochMs, epochMs, HOUR } from '../../src/base/units.ts';
import { createCorrelator } from '../../src/correlate/correlate.ts';
import type { CorrelationResult } from '../../src/correlate/correlator.ts';
import type { LabelledAlert, LabelledCause, LabelledScene } from '../../src/correlate/score.ts';
import type { CorrelationSettings } from '../../src/correlate/settings.ts';
import type { AlertChange } from '../../src/model/alert.ts';
import type { Incident, Notification } from '../../src/model/incident.ts';
import { type AlertStream, ended } from './stream.ts';

const TICK_MS = 10_000;
/** After the last change until everything that can close has closed. */
const AFTERWARDS_MS = HOUR;
const CLOSING: readonly string[] = ['resolved', 'merged'];

interface Told {
  readonly incident: number;
  readonly episode: number;
  readonly at: EpochMs;
  readonly reason: Notification['reason'];
  readonly isPage: boolean;
}

interface Run {
  /** Of each firing of an alert, the incident that had it last. */
  readonly alerts: readonly LabelledAlert[];
  readonly told: readonly Told[];
  /** By cause: the first page about an incident that held an alert of it. */
  readonly pagedAt: ReadonlyMap<string, EpochMs>;
}

/**
 * Runs the failures of some streams through the correlator tick by tick, once as it is and once with a restart in the
 * middle, and says what came of them.
 */
export function runScene(streams: readonly AlertStream[], settings: CorrelationSettings): LabelledScene {
  const byTick = ticksOf(streams);
  const run = correlateAll(byTick, settings, null);
  const ticks = [...byTick.keys()];
  const restarted = correlateAll(byTick, settings, ticks[Math.floor(ticks.length / 2)] ?? null);
  const causes = streams.map(({ cause, changes, deservesPage }): LabelledCause => {
    const since = epochMs(Math.min(...changes.map(({ alert }) => alert.since)));
    return { cause, since, deservesPage, pagedAt: run.pagedAt.get(cause) ?? null };
  });
  return {
    alerts: run.alerts,
    causes,
    pages: run.told.filter(({ isPage }) => isPage).length,
    leftOpen: leftOpenOf(run.told),
    changedByRestart: differences(run.told, restarted.told),
  };
}

/** Episodes of which something was told, and that were not closed exactly once. */
function leftOpenOf(told: readonly Told[]): number {
  const closed = new Map<string, number>();
  for (const { incident, episode, reason } of told) {
    const key = `${incident}/${episode}`;
    closed.set(key, (closed.get(key) ?? 0) + (CLOSING.includes(reason) ? 1 : 0));
  }
  return [...closed.values()].filter((count) => count !== 1).length;
}

interface Caused {
  readonly cause: string;
  readonly change: AlertChange;
}

/** What comes at each tick, in the order of time; a tick in which nothing comes is there as well. */
function ticksOf(streams: readonly AlertStream[]): ReadonlyMap<EpochMs, readonly Caused[]> {
  const all = streams.flatMap((stream) => ended(stream).map((change) => ({ cause: stream.cause, change })));
  const byTick = new Map<EpochMs, Caused[]>();
  const tickOf = ({ at }: AlertChange): number => Math.ceil(at / TICK_MS) * TICK_MS;
  const times = all.map(({ change }) => tickOf(change));
  const [from, to] = [
    times.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY),
    times.reduce((a, b) => Math.max(a, b), 0),
  ];
  for (let at = from; at <= to + AFTERWARDS_MS; at += TICK_MS) byTick.set(epochMs(at), []);
  for (const one of all) byTick.get(epochMs(tickOf(one.change)))?.push(one);
  return byTick;
}

class Watch {
  /** By firing of an alert: key and start. */
  readonly #incidentOf = new Map<string, LabelledAlert>();
  /** The firing that an alert is in, by key. */
  readonly #current = new Map<string, { readonly cause: string; readonly firing: string }>();
  readonly #causesOf = new Map<number, Set<string>>();
  readonly told: Told[] = [];
  readonly pagedAt = new Map<string, EpochMs>();

  hear(changes: readonly Caused[], result: CorrelationResult): void {
    for (const { cause, change } of changes) {
      const { key } = change.alert;
      if (change.kind === 'fired') this.#current.set(key, { cause, firing: `${key} ${change.at}` });
    }
    for (const incident of result.incidents) this.#see(incident);
    for (const { incident, at, reason, severity } of result.notifications)
      this.#hearOne(incident, at, reason, severity);
    for (const { change } of changes) if (change.kind === 'resolved') this.#current.delete(change.alert.key);
  }

  alerts(): readonly LabelledAlert[] {
    return [...this.#incidentOf.values()];
  }

  #see(incident: Incident): void {
    for (const { alert, state } of incident.members) {
      const current = this.#current.get(alert.key);
      if (current === undefined || state !== 'firing') continue;
      this.#incidentOf.set(current.firing, { cause: current.cause, incident: incident.id });
      const causes = this.#causesOf.get(incident.id) ?? new Set();
      this.#causesOf.set(incident.id, causes.add(current.cause));
    }
  }

  #hearOne(incident: Incident, at: EpochMs, reason: Notification['reason'], severity: string): void {
    const isPage = severity === 'page' && !CLOSING.includes(reason) && reason !== 'deescalated';
    this.told.push({ incident: incident.id, episode: incident.episode, at, reason, isPage });
    if (!isPage) return;
    for (const cause of this.#causesOf.get(incident.id) ?? []) {
      if (!this.pagedAt.has(cause)) this.pagedAt.set(cause, at);
    }
  }
}

/** With `restartAt`, a new correlator that knows only what a store has goes on from that tick. */
function correlateAll(
  byTick: ReadonlyMap<EpochMs, readonly Caused[]>,
  settings: CorrelationSettings,
  restartAt: EpochMs | null,
): Run {
  let correlator = createCorrelator(settings);
  const stored = new Map<number, Incident>();
  const watch = new Watch();
  for (const [now, changes] of byTick) {
    if (now === restartAt) {
      correlator = createCorrelator(settings);
      correlator.restore([...stored.values()], Math.max(0, ...stored.keys()) + 1);
    }
    const result = correlator.correlate(
      changes.map(({ change }) => change),
      now,
    );
    for (const incident of result.incidents) stored.set(incident.id, incident);
    watch.hear(changes, result);
  }
  return { alerts: watch.alerts(), told: watch.told, pagedAt: watch.pagedAt };
}

function differences(one: readonly Told[], other: readonly Told[]): number {
  const nameOf = ({ incident, episode, at, reason }: Told): string => `${incident}/${episode} ${at} ${reason}`;
  const [a, b] = [new Set(one.map(nameOf)), new Set(other.map(nameOf))];
  return [...a].filter((name) => !b.has(name)).length + [...b].filter((name) => !a.has(name)).length;
}
