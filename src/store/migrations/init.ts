/**
 * Schema 1: incidents with their timeline, alert states, and the outbox. Bodies are JSON (store/codec); columns are
 * what is asked for.
 */
export const INIT = `
CREATE TABLE alert_state (
  key TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE incident (
  id INTEGER PRIMARY KEY NOT NULL,
  state TEXT NOT NULL,
  resolved_at INTEGER,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX incident_by_state ON incident (state, id);
CREATE TABLE incident_change (
  incident INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (incident, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE outbox (
  event_id TEXT PRIMARY KEY NOT NULL,
  incident INTEGER NOT NULL,
  episode INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  receiver TEXT NOT NULL,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL,
  payload TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  next_attempt_at INTEGER NOT NULL,
  delivered_at INTEGER,
  last_error TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_pending ON outbox (at, incident, seq, event_id) WHERE state = 'pending';
CREATE INDEX outbox_by_incident ON outbox (incident, at, seq, event_id);
`;
