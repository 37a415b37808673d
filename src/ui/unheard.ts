import { NO_DATA } from '../model/alert.ts';
import type { AlertView, SloView } from '../model/views.ts';

/**
 * Whether an alert's budget is fed by nobody now: its alert is held, and its figures are the last that were known. No
 * data is not recovery, and not "as before" either: pages say so.
 */
export function isUnheard(alert: AlertView, slos: readonly SloView[]): boolean {
  if (alert.state !== 'firing') return false;
  if (alert.evidence.some(({ name }) => name === NO_DATA)) return true;
  if (alert.exhaustion === null) return false;
  const groups = slos.find(({ id }) => id === alert.labels['slo'])?.groups ?? [];
  const group = groups.find(({ labels }) =>
    Object.entries(labels).every(([name, value]) => (alert.labels[name] ?? '') === value),
  );
  return group?.state === 'no_data';
}

export const UNHEARD_WORDS = 'No data comes in any more: these are the last figures known, and the alert is held.';
