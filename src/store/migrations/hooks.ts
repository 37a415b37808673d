/** Calls of hooks. Bodies are JSON (store/codec); columns are what is asked for. */
export const HOOKS = `
CREATE TABLE hook_call (
  id TEXT PRIMARY KEY NOT NULL,
  incident INTEGER NOT NULL,
  at INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX hook_call_by_incident ON hook_call (incident, at);
CREATE INDEX hook_call_by_time ON hook_call (at);
`;
