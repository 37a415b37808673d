/** How a share of the groups fares; the others have no error. */
export interface Course {
  readonly name: string;
  readonly errorRatio: number;
  readonly share: number;
  /** Planned work of an hour every day, for all groups; or only for groups that do not exist. */
  readonly work?: 'everywhere' | 'elsewhere';
}
export const COURSES: readonly Course[] = [
  { name: 'no errors', errorRatio: 0, share: 0 },
  { name: 'errors below the budget everywhere', errorRatio: 0.0003, share: 1 },
  { name: 'one group of a hundred burns', errorRatio: 0.05, share: 0.01 },
  { name: 'every group burns', errorRatio: 0.05, share: 1 },
  { name: 'errors below the budget, work elsewhere', errorRatio: 0.0003, share: 1, work: 'elsewhere' },
  { name: 'errors below the budget, daily work', errorRatio: 0.0003, share: 1, work: 'everywhere' },
  { name: 'every group burns, daily work', errorRatio: 0.05, share: 1, work: 'everywhere' },
];
