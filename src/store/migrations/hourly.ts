/** Figures of hours. The subject is its key, the body JSON (store/codec); what reads them asks for spans of time. */
export const HOURLY = `
CREATE TABLE hourly (
  hour INTEGER NOT NULL,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (hour, subject)
) STRICT, WITHOUT ROWID;
`;
