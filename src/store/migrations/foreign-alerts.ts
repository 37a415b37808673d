/** Schema 4: alerts raised elsewhere. Bodies are JSON (store/codec). */
export const FOREIGN_ALERTS = `
CREATE TABLE foreign_alert (
  id TEXT PRIMARY KEY NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;
