import type { Owner, Severity } from './alert.ts';
import type { MeasureName } from './measure.ts';
import type { CostView, HostSpreadView, ScorecardView, ZoneUseView } from './scorecard.ts';
import type { LabelObject } from './views.ts';

/**
 * The weekly review, as its JSON has it. Times are RFC 3339 in UTC; a share is 0 to 1. Each part says in `unknown` why
 * it has nothing to tell, where it has not.
 */
export interface WeeklyReview {
  /** ISO 8601: `2026-W48`. Weeks begin on Monday, 00:00 UTC. */
  readonly week: string;
  readonly from: string;
  readonly to: string;
  readonly previous: string;
  readonly next: string;
  readonly state: ReviewState;
  /** What is told ends here: at `to`, or at the last whole hour of a week that is not over. */
  readonly until: string;
  /** Hours of the week until then, and of those the ones of which anything was kept. */
  readonly hours: number;
  readonly hoursKnown: number;
  readonly headline: string;
  /** At most three, the most pressing first. */
  readonly toDo: readonly ReviewTask[];
  readonly trends: Part<ReviewTrend> & { readonly weeks: number };
  readonly budgets: Part<ReviewBudget>;
  readonly incidents: Part<ReviewIncident>;
  readonly pageLoad: Part<ReviewPageLoad>;
  readonly levels: Part<ReviewLevel>;
  readonly config: Part<ReviewConfig> & { readonly limit: number | null };
  /** Against the traffic standard; what services cost; who carried more than others. */
  readonly standard: Pick<ScorecardView, 'scores' | 'headroom'>;
  readonly cost: Pick<CostView, 'totals' | 'services' | 'versions'>;
  readonly spread: { readonly hosts: readonly HostSpreadView[]; readonly zones: readonly ZoneUseView[] };
  readonly certificates: Part<ReviewCertificate>;
  readonly followUps: Part<ReviewFollowUp>;
}

/** `no_data`: it is over or under way, and nothing was kept of it; `ahead`: it has not begun. */
export type ReviewState = 'over' | 'running' | 'no_data' | 'ahead';

export interface Part<T> {
  readonly items: readonly T[];
  /** Why there is nothing, or not all; null = these are all there are. */
  readonly unknown: string | null;
}

export const TASK_KINDS = [
  'budget_spent',
  'certificate',
  'config_freeze',
  'budget_low',
  'incident_spend',
  'action_overdue',
  'trend',
  'noise',
] as const;

export interface ReviewTask {
  readonly kind: (typeof TASK_KINDS)[number];
  readonly title: string;
  /** Why it stands where it stands. */
  readonly reason: string;
  /** Path of the page that leads on; null = none. */
  readonly link: string | null;
}

/** A slow change for the worse, below every page and ticket. */
export interface ReviewTrend {
  readonly subject: LabelObject;
  readonly measure: MeasureName;
  /** Of now, before and slopePerWeek; 1 = a ratio. */
  readonly unit: string;
  readonly alert: string;
  readonly owner: Owner;
  readonly runbook: string;
  readonly now: number;
  readonly before: number;
  readonly slopePerWeek: number;
  readonly confidence: number;
  /** Hours behind it. */
  readonly samples: number;
  readonly summary: string;
  /** By day, UTC, the oldest first; null where nothing was kept. */
  readonly days: readonly { readonly until: string; readonly value: number | null }[];
}

export interface ReviewBudget {
  readonly slo: string;
  readonly labels: LabelObject;
  readonly objective: string;
  readonly window: string;
  /** Share of the budget left when the week began and at its end; null = not known then. */
  readonly leftAtStart: number | null;
  readonly leftAtEnd: number | null;
  /** Of the budget, in this week: old errors leave a rolling window meanwhile, so it is not the difference. */
  readonly spent: number | null;
  readonly bad: number;
  /** Left at the end of each day, the first is the start of the week. */
  readonly days: readonly { readonly until: string; readonly left: number | null }[];
}

export interface ReviewIncident {
  readonly id: number;
  readonly title: string;
  readonly severity: Severity;
  readonly openedAt: string;
  /** Null = not by the end of the week. */
  readonly resolvedAt: string | null;
  /** Messages that wake a person, each receiver its own. */
  readonly pages: number;
  /** Of the budget that it took most of, in this week; null where it burns none. */
  readonly spent: number | null;
  readonly spentOf: string | null;
  /** Who said that nobody had to be told; null = nobody did. */
  readonly noise: { readonly by: string; readonly at: string; readonly note: string | null } | null;
}

/** A receiver of pages, as one person at any time. */
export interface ReviewPageLoad {
  readonly receiver: string;
  readonly pages: number;
  readonly noise: number;
  readonly personHours: number;
  readonly pagesPerPersonHour: number;
  /** Most within any 12 hours; two are as much as one person should get. */
  readonly mostInShift: number;
}

/** What a measure came to in this week and each before, the oldest first; null = nothing was kept. */
export interface ReviewLevel {
  readonly measure: MeasureName;
  readonly unit: string;
  readonly subject: LabelObject;
  readonly weeks: readonly (number | null)[];
  /** This week less the mean of those before; null where either is not known. */
  readonly change: number | null;
}

export interface ReviewConfig {
  readonly slo: string;
  readonly labels: LabelObject;
  /** Of the budget, by rollouts: at its most in this week. */
  readonly share: number;
  readonly isOver: boolean;
}

export interface ReviewCertificate {
  readonly name: string;
  readonly notAfter: string;
  /** At the end of the week. */
  readonly daysLeft: number;
  readonly balancers: number;
  /** Null = no renewal was seen. */
  readonly renewedAt: string | null;
}

export interface ReviewFollowUp {
  readonly id: number;
  readonly incident: number;
  readonly title: string;
  readonly owner: string;
  readonly due: string;
  readonly isOverdue: boolean;
}
