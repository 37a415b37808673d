import Database from 'better-sqlite3';
import { AppError } from '../base/app-error.ts';
import type { EpochMs } from '../base/units.ts';
import { labelsKey } from '../model/labels.ts';
import {
  decodeChange,
  decodeHookCall,
  decodeHourly,
  decodeIncident,
  encodeChange,
  encodeHookCall,
  encodeHourly,
  encodeIncident,
} from './codec.ts';
import type { CorrectionStore } from './correction-store.ts';
import type { ForeignAlertStore } from './foreign-alert-store.ts';
import { guarded } from './guarded.ts';
import { CORRECTIONS } from './migrations/corrections.ts';
import { FOLLOW_UPS } from './migrations/follow-ups.ts';
import { FOREIGN_ALERTS } from './migrations/foreign-alerts.ts';
import { HOOKS } from './migrations/hooks.ts';
import { HOURLY } from './migrations/hourly.ts';
import { INIT } from './migrations/init.ts';
import { NOISE_MARKS } from './migrations/noise-marks.ts';
import { SENDS } from './migrations/sends.ts';
import { SILENCES } from './migrations/silences.ts';
import type { SilenceStore } from './silence-store.ts';
import { createSqliteCorrections } from './sqlite-corrections.ts';
import { createSqliteFollowUps, type FollowUpStore } from './sqlite-follow-ups.ts';
import { createSqliteForeignAlerts } from './sqlite-foreign-alerts.ts';
import { createSqliteNoiseMarks, type NoiseMarkStore } from './sqlite-noise-marks.ts';
import { createSqliteSilences } from './sqlite-silences.ts';
import {
  type Backlog,
  type Commit,
  HOURLY_KEPT_MS,
  type IncidentStore,
  type OutboxEntry,
  type Outcomes,
  REOPENABLE_MS,
} from './store.ts';

/** Applied in order; `user_version` counts how many a file has had. */
const MIGRATIONS: readonly string[] = [
  INIT,
  CORRECTIONS,
  SILENCES,
  FOREIGN_ALERTS,
  SENDS,
  HOOKS,
  FOLLOW_UPS,
  HOURLY,
  NOISE_MARKS,
];

const BUSY_MS = 5000;
/** A probe writes and syncs a page, so its answer is kept for so long. */
const PROBE_EVERY_MS = 1000;

/** Incidents and what stands beside them in the same file. */
export interface SqliteStore extends IncidentStore {
  readonly corrections: CorrectionStore;
  readonly followUps: FollowUpStore;
  readonly foreignAlerts: ForeignAlertStore;
  readonly noiseMarks: NoiseMarkStore;
  readonly silences: SilenceStore;
}

/**
 * The store of production: one SQLite file, WAL, synchronous FULL, one transaction per commit.
 * Throws STORE_SCHEMA_TOO_NEW for a file of a newer version, STORE_DAMAGED for one that is no sound database,
 * STORE_UNWRITABLE (retryable) when the disk refuses.
 */
export const openSqliteStore = (file: string): SqliteStore => storeOver(openDatabase(file));

/**
 * The same file to read from, beside the service that writes it. Throws STORE_UNREADABLE where none can be read,
 * STORE_SCHEMA_OLDER or STORE_SCHEMA_TOO_NEW for one of another version: reading does not change it.
 */
export function readSqliteStore(file: string): SqliteStore {
  const db = openToRead(file);
  const version = db.pragma('user_version', { simple: true }) as number;
  if (version === MIGRATIONS.length) return storeOver(db);
  db.close();
  if (version > MIGRATIONS.length) throw tooNew(file, version);
  throw new AppError('STORE_SCHEMA_OLDER', `${file} was written by an older slowburn (schema ${version})`, {
    hint: 'start this version on it once: that brings it up to date',
  });
}

function openToRead(file: string): Database.Database {
  try {
    return new Database(file, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
  } catch (cause) {
    throw new AppError('STORE_UNREADABLE', `${file} cannot be read: ${(cause as Error).message}`, {
      hint: 'name the data directory of a slowburn that has run, with --data',
      cause,
    });
  }
}

function storeOver(db: Database.Database): SqliteStore {
  const write = prepareWrites(db);
  const read = prepareReads(db);
  const commitAll = db.transaction((commit: Commit) => {
    for (const { key, value } of commit.alertStates) write.state.run(key, value);
    for (const key of commit.alertStatesRemoved) write.dropState.run(key);
    for (const incident of commit.incidents) {
      write.incident.run(incident.id, incident.state, incident.resolvedAt, encodeIncident(incident));
    }
    for (const change of commit.changes) write.change.run(change.incident, change.seq, encodeChange(change));
    for (const entry of commit.outbox) write.outbox.run(entry);
    for (const call of commit.hookCalls ?? []) {
      write.hookCall.run(call.id, call.incident, call.at, encodeHookCall(call));
    }
    for (const row of commit.hourly ?? []) write.hourly.run(row.hour, labelsKey(row.subject), encodeHourly(row));
    if (commit.hourly !== undefined) write.dropHours.run(commit.at - HOURLY_KEPT_MS);
  });

  return {
    load: (now) =>
      guarded(() => ({
        alertStates: read.states.all() as { key: string; value: string }[],
        incidents: bodies(read.held.all(now - REOPENABLE_MS)).map(decodeIncident),
        nextIncidentId: (read.lastId.pluck().get() as number) + 1,
      })),
    commit: (commit) => guarded(() => commitAll.immediate(commit)),
    incident(id) {
      const [body] = bodies(read.incident.all(id));
      return body === undefined ? null : decodeIncident(body);
    },
    listIncidents({ states, before, limit }) {
      const found = read.list.all(JSON.stringify(states), before ?? Number.MAX_SAFE_INTEGER, limit);
      return bodies(found).map(decodeIncident);
    },
    timeline: (id) => bodies(read.timeline.all(id)).map(decodeChange),
    sends: (id) => read.sends.all(id) as OutboxEntry[],
    dueSends: (now, limit, except = []) => read.due.all(now, JSON.stringify(except), limit) as OutboxEntry[],
    sendsTo: (receiver, since) => read.sendsTo.all(receiver, since) as OutboxEntry[],
    heldSends: (receiver, heldUntil) => read.heldBack.all(receiver, heldUntil) as OutboxEntry[],
    nextSendAt: (except = []) => (read.nextSend.pluck().get(JSON.stringify(except)) as EpochMs | null) ?? null,
    backlogs: () => read.backlogs.all() as Backlog[],
    outcomes: () => read.outcomes.all() as Outcomes[],
    recordAttempt: (eventId, result) =>
      guarded(() => {
        const deliveredAt = result.state === 'delivered' ? result.at : null;
        write.attempt.run(
          result.state,
          result.nextAttemptAt,
          deliveredAt,
          result.error,
          result.handle ?? null,
          eventId,
        );
      }),
    hookCalls: (id) => bodies(read.hookCalls.all(id)).map(decodeHookCall),
    hookCallsSince: (at) => bodies(read.hookCallsSince.all(at)).map(decodeHookCall),
    hourly: (from, to) => bodies(read.hourly.all(from, to)).map(decodeHourly),
    newestHour: () => read.newestHour.pluck().get() as EpochMs | null,
    writable: createProbe(db),
    corrections: createSqliteCorrections(db),
    followUps: createSqliteFollowUps(db),
    foreignAlerts: createSqliteForeignAlerts(db),
    noiseMarks: createSqliteNoiseMarks(db),
    silences: createSqliteSilences(db),
    close: () => {
      db.close();
    },
  };
}

function openDatabase(file: string): Database.Database {
  const db = guarded(() => new Database(file, { timeout: BUSY_MS }));
  try {
    guarded(() => {
      db.pragma('journal_mode = WAL');
      db.pragma('synchronous = FULL');
      db.pragma('foreign_keys = ON');
      migrate(db, file);
    });
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Whether a write succeeds, found by one: setting the schema version to what it is changes nothing, but goes through
 * the journal to the disk like a commit.
 */
function createProbe(db: Database.Database): () => boolean {
  let askedAt = Number.NEGATIVE_INFINITY;
  let answer = true;
  return () => {
    if (performance.now() - askedAt < PROBE_EVERY_MS) return answer;
    try {
      db.pragma(`user_version = ${MIGRATIONS.length}`);
      answer = true;
    } catch {
      answer = false;
    }
    askedAt = performance.now();
    return answer;
  };
}

const bodies = (rows: unknown[]): string[] => (rows as { body: string }[]).map(({ body }) => body);

const tooNew = (file: string, version: number): AppError =>
  new AppError('STORE_SCHEMA_TOO_NEW', `${file} was written by a newer slowburn (schema ${version})`, {
    hint: 'start the version that wrote it, or another data directory',
  });

function migrate(db: Database.Database, file: string): void {
  const version = db.pragma('user_version', { simple: true }) as number;
  if (version > MIGRATIONS.length) throw tooNew(file, version);
  db.transaction(() => {
    for (const script of MIGRATIONS.slice(version)) db.exec(script);
    db.pragma(`user_version = ${MIGRATIONS.length}`);
  }).immediate();
}

function prepareWrites(db: Database.Database) {
  return {
    state: db.prepare('INSERT INTO alert_state VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value'),
    dropState: db.prepare('DELETE FROM alert_state WHERE key = ?'),
    incident: db.prepare('INSERT OR REPLACE INTO incident VALUES (?, ?, ?, ?)'),
    change: db.prepare('INSERT INTO incident_change VALUES (?, ?, ?) ON CONFLICT (incident, seq) DO NOTHING'),
    outbox: db.prepare(
      `INSERT INTO outbox (event_id, incident, episode, seq, receiver, reason, at, payload, state, attempts,
       next_attempt_at, delivered_at, last_error, severity, held_until, handle)
       VALUES (@eventId, @incident, @episode, @seq, @receiver, @reason, @at, @payload, @state, @attempts,
       @nextAttemptAt, @deliveredAt, @lastError, @severity, @heldUntil, @handle) ON CONFLICT (event_id) DO NOTHING`,
    ),
    hookCall: db.prepare('INSERT OR REPLACE INTO hook_call VALUES (?, ?, ?, ?)'),
    hourly: db.prepare('INSERT INTO hourly VALUES (?, ?, ?) ON CONFLICT (hour, subject) DO NOTHING'),
    dropHours: db.prepare('DELETE FROM hourly WHERE hour <= ?'),
    attempt: db.prepare(
      `UPDATE outbox SET state = ?, attempts = attempts + 1, next_attempt_at = ?, delivered_at = ?, last_error = ?,
       handle = coalesce(?, handle) WHERE event_id = ?`,
    ),
  };
}

const OUTBOX_COLUMNS = `event_id AS eventId, incident, episode, seq, receiver, reason, at, payload, state, attempts,
  next_attempt_at AS nextAttemptAt, delivered_at AS deliveredAt, last_error AS lastError, severity,
  held_until AS heldUntil, handle`;

/** A message waits for those before it to the same receiver about the same incident. */
const EARLIER_PENDING = `SELECT 1 FROM outbox earlier WHERE earlier.state = 'pending' AND earlier.incident = o.incident
  AND earlier.receiver = o.receiver AND (earlier.at, earlier.seq, earlier.event_id) < (o.at, o.seq, o.event_id)`;

function prepareReads(db: Database.Database) {
  return {
    states: db.prepare('SELECT key, value FROM alert_state ORDER BY key'),
    held: db.prepare("SELECT body FROM incident WHERE state <> 'resolved' OR resolved_at >= ? ORDER BY id"),
    lastId: db.prepare('SELECT coalesce(max(id), 0) FROM incident'),
    incident: db.prepare('SELECT body FROM incident WHERE id = ?'),
    list: db.prepare(
      'SELECT body FROM incident WHERE state IN (SELECT value FROM json_each(?)) AND id < ? ORDER BY id DESC LIMIT ?',
    ),
    timeline: db.prepare('SELECT body FROM incident_change WHERE incident = ? ORDER BY seq'),
    sends: db.prepare(`SELECT ${OUTBOX_COLUMNS} FROM outbox WHERE incident = ? ORDER BY at, seq, event_id`),
    due: db.prepare(
      `SELECT ${OUTBOX_COLUMNS} FROM outbox o WHERE state = 'pending' AND next_attempt_at <= ?
       AND receiver NOT IN (SELECT value FROM json_each(?)) AND NOT EXISTS (${EARLIER_PENDING})
       ORDER BY next_attempt_at, at, incident, seq, event_id LIMIT ?`,
    ),
    nextSend: db.prepare(
      `SELECT min(next_attempt_at) FROM outbox o WHERE state = 'pending'
       AND receiver NOT IN (SELECT value FROM json_each(?)) AND NOT EXISTS (${EARLIER_PENDING})`,
    ),
    sendsTo: db.prepare(
      `SELECT ${OUTBOX_COLUMNS} FROM outbox WHERE receiver = ? AND at > ? ORDER BY at, incident, seq, event_id`,
    ),
    heldBack: db.prepare(
      `SELECT ${OUTBOX_COLUMNS} FROM outbox WHERE receiver = ? AND held_until = ? ORDER BY at, incident, seq, event_id`,
    ),
    hookCalls: db.prepare('SELECT body FROM hook_call WHERE incident = ? ORDER BY at, id'),
    hookCallsSince: db.prepare('SELECT body FROM hook_call WHERE at >= ? ORDER BY at, id'),
    hourly: db.prepare('SELECT body FROM hourly WHERE hour > ? AND hour <= ? ORDER BY hour, subject'),
    newestHour: db.prepare('SELECT max(hour) FROM hourly'),
    backlogs: db.prepare(
      `SELECT receiver, count(*) AS pending,
       min(CASE WHEN held_until IS NULL OR attempts > 0 THEN at END) AS oldestAt
       FROM outbox WHERE state = 'pending' GROUP BY receiver ORDER BY receiver`,
    ),
    outcomes: db.prepare(
      `SELECT receiver, sum(state = 'delivered') AS delivered, sum(state = 'dead') AS dead,
       max(delivered_at) AS lastDeliveredAt, max(CASE WHEN state = 'dead' THEN next_attempt_at END) AS lastDeadAt
       FROM outbox WHERE state <> 'pending' GROUP BY receiver ORDER BY receiver`,
    ),
  };
}
