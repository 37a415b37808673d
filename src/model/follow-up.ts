import type { EpochMs } from '../base/units.ts';

/** Something to do after an incident, with an owner and a date; the API calls it an action. */
export interface FollowUp {
  readonly id: number;
  readonly incident: number;
  readonly title: string;
  readonly owner: string;
  /** A civil date in UTC: `2026-03-15`. */
  readonly due: string;
  readonly createdAt: EpochMs;
  readonly by: string;
  readonly doneAt: EpochMs | null;
  readonly doneBy: string | null;
}
