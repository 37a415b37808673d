/**
 * Schema 2: corrections, and the audit of what people change. Bodies are JSON. Both are for ever: the triggers refuse
 * what would rewrite an audit or lose a correction.
 */
export const CORRECTIONS = `
CREATE TABLE correction (
  id INTEGER PRIMARY KEY NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE TABLE audit (
  seq INTEGER PRIMARY KEY NOT NULL,
  at INTEGER NOT NULL,
  by TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  note TEXT NOT NULL,
  before TEXT,
  after TEXT
) STRICT;
CREATE INDEX audit_by_subject ON audit (subject, seq);
CREATE TRIGGER correction_is_kept BEFORE DELETE ON correction
BEGIN SELECT raise(ABORT, 'a correction is undone, never deleted'); END;
CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit
BEGIN SELECT raise(ABORT, 'the audit is kept'); END;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN SELECT raise(ABORT, 'the audit is not changed'); END;
`;
