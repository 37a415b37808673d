import { type EpochMs, earlier, later } from '../base/units.ts';
import type { Notification } from '../model/incident.ts';
import type { Receiver } from '../model/receiver.ts';
import type { OutboxEntry } from '../store/store.ts';
import { effectOf } from './effect.ts';

/**
 * Until when a message waits because the receiver's page budget is spent; null = it goes out at once. All that waits
 * goes out as one message, which counts as one page. What follows about an incident whose page waits joins it, so that
 * nothing overtakes.
 */
export function heldUntil(
  { at, reason, severity }: Notification,
  receiver: Receiver,
  ofIncident: readonly OutboxEntry[],
  toReceiver: (since: EpochMs) => readonly OutboxEntry[],
): EpochMs | null {
  const budget = receiver.pageBudget ?? null;
  if (budget === null) return null;
  const waiting = ofIncident.find(({ receiver: to, heldUntil: until }) => to === receiver.name && isAhead(until, at));
  if (waiting !== undefined) return waiting.heldUntil;
  if (severity !== 'page' || effectOf(reason) !== 'rings') return null;
  // A bundle is decided up to `per` before it goes out.
  const said = toReceiver(earlier(at, (2 * budget.per) as typeof budget.per));
  const open = said.find(({ heldUntil: until }) => isAhead(until, at));
  if (open !== undefined) return open.heldUntil;
  const calls = callTimes(said).filter((time) => time > at - budget.per);
  const first = calls.at(-budget.pages);
  return calls.length < budget.pages || first === undefined ? null : later(first, budget.per);
}

const isAhead = (until: EpochMs | null, at: EpochMs): until is EpochMs => until !== null && until > at;

/** When a person was called, oldest first; a bundle is one call. */
function callTimes(sent: readonly OutboxEntry[]): EpochMs[] {
  const pages = sent.filter(({ severity, reason }) => severity === 'page' && effectOf(reason) === 'rings');
  const calls = new Map(pages.map((said) => [String(said.heldUntil ?? said.eventId), said.heldUntil ?? said.at]));
  return [...calls.values()].sort((a, b) => a - b);
}
