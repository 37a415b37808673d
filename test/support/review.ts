import { type EpochMs, epochMs } from '../../src/base/units.ts';
import { alertKey } from '../../src/model/alert.ts';
import { ALERT } from '../../src/model/conventions.ts';
import type { IncidentChange, IncidentHead } from '../../src/model/incident.ts';
import { labelsOf } from '../../src/model/labels.ts';
import type { HourBudget, HourlyFigures, MeasureName } from '../../src/model/measure.ts';
import { type PastIncident, type ReviewInput, weekSpan } from '../../src/review/input.ts';
import { weeklyReview } from '../../src/review/weekly-review.ts';
import { shippedDetectors } from './shipped-detectors.ts';
import { shippedRules } from './shipped-rules.ts';

/** Rows and incidents of one week, 2026-W09, and the four before it. */
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const WEEK = 7 * DAY;
export const WEEK_NAME = '2026-W09';
/** Monday 2026-02-23T00:00:00Z. */
export const MONDAY: EpochMs = epochMs(1_771_804_800_000);
export const NEXT_MONDAY: EpochMs = epochMs(MONDAY + WEEK);
export const LATER: EpochMs = epochMs(NEXT_MONDAY + 3 * DAY);

type Subject = Readonly<Record<string, string>>;

const subjectOf = (subject: Subject) => labelsOf(Object.entries(subject));

/** Hours are counted from the start of the week; hour 1 ends at 01:00. */
export const at = (hour: number): EpochMs => epochMs(MONDAY + hour * HOUR);

export const levelRow = (hour: number, subject: Subject, measure: MeasureName, value: number): HourlyFigures => ({
  hour: at(hour),
  subject: subjectOf(subject),
  figures: { [measure]: value },
  notes: {},
});

/** 1000 may be bad; `parts` are the bad ones. */
export const budgetRow = (
  hour: number,
  subject: Subject,
  parts: HourBudget['parts'] = [],
  more: Partial<HourBudget> = {},
): HourlyFigures => ({
  hour: at(hour),
  subject: subjectOf(subject),
  figures: {},
  notes: {},
  budget: {
    bad: parts.reduce((sum, [, bad]) => sum + bad, 0),
    total: 10_000,
    parts,
    budget: 1000,
    left: 0.5,
    byConfig: null,
    window: '30d',
    objective: '0.999',
    ...more,
  },
});

/** From and to in hours of the week; to null = it still burns. */
export const burnRow = (
  hour: number,
  incident: number,
  subject: Subject,
  from: number,
  to: number | null,
): HourlyFigures => ({
  hour: at(hour),
  subject: subjectOf({ incident: String(incident) }),
  figures: {},
  notes: {},
  burning: [
    {
      alert: alertKey(ALERT.errorBudgetBurn, subjectOf(subject)),
      from: at(from),
      to: to === null ? null : at(to),
    },
  ],
});

export const certificateRow = (hour: number, name: string, daysLeft: number): HourlyFigures => ({
  hour: at(hour),
  subject: subjectOf({ certificate: name }),
  figures: {},
  notes: { not_after: at(hour) + daysLeft * DAY, balancers: 2 },
});

const headOf = (id: number, fields: Partial<IncidentHead>): IncidentHead => ({
  id,
  episode: 1,
  seq: 1,
  state: 'open',
  severity: 'page',
  tier: '6h',
  title: `incident ${id} of <checkout>`,
  lead: 'ErrorBudgetBurn{}',
  openedAt: at(1),
  episodeAt: at(1),
  changedAt: at(1),
  quietSince: null,
  resolvedAt: null,
  acknowledgement: null,
  snoozedUntil: null,
  runbook: 'ErrorBudgetBurn',
  previous: null,
  announced: { severity: 'page', lastPageAt: null, tiers: [], domains: [], episode: 1, stillBurning: false },
  ...fields,
});

/** Opened and resolved at hours of the week, null = it stays open; pages to `oncall` at hours of the week. */
export function pastIncident(
  id: number,
  opened: number,
  resolved: number | null,
  pages: readonly number[] = [],
): PastIncident {
  const change = (seq: number, hour: number, kind: 'opened' | 'resolved'): IncidentChange => ({
    incident: id,
    episode: 1,
    seq,
    at: at(hour),
    change: kind,
    by: 'slowburn',
    reason: kind,
    members: 1,
    after: headOf(id, {
      seq,
      openedAt: at(opened),
      ...(kind === 'resolved' ? { state: 'resolved', resolvedAt: at(hour) } : {}),
    }),
  });
  return {
    id,
    timeline: [change(1, opened, 'opened'), ...(resolved === null ? [] : [change(2, resolved, 'resolved')])],
    sends: pages.map((hour) => ({ receiver: 'oncall', severity: 'page', reason: 'opened', at: at(hour) })),
  };
}

/** Of the week, as it stands at `now`. */
export function reviewInput(given: Partial<ReviewInput> = {}, now: EpochMs = LATER): ReviewInput {
  const span = weekSpan(WEEK_NAME, now);
  if (span === undefined) throw new Error('BUG: the week of the tests is none');
  return {
    span,
    rows: [],
    incidents: [],
    marks: [],
    followUps: [],
    detectors: shippedDetectors(),
    standard: shippedRules().scorecard,
    ...given,
  };
}

export const SLO = { slo: 'checkout-availability', 'lb.upstream.cluster': 'shop | <b>' };
const FIVE_WEEKS = Array.from({ length: 5 * 168 }, (_, hour) => hour + 1 - 4 * 168);

/** Five weeks of a zone that gets 3 % more a week, and a week with an incident, a rollout, a certificate. */
export const fakeRows = (): readonly HourlyFigures[] => [
  ...FIVE_WEEKS.flatMap((hour) => [
    levelRow(hour, { cluster: 'shop | <b>', zone: 'b' }, 'zone_skew', 1.02 + (0.03 * (hour + 4 * 168)) / 168),
    levelRow(hour, { cluster: 'shop | <b>' }, 'ejections', hour % 24 === 0 ? 1 : 0),
  ]),
  ...[0, 24, 48, 72, 96, 120, 144, 168].map((hour) => budgetRow(hour, SLO, [], { left: 0.6 - hour / 1680 })),
  budgetRow(
    31,
    SLO,
    [
      [2, 100],
      [3, 60],
    ],
    { byConfig: 0.1 },
  ),
  burnRow(31, 7, SLO, 30.2, null),
  burnRow(32, 7, SLO, 30.2, 31),
  certificateRow(168, 'shop.example <x>', 9),
];

export const FAKE_REVIEW = weeklyReview(
  reviewInput({
    rows: fakeRows(),
    incidents: [pastIncident(7, 30.4, 32, [30.4, 30.9]), pastIncident(8, 100, null)],
    marks: [{ incident: 7, at: at(60), by: 'ada <b>', isNoise: true, note: 'a | test' }],
    followUps: [
      {
        id: 3,
        incident: 7,
        title: 'Drain <first>',
        owner: 'bob',
        due: '2026-02-26',
        createdAt: at(40),
        by: 'ada',
        doneAt: null,
        doneBy: null,
      },
    ],
  }),
);
