import type { Alert } from '../model/alert.ts';
import { labelsOf } from '../model/labels.ts';
import { type GroupAlertState, parseState } from './group-state.ts';

/** What outlives a restart: the state, and the alert as last said, so that it can end whatever became of its group. */
export interface StoredBurn {
  readonly state: Extract<GroupAlertState, { kind: 'firing' }>;
  readonly alert: Alert;
}

const PREFIX = 'burn/';

export const burnRecordKey = (alertKey: string): string => PREFIX + alertKey;

/** Labels become pairs, so that a label called `__proto__` survives. */
export function encodeBurn({ state, alert }: StoredBurn): string {
  return JSON.stringify({ ...state, alert: { ...alert, labels: [...alert.labels] } });
}

/** Reads a record; null for those of other parts and for what cannot be read. */
export function decodeBurn({ key, value }: { readonly key: string; readonly value: string }): StoredBurn | null {
  if (!key.startsWith(PREFIX)) return null;
  const state = parseState(value);
  if (state.kind === 'inactive') return null;
  const { alert } = JSON.parse(value) as { alert: Alert & { labels: Iterable<[string, string]> } };
  return { state, alert: { ...alert, labels: labelsOf(alert.labels) } };
}
