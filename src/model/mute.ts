import { formatInstant } from '../base/instant.ts';
import type { EpochMs } from '../base/units.ts';
import type { Alert } from './alert.ts';
import { type Labels, labelsOf } from './labels.ts';

/** One matcher of a silence, as Alertmanager's API writes it. */
export interface SilenceMatcher {
  readonly name: string;
  readonly value: string;
  readonly isRegex: boolean;
  readonly isEqual: boolean;
}

/** A time in which a person wants to hear nothing of the alerts that match. Plain data. */
export interface Silence {
  readonly id: string;
  /** All must match. */
  readonly matchers: readonly SilenceMatcher[];
  /** In force from here on ... */
  readonly startsAt: EpochMs;
  /** ... until before here. */
  readonly endsAt: EpochMs;
  readonly createdBy: string;
  readonly comment: string;
  readonly updatedAt: EpochMs;
}

export const SILENCE_STATES = ['pending', 'active', 'expired'] as const;
export type SilenceState = (typeof SILENCE_STATES)[number];

export type SilenceDraft = Pick<Silence, 'matchers' | 'startsAt' | 'endsAt' | 'createdBy' | 'comment'>;

/** Why nobody is told of an alert that fires. */
export type Mute =
  | {
      readonly kind: 'silence';
      readonly id: string;
      readonly by: string;
      readonly comment: string;
      readonly until: EpochMs;
    }
  | { readonly kind: 'interval'; readonly name: string; readonly until: EpochMs }
  /** `source` is the key of the alert that fires, `text` its name and place. */
  | { readonly kind: 'inhibition'; readonly source: string; readonly text: string };

/** What tells a mute from others; its end or its comment may change meanwhile. */
export function muteKey(mute: Mute): string {
  switch (mute.kind) {
    case 'silence':
      return `silence/${mute.id}`;
    case 'interval':
      return `interval/${mute.name}`;
    case 'inhibition':
      return `inhibition/${mute.source}`;
  }
}

/** A mute in words: `silence 7 by ada until 2026-01-01 01:00 UTC (reboot)`. */
export function muteText(mute: Mute): string {
  switch (mute.kind) {
    case 'silence': {
      const comment = mute.comment === '' ? '' : ` (${mute.comment})`;
      return `silence ${mute.id} by ${mute.by} until ${minuteText(mute.until)}${comment}`;
    }
    case 'interval':
      return `mute interval ${mute.name} until ${minuteText(mute.until)}`;
    case 'inhibition':
      return `inhibition by ${mute.text}`;
  }
}

const minuteText = (at: EpochMs): string => `${formatInstant(at).slice(0, 16).replace('T', ' ')} UTC`;

/**
 * What matchers of mutes see of an alert: its labels, its place by the names of `Place` where no label has that name,
 * `alertname`, and `severity` where the sender gave none.
 */
export function muteLabels({ name, labels, place, severity }: Alert): Labels {
  const parts = Object.entries(place).filter((part): part is [string, string] => typeof part[1] === 'string');
  return labelsOf([['severity', severity], ...parts, ...labels, ['alertname', name]]);
}

/** An alert by its name and place: `InstanceDown (cluster c1, host h1)`; by its labels where it knows no place. */
export function alertText({ name, labels, place }: Alert): string {
  const known = Object.entries(place).filter(([part]) => part !== 'service');
  const told =
    known.length > 0 ? known : [...labels].filter(([label]) => label !== 'alertname' && label !== 'severity');
  return told.length === 0 ? name : `${name} (${told.map(([part, value]) => `${part} ${value}`).join(', ')})`;
}
