import type { EpochMs } from '../base/units.ts';
import type { Notification } from '../model/incident.ts';
import type { OutboxEntry } from '../store/store.ts';
import { effectOf, isClosing } from './effect.ts';
import type { Thread } from './notifier.ts';

/** What identifies the one message that several held ones become. */
export const bundleKey = (receiver: string, heldUntil: EpochMs): string =>
  `bundle-${heldUntil}-${encodeURIComponent(receiver)}`;

interface Past {
  readonly sent: (incident: number) => readonly OutboxEntry[];
  readonly sentTo: (receiver: string, since: EpochMs) => readonly OutboxEntry[];
}

/**
 * Where a message stands among those to the same receiver. Whatever calls a person gets a key of its own, or that of
 * the bundle that it is held back for; a key ends when nothing that has it is open any more.
 */
export function threadOf(notification: Notification, receiver: string, held: EpochMs | null, past: Past): Thread {
  const { incident, reason } = notification;
  const life = { incident: incident.id, episode: incident.episode };
  const before = past.sent(incident.id).filter((said) => said.receiver === receiver && said.episode === life.episode);
  const open = openKey(before);
  const name = `${life.incident}/${life.episode}`;
  const effect = effectOf(reason);
  const calls = before.filter((said) => effectOf(said.reason) === 'rings').length;
  const own = held === null ? `${name}/${calls + 1}` : bundleKey(receiver, held);
  const key = effect === 'rings' ? own : (open?.key ?? `${name}/${Math.max(calls, 1)}`);
  const leaves = open !== null && (effect === 'closes' || key !== open.key);
  const ends = leaves && !isSharedStill(open, life.incident, receiver, past) ? [open.key] : [];
  return { episode: name, isFirst: before.length === 0, key, ends };
}

interface Call {
  readonly key: string;
  readonly heldUntil: EpochMs | null;
  readonly at: EpochMs;
}

/** The call that stands at a receiver after these messages of one episode; null when none does. */
function openKey(said: readonly OutboxEntry[]): Call | null {
  let [open, calls]: [Call | null, number] = [null, 0];
  for (const { reason, incident, episode, receiver, heldUntil, at } of said) {
    if (isClosing(reason)) open = null;
    if (effectOf(reason) !== 'rings') continue;
    calls += 1;
    const key = heldUntil === null ? `${incident}/${episode}/${calls}` : bundleKey(receiver, heldUntil);
    open = { key, heldUntil, at };
  }
  return open;
}

/** Whether another incident is open under the same key, which only a bundle gives to several. */
function isSharedStill({ key, heldUntil, at }: Call, incident: number, receiver: string, past: Past): boolean {
  if (heldUntil === null) return false;
  // Whoever shares a bundle was decided before it went out, and not long before this one: a budget's time at most.
  const since = (at - 2 * 86_400_000) as EpochMs;
  const bundled = past.sentTo(receiver, since).filter((said) => said.heldUntil === heldUntil);
  const others = new Map(bundled.map((said) => [said.incident, said.episode]));
  others.delete(incident);
  return [...others].some(([other, episode]) => {
    const said = past.sent(other).filter((entry) => entry.receiver === receiver && entry.episode === episode);
    return openKey(said)?.key === key;
  });
}
