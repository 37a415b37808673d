/** Schema 3: what later messages need of earlier ones, and which messages a page budget holds back. */
export const SENDS = `
ALTER TABLE outbox ADD COLUMN severity TEXT NOT NULL DEFAULT 'ticket';
ALTER TABLE outbox ADD COLUMN held_until INTEGER;
ALTER TABLE outbox ADD COLUMN handle TEXT;
CREATE INDEX outbox_by_receiver ON outbox (receiver, at);
CREATE INDEX outbox_held ON outbox (receiver, held_until) WHERE held_until IS NOT NULL;
`;
