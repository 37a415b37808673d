import type { Clock } from '../base/clock.ts';
import { parseInstant } from '../base/instant.ts';
import type { EpochMs } from '../base/units.ts';
import type { IncidentAction } from '../model/incident.ts';
import type { CommandOutcome, Commands, Queries } from '../model/views.ts';
import type { NoiseMarkStore } from '../store/sqlite-noise-marks.ts';
import type { Corrections } from './corrections.ts';
import type { Evaluator } from './evaluate.ts';
import type { FollowUps } from './follow-ups.ts';
import type { ForeignAlerts } from './foreign-alerts.ts';
import type { Silences } from './silences.ts';

/** The write side: a person's action goes through the correlator, is committed, and the sender is woken. */
export function createCommands(deps: {
  clock: Clock;
  evaluator: Evaluator;
  corrections: Corrections;
  foreign: ForeignAlerts;
  silences: Silences;
  followUps: FollowUps;
  noiseMarks: NoiseMarkStore;
  queries: Queries;
  wakeSender: () => void;
  /** Something that people look at has changed. */
  noteChange: () => void;
}): Commands {
  return {
    act(incident, fields): CommandOutcome {
      const now = deps.clock.now();
      const action = toAction(fields, now);
      if (typeof action === 'string') return { kind: 'conflict', message: action };
      const acted = deps.evaluator.act(incident, action, now);
      if (acted.kind !== 'done') return acted;
      deps.wakeSender();
      deps.noteChange();
      const after = deps.queries.incident(incident);
      return after === null ? { kind: 'not_found' } : { kind: 'done', incident: after };
    },
    judge({ incident, isNoise, by, note }) {
      if (deps.queries.incident(incident) === null) return { kind: 'not_found' };
      deps.noiseMarks.add({ incident, at: deps.clock.now(), by, isNoise, note });
      const after = deps.queries.incident(incident);
      return after === null ? { kind: 'not_found' } : { kind: 'done', incident: after };
    },
    addFollowUp: (request) => deps.followUps.add(request, deps.clock.now()),
    markFollowUp: (id, isDone, by) => deps.followUps.mark(id, isDone, by, deps.clock.now()),
    receiveAlerts: (alerts, way) => deps.foreign.receive(alerts, way, deps.clock.now()),
    setSilence: (request) => deps.silences.set(request, deps.clock.now()),
    expireSilence: (id) => deps.silences.expire(id, deps.clock.now()),
    correct: (request) => deps.corrections.create(request, deps.clock.now()),
    changeCorrection: (id, change) => deps.corrections.change(id, change, deps.clock.now()),
  };
}

type Fields = Parameters<Commands['act']>[1];

function toAction(
  { kind, by, note, until, into = null, alerts = null, checks = null }: Fields,
  now: EpochMs,
): IncidentAction | string {
  const at = until === null ? null : (parseInstant(until) ?? null);
  if (until !== null && (at === null || at <= now)) return '"until" must be an RFC 3339 time in the future';
  switch (kind) {
    case 'acknowledge':
      return { kind, by, note, until: at };
    case 'snooze':
      return at === null ? '"snooze" needs "until", an RFC 3339 time in the future' : { kind, by, note, until: at };
    case 'note':
      return note === null || note.trim() === '' ? '"note" needs a text in "note"' : { kind, by, note };
    case 'merge':
      return into === null ? '"merge" needs "into", the id of an open incident' : { kind, by, note, into };
    case 'split':
      return alerts === null ? '"split" needs "alerts", keys of its alerts' : { kind, by, note, alerts };
    case 'update':
      if (note === null || note.trim() === '') return '"update" needs in "note" what customers were told';
      return { kind, by, note, until: at };
    case 'resolve':
      return { kind, by, note, ...(checks === null ? {} : { checks }) };
    case 'unacknowledge':
    case 'reopen':
      return { kind, by, note };
  }
}
