import type { WeeklyReview } from '../model/review.ts';
import type { LabelObject } from '../model/views.ts';

/** `checkout-availability (cluster app, zone a)`. */
export function groupWords({ slo, labels }: { readonly slo: string; readonly labels: LabelObject }): string {
  const words = Object.entries(labels).map(
    ([name, value]) => `${name.replace(/^lb\.upstream\./, '')} ${value === '' ? '(none)' : value}`,
  );
  return words.length === 0 ? slo : `${slo} (${words.join(', ')})`;
}

const timeText = (at: string): string => `${at.slice(0, 16).replace('T', ' ')} UTC`;

export const spanText = ({ from, to }: WeeklyReview): string => `${timeText(from)} to ${timeText(to)}.`;

/** What a reader must know before any figure; null where the week is told in full. */
export function stateText({ state, until, hours, hoursKnown }: WeeklyReview): string | null {
  const gap = hoursKnown < hours ? ` Of ${hours} hours ${hoursKnown} are known.` : '';
  if (state === 'running') return `This week is not over: what follows ends ${timeText(until)}.${gap}`;
  return state === 'over' && gap !== '' ? `Not all of the week is known.${gap}` : null;
}
