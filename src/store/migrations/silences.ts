/** Schema 3: silences. Bodies are JSON; the end is what they are let go by. */
export const SILENCES = `
CREATE TABLE silence (
  id TEXT PRIMARY KEY NOT NULL,
  ends_at INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;
