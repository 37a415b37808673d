import type { EpochMs, Ms } from '../base/units.ts';

/** Why a time does not count. It decides nothing; reviews tell planned work from accidents by it. */
export const CORRECTION_KINDS = ['maintenance', 'not_our_fault', 'bad_data', 'other'] as const;
export type CorrectionKind = (typeof CORRECTION_KINDS)[number];

/** Monday first. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** Planned work that repeats on days of the week, by the clocks of a time zone. */
export interface Recurrence {
  readonly weekdays: readonly Weekday[];
  /** Local time of day at which it begins, since midnight. */
  readonly start: Ms;
  /** As it passes, whatever clocks do meanwhile. */
  readonly duration: Ms;
  /** IANA name. */
  readonly zone: string;
  /** Days from 1970-01-01 of the first and last local date that may begin it; null = no end. */
  readonly firstDay: number;
  readonly lastDay: number | null;
}

export type CorrectionTime =
  | { readonly kind: 'once'; readonly from: EpochMs; readonly to: EpochMs }
  | { readonly kind: 'recurring'; readonly recurrence: Recurrence };

/** What a person did to a correction. */
export interface CorrectionMark {
  readonly at: EpochMs;
  readonly by: string;
  readonly reason: string;
}

/** A time that is left out of the budgets of some SLOs. Plain data; never deleted, only ended or undone. */
export interface Correction {
  readonly id: number;
  readonly kind: CorrectionKind;
  readonly reason: string;
  readonly by: string;
  readonly createdAt: EpochMs;
  /** Ids of SLOs; empty = any. */
  readonly slos: readonly string[];
  /** As text, all to hold on the SLO's labels, its group's labels, `slo` and `service`; empty = any. */
  readonly matchers: readonly string[];
  readonly time: CorrectionTime;
  /** Nothing after `ended.at` is left out any more. */
  readonly ended: CorrectionMark | null;
  /** Nothing is left out any more, and nothing ever was. */
  readonly undone: CorrectionMark | null;
}

export type CorrectionDraft = Omit<Correction, 'id' | 'ended' | 'undone'>;

/** Who did what to which object, with the object as JSON before and after. Kept for ever. */
export interface AuditEntry {
  readonly seq: number;
  readonly at: EpochMs;
  readonly by: string;
  readonly action: string;
  /** `correction/7`. */
  readonly subject: string;
  readonly note: string;
  readonly before: string | null;
  readonly after: string | null;
}
