/** Judgements of people on pages; bodies are JSON, and none is ever changed. */
export const NOISE_MARKS = `
CREATE TABLE noise_mark (
  id INTEGER PRIMARY KEY NOT NULL,
  incident INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX noise_mark_by_incident ON noise_mark (incident, id);
`;
