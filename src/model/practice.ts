import { type EpochMs, epochMs, later, MINUTE, ms } from '../base/units.ts';
import type { Incident } from './incident.ts';

/** Customers are told within this time of a page ... */
export const FIRST_UPDATE = ms(10 * MINUTE);
/** ... and then again and again, also without news, as often as this at least and at most. */
export const UPDATE_EVERY_MIN = ms(15 * MINUTE);
export const UPDATE_EVERY = ms(30 * MINUTE);

/** What customers were told last, and when they are to hear again. */
export interface CustomerUpdate {
  readonly at: EpochMs;
  readonly dueAt: EpochMs;
}

/** When customers are to hear of it next; null for what is over or does not page. */
export function updateDueAt({ state, severity, episodeAt, update }: Omit<Incident, 'members'>): EpochMs | null {
  if (state === 'resolved' || severity !== 'page') return null;
  return update && update.at >= episodeAt ? update.dueAt : later(episodeAt, FIRST_UPDATE);
}

/** The next update after one that is given now: as promised, within the cadence. */
export function nextUpdate(now: EpochMs, promised: EpochMs | null): EpochMs {
  const due = promised ?? later(now, UPDATE_EVERY);
  return epochMs(Math.min(Math.max(due, now + UPDATE_EVERY_MIN), now + UPDATE_EVERY));
}

/** What to see to before an incident is resolved by hand. */
export const CHECKLIST = [
  { id: 'synthetic', text: 'A synthetic request or handshake through the balancer has succeeded' },
  { id: 'alerts', text: 'Its alerts have stopped, or it is known why they go on' },
  { id: 'customers', text: 'Customers know that it is over' },
] as const;

export type CheckId = (typeof CHECKLIST)[number]['id'];
export const CHECK_IDS: readonly CheckId[] = CHECKLIST.map(({ id }) => id);

/** The checklist as the timeline has it. */
export function checklistText(checks: readonly CheckId[]): string {
  const of = (isChecked: boolean): readonly CheckId[] => CHECK_IDS.filter((id) => checks.includes(id) === isChecked);
  const [done, open] = [of(true), of(false)];
  return [
    ...(done.length === 0 ? [] : [`checked: ${done.join(', ')}`]),
    ...(open.length === 0 ? [] : [`not checked: ${open.join(', ')}`]),
  ].join('; ');
}
