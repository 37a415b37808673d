/**
 * Read-side types: what `app/queries` fills and `api` and `ui` show. Units as in the HTTP API: times RFC 3339 UTC, durations
 * in seconds, ratios 0..1, objectives and windows as the text of the file (design section 6).
 */
import type { Owner, Severity } from './alert.ts';
import type { CorrectionKind, Weekday } from './correction.ts';
import type { HistoryQueries } from './history-views.ts';
import type { HookCall } from './hook.ts';
import type { IncidentChangeKind, IncidentState, MemberState, NotificationReason } from './incident.ts';
import type { MeasureName } from './measure.ts';
import type { Mute, SilenceMatcher, SilenceState } from './mute.ts';
import type { CheckId } from './practice.ts';
import type { StageFidelities } from './stages.ts';

export type LabelObject = Readonly<Record<string, string>>;

export type GroupState = 'measured' | 'no_traffic' | 'no_data';

export interface ExhaustionView {
  readonly exhausted: boolean;
  readonly seconds: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly paceSeconds: number | null;
  readonly recoversAt: string | null;
}

/** The least and the most that a figure can be. */
export interface BracketView {
  readonly low: number;
  readonly high: number;
}

/** Slices of the SLO window: those with data, all of them, and the share. */
export interface SliceCoverageView {
  readonly observed: number;
  readonly expected: number;
  readonly coverage: number;
}

/** What one member of a composite SLO counted in the SLO window. */
export interface SloMemberView {
  readonly name: string;
  readonly weight: number;
  readonly good: number;
  readonly bad: number;
  readonly total: number;
  readonly sli: number | null;
  readonly spent: number | null;
}

export type BudgetingMethod = 'Occurrences' | 'Timeslices' | 'RatioTimeslices';

export interface LeftOutView {
  readonly good: number;
  readonly bad: number;
  /** Ids. */
  readonly corrections: readonly number[];
}

export interface GroupViewOut {
  readonly labels: LabelObject;
  readonly state: GroupState;
  readonly coverage: number;
  readonly good: number;
  readonly bad: number;
  readonly total: number;
  readonly slices: SliceCoverageView | null;
  readonly members: readonly SloMemberView[] | null;
  readonly sli: number | null;
  /** Null unless a latency threshold lay between two bounds of a histogram. */
  readonly sliBracket: BracketView | null;
  /** What corrections take out of the budget; null where none meets the SLO window. */
  readonly leftOut: LeftOutView | null;
  readonly budgetRemaining: number | null;
  readonly budgetRemainingBracket: BracketView | null;
  readonly budgetRemainingSoFar: number | null;
  readonly resetsAt: string | null;
  readonly burn: Readonly<Record<string, number | null>>;
  readonly exhaustion: ExhaustionView;
  readonly tier: string | null;
  readonly tiersHolding: readonly string[];
  readonly severity: Severity | null;
}

export interface SloView {
  readonly id: string;
  readonly service: string;
  readonly displayName: string;
  readonly objective: string;
  readonly window: string;
  readonly rolling: boolean;
  readonly budgetingMethod: BudgetingMethod;
  readonly timeSliceSeconds: number | null;
  readonly timeSliceTarget: string | null;
  readonly labels: LabelObject;
  readonly groups: readonly GroupViewOut[];
}

export interface EvidenceView {
  readonly name: string;
  readonly value: number | string | boolean | null;
  readonly unit: string | null;
  readonly text: string;
}

/** Why nobody is told of an alert. What does not belong to its kind is null. */
export interface MuteView {
  readonly kind: Mute['kind'];
  /** Id of the silence. */
  readonly silence: string | null;
  /** Name of the mute interval. */
  readonly interval: string | null;
  /** Key of the alert that inhibits it. */
  readonly source: string | null;
  readonly until: string | null;
  readonly text: string;
}

export interface AlertView {
  readonly key: string;
  readonly name: string;
  readonly state: MemberState;
  readonly severity: Severity;
  readonly tier: string | null;
  readonly tiersHolding: readonly string[];
  readonly labels: LabelObject;
  /** What matchers of mutes see: labels, place, `alertname`, `severity`. */
  readonly matchedLabels: LabelObject;
  readonly since: string;
  readonly owner: Owner;
  readonly summary: string;
  readonly runbook: string;
  readonly evidence: readonly EvidenceView[];
  readonly exhaustion: ExhaustionView | null;
  readonly budgetRemaining: number | null;
  readonly incident: number | null;
  /** Address of what raised it elsewhere; null for our own. */
  readonly link: string | null;
  /** Empty = people are told of it. */
  readonly mutes: readonly MuteView[];
}

export interface MemberView {
  readonly alert: AlertView;
  readonly joinedAt: string;
  readonly resolvedAt: string | null;
  readonly reason: string;
}

export interface TimelineEntryView {
  readonly seq: number;
  readonly episode: number;
  readonly at: string;
  readonly change: IncidentChangeKind;
  readonly by: string;
  readonly reason: string;
}

export interface SendView {
  readonly eventId: string;
  readonly episode: number;
  readonly receiver: string;
  readonly reason: NotificationReason;
  readonly at: string;
  readonly state: 'pending' | 'delivered' | 'dead';
  readonly attempts: number;
  readonly deliveredAt: string | null;
  readonly lastError: string | null;
}

export interface IncidentView {
  readonly id: number;
  readonly episode: number;
  readonly state: IncidentState;
  readonly severity: Severity;
  readonly tier: string | null;
  readonly title: string;
  readonly lead: AlertView;
  /** Of the member whose budget is gone soonest; null when none burns. */
  readonly exhaustion: ExhaustionView | null;
  readonly alerts: readonly string[];
  readonly runbook: string;
  readonly runbookUrl: string;
  readonly openedAt: string;
  readonly changedAt: string;
  readonly resolvedAt: string | null;
  readonly acknowledgedBy: string | null;
  readonly acknowledgementLapsesAt: string | null;
  readonly snoozedUntil: string | null;
  readonly previous: number | null;
  readonly mergedInto: number | null;
  readonly customersToldAt: string | null;
  readonly updateDueAt: string | null;
}

export const FOLLOW_UP_STATES = ['open', 'overdue', 'done'] as const;

/** An action that follows from an incident. */
export interface FollowUpView {
  readonly id: number;
  readonly incident: number;
  readonly title: string;
  readonly owner: string;
  readonly due: string;
  readonly state: (typeof FOLLOW_UP_STATES)[number];
  readonly createdAt: string;
  readonly by: string;
  readonly doneAt: string | null;
  readonly doneBy: string | null;
}

/** `open` = overdue ones too. */
export interface FollowUpFilter {
  readonly state: FollowUpView['state'] | null;
  readonly incident: number | null;
}

export interface FollowUpRequest {
  readonly incident: number;
  readonly title: string;
  readonly owner: string;
  readonly due: string;
  readonly by: string;
}

export type FollowUpOutcome =
  | { readonly kind: 'done'; readonly followUp: FollowUpView }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'conflict'; readonly message: string }
  | BadField;

export interface AttachmentView {
  readonly title: string;
  readonly link: string;
  readonly at: string;
  readonly by: string;
}

export interface HookCallView {
  readonly id: string;
  readonly hook: string;
  readonly kind: HookCall['kind'];
  readonly alert: string;
  readonly at: string;
  readonly state: HookCall['state'];
  readonly refusal: HookCall['refusal'];
  readonly reason: string;
  readonly link: string | null;
  readonly endedAt: string | null;
}

export interface IncidentDetailView extends IncidentView {
  readonly members: readonly MemberView[];
  readonly timeline: readonly TimelineEntryView[];
  readonly sends: readonly SendView[];
  readonly attachments: readonly AttachmentView[];
  readonly hooks: readonly HookCallView[];
  readonly followUps: readonly FollowUpView[];
}

/** A threshold that lies between two bounds of a balancer's histograms. Seconds. */
export interface BoundsAroundView {
  readonly slo: string;
  readonly threshold: number;
  /** Nearest bound below; 0 where there is none. */
  readonly below: number;
  /** Nearest bound above; null past the last. */
  readonly above: number | null;
  /** What to do, in the balancer's own terms. */
  readonly fix: string;
}

export interface BalancerView {
  readonly id: string;
  readonly flavor: string;
  readonly version: string | null;
  readonly zone: string | null;
  readonly lastSeen: string;
  readonly intervalSeconds: number;
  readonly stale: boolean;
  readonly clusters: readonly string[];
  readonly seriesCount: number;
  readonly stages: StageFidelities;
  readonly metricsUnderstood: readonly string[];
  readonly metricsIgnored: readonly string[];
  readonly thresholdsBetweenBounds: readonly BoundsAroundView[];
}

export interface RecurrenceView {
  readonly weekdays: readonly Weekday[];
  /** `02:00`, by the clocks of the zone. */
  readonly start: string;
  readonly durationSeconds: number;
  readonly zone: string;
  /** `2026-03-01`. */
  readonly firstDate: string;
  readonly lastDate: string | null;
}

export interface CorrectionMarkView {
  readonly at: string;
  readonly by: string;
  readonly reason: string;
}

export interface TimeRangeView {
  readonly from: string;
  readonly to: string;
}

export const CORRECTION_STATES = ['scheduled', 'active', 'over', 'undone'] as const;
export type CorrectionState = (typeof CORRECTION_STATES)[number];

export interface CorrectionView {
  readonly id: number;
  readonly state: CorrectionState;
  readonly kind: CorrectionKind;
  readonly reason: string;
  readonly by: string;
  readonly createdAt: string;
  readonly slos: readonly string[];
  readonly matchers: readonly string[];
  /** Null where it recurs. */
  readonly from: string | null;
  readonly to: string | null;
  readonly recurring: RecurrenceView | null;
  /** The time that runs, or the next one; null when it is over or undone. */
  readonly next: TimeRangeView | null;
  readonly ended: CorrectionMarkView | null;
  readonly undone: CorrectionMarkView | null;
}

export interface CorrectionEffectView {
  readonly slo: string;
  readonly labels: LabelObject;
  /** Events of its time within the SLO window. */
  readonly good: number;
  readonly bad: number;
  /** What would be left without it, and what is left with it; others count in both. */
  readonly budgetBefore: number | null;
  readonly budgetAfter: number | null;
}

/** What a correction would do if it were made now. */
export interface CorrectionPreviewView {
  readonly groups: number;
  readonly effects: readonly CorrectionEffectView[];
}

export interface AuditEntryView {
  readonly seq: number;
  readonly at: string;
  readonly by: string;
  readonly action: string;
  readonly note: string;
}

export interface CorrectionDetailView extends CorrectionView {
  /** How many groups it applies to; `effects` has the first of them. */
  readonly groups: number;
  readonly effects: readonly CorrectionEffectView[];
  readonly audit: readonly AuditEntryView[];
}

/** As Alertmanager writes a silence, and how many alerts it mutes now. */
export interface SilenceView {
  readonly id: string;
  readonly status: { readonly state: SilenceState };
  readonly matchers: readonly SilenceMatcher[];
  readonly startsAt: string;
  readonly endsAt: string;
  readonly updatedAt: string;
  readonly createdBy: string;
  readonly comment: string;
  readonly alerts: number;
}

export interface PastAlertView {
  readonly name: string;
  readonly labels: LabelObject;
  readonly severity: Severity;
  readonly incident: number;
  readonly since: string;
  readonly resolvedAt: string | null;
}

export interface SilencePreviewView {
  /** Firing now. */
  readonly alerts: readonly AlertView[];
  /** Not resolved, with one of these alerts. */
  readonly incidents: readonly IncidentView[];
  /** Alerts that fired since `pastSince`, as each incident knows them; the newest of `pastCount`. */
  readonly past: readonly PastAlertView[];
  readonly pastCount: number;
  readonly pastSince: string;
}

/** A config version that balancers run now. */
export interface ConfigVersionView {
  readonly kind: string;
  readonly version: string;
  readonly previous: string | null;
  readonly since: string;
  readonly balancers: readonly string[];
}

export interface ConfigDeltaView {
  readonly measure: 'errors' | 'added_p99' | 'cpu';
  readonly against: 'rest' | 'before';
  readonly value: number;
  readonly other: number;
  readonly sample: number;
  readonly otherSample: number;
  readonly chance: number | null;
  readonly worse: boolean;
}

export interface ConfigHealthView {
  readonly kind: string;
  readonly version: string;
  readonly previous: string | null;
  readonly since: string;
  readonly stage: 'canary' | 'zone' | 'region' | 'global';
  readonly verdict: 'promote' | 'hold' | 'rollback';
  readonly worse: readonly ConfigDeltaView['measure'][];
  readonly deltas: readonly ConfigDeltaView[];
  readonly requests: number;
  readonly rarestSeen: number;
  readonly balancers: readonly string[];
  readonly rest: readonly string[];
}

/** Two cohorts to compare; `b` null = all that has another value of the attribute than `a`. */
export interface ComparisonAsked {
  readonly attribute: 'configVersion' | 'version' | 'zone' | 'region' | 'balancer' | 'cluster';
  readonly a: string;
  readonly b: string | null;
  readonly configKind: string | null;
  readonly cluster: string | null;
  readonly shadow: boolean | null;
  readonly windowSeconds: number | null;
  readonly fault: number;
  readonly confidence: number;
}

export interface NotComparableView {
  /** Why, for a person. */
  readonly missing: string;
}

export interface ComparisonDeltaView extends Omit<ConfigDeltaView, 'measure'> {
  readonly measure: ConfigDeltaView['measure'] | 'backend_p99';
}

export interface ComparisonSampleView {
  readonly requests: number;
  readonly otherRequests: number;
  readonly confidence: number;
  readonly failuresToHold: number;
  readonly rarestFault: number;
  readonly formula: string;
}

export interface ComparisonFaultView {
  readonly rate: number;
  readonly requestsNeeded: number | null;
  readonly seconds: number | null;
}

export interface ExposureView {
  readonly rollout: ConfigHealthView['stage'];
  readonly balancers: number;
  readonly of: number;
  readonly share: number;
  readonly requestShare: number;
  readonly batches: number;
}

export interface DropsView {
  readonly copies: number;
  readonly dropped: number;
  readonly share: number;
}

export interface ComparisonView {
  readonly kind: 'canary' | 'shadow' | 'zone' | 'cohorts';
  readonly attribute: ComparisonAsked['attribute'];
  readonly a: string;
  readonly b: string | null;
  readonly cluster: string | null;
  readonly from: string;
  readonly to: string;
  readonly verdict: 'worse' | 'no_worse' | 'hold' | 'withheld';
  readonly reason: string;
  readonly worse: readonly ComparisonDeltaView['measure'][];
  readonly deltas: readonly ComparisonDeltaView[];
  readonly sample: ComparisonSampleView;
  readonly fault: ComparisonFaultView;
  readonly exposure: ExposureView | null;
  readonly drops: DropsView | null;
  readonly members: readonly string[];
  readonly others: readonly string[];
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Pass as `cursor` for the next page; null on the last. */
  readonly next: string | null;
}

export interface Health {
  readonly ready: boolean;
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[];
}

/** A slow change for the worse, as the weekly review lists it. */
export interface TrendView {
  /** `cluster`, `zone`, `balancer`; empty = the whole fleet. */
  readonly subject: LabelObject;
  readonly measure: MeasureName;
  readonly unit: string;
  /** The alert whose slow sibling it is, who acts on it, and its runbook. */
  readonly alert: string;
  readonly owner: string;
  readonly runbook: string;
  /** Middle of the last and of the first seven days. */
  readonly now: number;
  readonly before: number;
  readonly slopePerWeek: number;
  readonly confidence: number;
  readonly samples: number;
  /** One sentence for people. */
  readonly summary: string;
}

export interface TrendsView {
  readonly from: string;
  readonly until: string;
  readonly weeks: number;
  /** Hours of that span of which anything is known; fewer than 15 days tell nothing. */
  readonly hours: number;
  /** The steepest first. */
  readonly findings: readonly TrendView[];
}

/** One measure of one subject, day by day. */
export interface TrendRowView {
  readonly subject: LabelObject;
  /** By the days of the series: the middle hour of a level, the sum of a count; null where nothing is known. */
  readonly values: readonly (number | null)[];
  /** Who was the busiest in most hours of each day, where the measure is about one of many. */
  readonly top: readonly (string | null)[];
}

export interface TrendSeriesView {
  readonly measure: MeasureName;
  readonly unit: string;
  readonly from: string;
  readonly until: string;
  readonly weeks: number;
  /** Begins of the days of UTC; the last one is as far as it has come. */
  readonly days: readonly string[];
  /** Those that are the worst now come first. */
  readonly rows: readonly TrendRowView[];
}

export interface TrendSeriesAsked {
  readonly measure: MeasureName;
  /** Null = now; rounded down to the hour. */
  readonly until: string | null;
  readonly weeks: number;
}

/** The read side that api and ui use. Filled by app/queries; does not assume that steps are in memory. */
export interface Queries extends HistoryQueries {
  slos(): readonly SloView[];
  slo(id: string): SloView | null;
  alerts(): readonly AlertView[];
  incidents(filter: {
    readonly state: IncidentState | 'active' | null;
    readonly cursor: string | null;
    readonly limit: number;
  }): Page<IncidentView>;
  incident(id: number): IncidentDetailView | null;
  fleet(): readonly BalancerView[];
  /** Newest first. */
  corrections(filter: {
    readonly state: CorrectionState | null;
    readonly cursor: string | null;
    readonly limit: number;
  }): Page<CorrectionView>;
  correction(id: number): CorrectionDetailView | null;
  previewCorrection(request: CorrectionRequest): CorrectionPreviewView | BadField;
  /** Active ones first, then pending, then expired ones. */
  silences(filter: { readonly state: SilenceState | null }): readonly SilenceView[];
  silence(id: string): SilenceView | null;
  previewSilence(matchers: readonly SilenceMatcher[]): SilencePreviewView | BadField;
  /** Names of the receivers that are told of an incident as it is now. */
  receiversOf(incident: number): readonly string[];
  receivers(): readonly string[];
  configVersions(): readonly ConfigVersionView[];
  /** `kind` null = whichever has the version; null where it cannot be compared with anything. */
  configHealth(version: string, kind: string | null): ConfigHealthView | null;
  /** Those that are due first come first. */
  followUps(filter: FollowUpFilter): readonly FollowUpView[];
  compare(asked: ComparisonAsked): ComparisonView | NotComparableView;
  /** `until` an instant, null = now; it is rounded down to the hour. */
  trends(until: string | null, weeks: number): TrendsView;
  trendSeries(asked: TrendSeriesAsked): TrendSeriesView;
  health(): Health;
  /** Markdown of a runbook, or null. `name` is the file name without `.md`. */
  runbook(name: string): string | null;
  runbookNames(): readonly string[];
  /** Of incidents and alerts as they are: another one after each change. */
  version(): string;
  /** Calls `listener` after each such change, until the returned function is called. */
  onChange(listener: () => void): () => void;
  /** Now, as every page and answer of this request shows it. */
  now(): string;
}

export type CommandOutcome =
  | { readonly kind: 'done'; readonly incident: IncidentDetailView }
  | { readonly kind: 'not_found' }
  /** The action does not fit the incident's state; `message` says why and what to do instead. */
  | { readonly kind: 'conflict'; readonly message: string };

/** A correction as a person asks for it: times as texts; `from` and `to`, or `recurring`. */
export interface CorrectionRequest {
  readonly kind: CorrectionKind;
  readonly reason: string;
  readonly by: string;
  readonly slos: readonly string[];
  readonly matchers: readonly string[];
  readonly from: string | null;
  readonly to: string | null;
  readonly recurring: RecurrenceView | null;
}

/** A field does not fit; `message` goes on behind its name. */
export interface BadField {
  readonly kind: 'bad_field';
  readonly field: string;
  readonly message: string;
}

/** A silence as a person asks for it; `id` of one to edit, null for a new one. */
export interface SilenceRequest {
  readonly id: string | null;
  readonly matchers: readonly SilenceMatcher[];
  /** Null = now. */
  readonly startsAt: string | null;
  readonly endsAt: string | null;
  readonly createdBy: string;
  readonly comment: string;
}

export type SilenceOutcome =
  | { readonly kind: 'done'; readonly silence: SilenceView }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'conflict'; readonly message: string }
  | BadField;

export type CorrectionOutcome =
  | { readonly kind: 'done'; readonly correction: CorrectionDetailView }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'conflict'; readonly message: string }
  /** A field does not fit; `message` goes on behind its name. */
  | { readonly kind: 'bad_field'; readonly field: string; readonly message: string };

/** One alert of a message that was not taken: `index` counts from 0. */
export interface RefusedAlert {
  readonly index: number;
  readonly reason: string;
}

/** What became of the alerts of one message. What was accepted is stored. */
export interface AlertsReceived {
  readonly accepted: number;
  /** Older than what is known, nothing new, or the end of what nobody knows. */
  readonly ignored: number;
  /** Not understood. */
  readonly bad: number;
  /** Well-formed, and no room for them. */
  readonly overLimit: number;
  /** What is wrong with the first of those that were not taken. */
  readonly refused: readonly RefusedAlert[];
}

/** The write side that api and ui use. */
export interface Commands {
  /** Alerts raised elsewhere. Throws AppError (retryable) when they cannot be stored. */
  receiveAlerts(alerts: readonly unknown[], way: 'alerts' | 'webhook'): AlertsReceived;
  act(
    incident: number,
    action: {
      readonly kind:
        | 'acknowledge'
        | 'unacknowledge'
        | 'resolve'
        | 'reopen'
        | 'snooze'
        | 'note'
        | 'update'
        | 'merge'
        | 'split';
      readonly by: string;
      readonly note: string | null;
      readonly until: string | null;
      /** Of `merge`: the incident that stays. */
      readonly into?: number | null;
      /** Of `split`: keys of the alerts that go. */
      readonly alerts?: readonly string[] | null;
      /** Of `resolve`: what of the checklist was seen to. */
      readonly checks?: readonly CheckId[] | null;
    },
  ): CommandOutcome;
  addFollowUp(request: FollowUpRequest): FollowUpOutcome;
  /** Never `bad_field`. */
  markFollowUp(id: number, isDone: boolean, by: string): FollowUpOutcome;
  /** Never `conflict`. */
  setSilence(request: SilenceRequest): SilenceOutcome;
  /** Never `bad_field`. */
  expireSilence(id: string): SilenceOutcome;
  correct(request: CorrectionRequest): CorrectionOutcome;
  /** `end` = nothing from now on is left out; `undo` = nothing ever was. */
  changeCorrection(
    id: number,
    change: { readonly kind: 'end' | 'undo'; readonly by: string; readonly reason: string },
  ): CorrectionOutcome;
}
