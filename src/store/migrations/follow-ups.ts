/** Actions that follow from incidents. Bodies are JSON; they are for ever. */
export const FOLLOW_UPS = `
CREATE TABLE follow_up (
  id INTEGER PRIMARY KEY NOT NULL,
  incident INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX follow_up_by_incident ON follow_up (incident, id);
`;
