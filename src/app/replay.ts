import { parseInstant } from '../base/instant.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import type { Rules } from '../config/config.ts';
import type { IncidentAction } from '../model/incident.ts';
import { labelsKey } from '../model/labels.ts';
import type { AlertsReceived } from '../model/views.ts';
import { decodeMetrics } from '../otlp/decode-metrics.ts';
import { Staging } from '../otlp/staging.ts';
import { createMemoryForeignAlerts } from '../store/foreign-alert-store.ts';
import { createMemoryCorrections } from '../store/memory-corrections.ts';
import { createMemorySilences } from '../store/memory-silences.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { type Corrections, createCorrections } from './corrections.ts';
import type { Engine } from './engine.ts';
import { createForeignAlerts, type ForeignAlerts } from './foreign-alerts.ts';
import { actOnCorrection, CORRECTION_ACTIONS, isCorrectionAction } from './replay-correction.ts';
import type { ReplayLine } from './replay-input.ts';
import { compareText, type ReplaySink } from './replay-output.ts';
import { isSilenceOfAlerts, silenceFrom } from './replay-silence.ts';
import { createSilences, type Silences } from './silences.ts';
import { TICK_MS, tickAtOrAfter } from './ticker.ts';
import { createUnsentEngine } from './unsent-engine.ts';

/** A metrics line that jumps further than this waits for the next line, which may take the jump back. */
const JUMP_MS = 3_600_000;

export interface Replay {
  /** Applies one line. Returns a message when the line is bad and was skipped. */
  line(line: ReplayLine): string | null;
  /** Runs the last ticks, up to `until` if given, and closes the sink. */
  finish(until: EpochMs | null): void;
  /** Where the replay's time stands; null before the first line. */
  now(): EpochMs | null;
  points(): number;
}

/**
 * History through the same engine as serve, on a clock that the lines move (design section 5, "Replay, exactly").
 * `sink` hears what happens, in the order of time.
 */
export function createReplay(rules: Rules, sink: ReplaySink): Replay {
  const engine = createUnsentEngine(rules);
  const foreign = createForeignAlerts({
    settings: rules.correlation,
    store: createMemoryForeignAlerts(),
    firing: () => engine.evaluator.firing(),
    balancers: (now) => engine.aggregate.balancers(now),
  });
  const ids = new Set(rules.slos.map(({ id }) => id));
  const corrections = createCorrections({
    store: createMemoryCorrections(),
    book: engine.corrections,
    cells: engine.aggregate,
    slos: () => ids,
  });
  let silencesMade = 0;
  const silences = createSilences({
    store: createMemorySilences(),
    book: engine.mutes,
    firing: () => engine.evaluator.firing(),
    incidents: createMemoryStore(),
    runbookUrl: (runbook) => runbook,
    newId: () => String(++silencesMade),
  });
  return new ReplayRun(engine, foreign, { corrections, silences }, sink);
}

/** What people can do beside acting on incidents. */
interface People {
  readonly corrections: Corrections;
  readonly silences: Silences;
}

class ReplayRun implements Replay {
  readonly #engine: Engine;
  readonly #foreign: ForeignAlerts;
  readonly #people: People;
  readonly #sink: ReplaySink;
  readonly #staging = new Staging();
  #now: EpochMs | null = null;
  #nextTick = epochMs(0);
  #points = 0;
  /** A line that jumped, held until the next one shows whether the jump is real. */
  #held: { readonly line: ReplayLine & { kind: 'metrics' }; readonly at: EpochMs } | null = null;

  constructor(engine: Engine, foreign: ForeignAlerts, people: People, sink: ReplaySink) {
    this.#engine = engine;
    this.#foreign = foreign;
    this.#people = people;
    this.#sink = sink;
  }

  now(): EpochMs | null {
    return this.#now;
  }

  points(): number {
    return this.#points;
  }

  line(line: ReplayLine): string | null {
    if (line.kind === 'bad') return line.message;
    const at = this.#timeOf(line);
    if (typeof at === 'string') return at;
    this.#releaseHeld(at);
    if (line.kind === 'metrics' && this.#now !== null && at > this.#now + JUMP_MS) {
      this.#held = { line, at };
      return null;
    }
    return this.#apply(line, at);
  }

  finish(until: EpochMs | null): void {
    this.#releaseHeld(null);
    if (this.#now === null && until === null) return;
    if (until !== null && (this.#now === null || until > this.#now)) this.#moveTo(until);
    if (this.#now !== null) this.#runTicks(epochMs(this.#now + 1));
    const statuses = [...this.#engine.burn.statuses()].sort(
      (a, b) => compareText(a.slo.id, b.slo.id) || compareText(labelsKey(a.labels), labelsKey(b.labels)),
    );
    this.#sink.close(this.#now ?? epochMs(0), statuses);
  }

  /** The line's own time, or why it is bad. A metrics line without points moves nothing. */
  #timeOf(line: Exclude<ReplayLine, { kind: 'bad' }>): EpochMs | string {
    if (line.kind !== 'metrics') return line.at;
    try {
      decodeMetrics(line.body, this.#staging);
    } catch (error) {
      return (error as Error).message;
    }
    let newest = Number.NEGATIVE_INFINITY;
    for (let point = 0; point < this.#staging.pointCount; point += 1) {
      newest = Math.max(newest, this.#staging.timeMs[point] ?? 0);
    }
    return epochMs(newest);
  }

  #releaseHeld(next: EpochMs | null): void {
    if (this.#held === null) return;
    const { line, at } = this.#held;
    this.#held = null;
    const base = this.#now ?? at;
    const takenBack = next !== null && next < at && next <= base + JUMP_MS;
    this.#apply(line, takenBack ? base : at);
  }

  #moveTo(at: EpochMs): void {
    if (this.#now === null) {
      this.#now = at;
      this.#nextTick = tickAtOrAfter(at);
      return;
    }
    if (at <= this.#now) return;
    this.#runTicks(at);
    this.#now = at;
  }

  /** Runs every tick before `end` that has not run. */
  #runTicks(end: EpochMs): void {
    while (this.#nextTick < end) {
      this.#sink.outcome(this.#engine.evaluator.tick(this.#nextTick, () => this.#foreign.due(this.#nextTick)));
      this.#nextTick = epochMs(this.#nextTick + TICK_MS);
    }
  }

  #apply(line: Exclude<ReplayLine, { kind: 'bad' }>, at: EpochMs): string | null {
    if (Number.isFinite(at)) this.#moveTo(at);
    const now = this.#now;
    if (now === null) return null;
    switch (line.kind) {
      case 'metrics': {
        decodeMetrics(line.body, this.#staging);
        const outcome = this.#engine.series.apply(this.#staging, {
          receivedAt: now,
          peer: 'replay',
          identityHeader: null,
        });
        this.#points += outcome.points;
        return null;
      }
      case 'alerts':
        return wrongAlerts(this.#foreign.receive(line.alerts, 'alerts', now));
      case 'action':
        return this.#act(line.action, now);
      case 'time':
        return null;
    }
  }

  #act(fields: Readonly<Record<string, unknown>>, now: EpochMs): string | null {
    const name = fields['action'];
    if (isCorrectionAction(name)) return actOnCorrection(this.#people.corrections, name, fields, now);
    if (isSilenceOfAlerts(fields)) return silenceFrom(this.#people.silences, fields, now);
    const action = readAction(fields);
    if (typeof action === 'string') return action;
    const incident = fields['incident'];
    if (incident !== undefined && !Number.isInteger(incident)) return '"incident" is not a whole number';
    const acted = this.#engine.evaluator.act((incident as number | undefined) ?? 'newest_open', action, now);
    if (acted.kind === 'not_found') return `no such incident`;
    if (acted.kind === 'conflict') return acted.message;
    if (acted.outcome !== undefined) this.#sink.outcome(acted.outcome);
    return null;
  }
}

/** What was wrong with alerts of a line; null when all are good. */
const wrongAlerts = ({ refused }: AlertsReceived): string | null =>
  refused.length === 0 ? null : refused.map(({ index, reason }) => `alert ${index + 1}: ${reason}`).join('; ');

function readAction(fields: Readonly<Record<string, unknown>>): IncidentAction | string {
  const text = (name: string): string | null => (typeof fields[name] === 'string' ? (fields[name] as string) : null);
  const by = text('by') ?? 'replay';
  const note = text('note');
  const untilText = text('until');
  const until = untilText === null ? null : (parseInstant(untilText) ?? null);
  if (untilText !== null && until === null) return '"until" is not an RFC 3339 time';
  const kind = text('action');
  switch (kind) {
    case 'acknowledge':
      return { kind, by, note, until };
    case 'unacknowledge':
    case 'resolve':
    case 'reopen':
      return { kind, by, note };
    case 'snooze':
    case 'silence':
      return until === null ? `"${kind}" needs "until"` : { kind: 'snooze', by, note, until };
    case 'merge':
      return Number.isInteger(fields['into'])
        ? { kind, by, note, into: fields['into'] as number }
        : '"merge" needs "into", the id of an incident';
    case 'split': {
      const { alerts } = fields;
      const isList = Array.isArray(alerts) && alerts.every((alert) => typeof alert === 'string');
      return isList ? { kind, by, note, alerts } : '"split" needs "alerts", a list of keys';
    }
    case 'note':
      return note === null ? '"note" needs "note"' : { kind, by, note };
    default:
      return `unknown action ${JSON.stringify(fields['action'])}: one of acknowledge, unacknowledge, resolve, reopen, snooze, silence, note, merge, split, ${CORRECTION_ACTIONS.join(', ')}`;
  }
}
