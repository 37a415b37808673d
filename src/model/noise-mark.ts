import type { EpochMs } from '../base/units.ts';

/** A person's judgement of an incident's pages. The last one counts; all of them are kept. */
export interface NoiseMark {
  readonly incident: number;
  readonly at: EpochMs;
  readonly by: string;
  /** Nobody had to be told; false takes that back. */
  readonly isNoise: boolean;
  readonly note: string | null;
}

/** The one that counts of each incident, from all of them in the order in which they were made. */
export const lastMarks = (marks: readonly NoiseMark[]): ReadonlyMap<number, NoiseMark> =>
  new Map(marks.map((mark) => [mark.incident, mark]));
