import type { BalancerState } from '../aggregate/features.ts';
import { formatInstant } from '../base/instant.ts';
import type { EpochMs } from '../base/units.ts';
import type { GroupStatus } from '../burn/status.ts';
import { boundFix } from '../config/bound-settings.ts';
import type { Alert, Exhaustion } from '../model/alert.ts';
import type { Attachment, HookCall } from '../model/hook.ts';
import {
  type Incident,
  type IncidentChange,
  type IncidentMember,
  leadAlert,
  type MemberState,
} from '../model/incident.ts';
import { labelsToObject } from '../model/labels.ts';
import { type Mute, muteLabels, muteText } from '../model/mute.ts';
import type { NoiseMark } from '../model/noise-mark.ts';
import { updateDueAt } from '../model/practice.ts';
import type {
  AlertView,
  AttachmentView,
  BalancerView,
  BudgetingMethod,
  ExhaustionView,
  FollowUpView,
  GroupViewOut,
  HookCallView,
  IncidentDetailView,
  IncidentView,
  MemberView,
  MuteView,
  SendView,
  SliceCoverageView,
  SloView,
  TimelineEntryView,
} from '../model/views.ts';
import { sliceWidthOf } from '../slo/slices.ts';
import type { Budgeting } from '../slo/slo.ts';
import type { OutboxEntry } from '../store/store.ts';

/** Conversions from what the engine holds to what api, ui and replay show. No IO, no clock. */

const instantOrNull = (at: EpochMs | null): string | null => (at === null ? null : formatInstant(at));
const secondsOrNull = (duration: number | null): number | null => (duration === null ? null : duration / 1000);

export const toExhaustionView = (exhaustion: Exhaustion): ExhaustionView => ({
  exhausted: exhaustion.exhausted,
  seconds: secondsOrNull(exhaustion.until),
  low: secondsOrNull(exhaustion.low),
  high: secondsOrNull(exhaustion.high),
  paceSeconds: secondsOrNull(exhaustion.pace),
  recoversAt: instantOrNull(exhaustion.recoversAt),
});

const METHODS: Readonly<Record<Budgeting['kind'], BudgetingMethod>> = {
  occurrences: 'Occurrences',
  timeslices: 'Timeslices',
  ratio_timeslices: 'RatioTimeslices',
};

const toSliceCoverageView = (slices: GroupStatus['slices']): SliceCoverageView | null =>
  slices === null ? null : { ...slices, coverage: slices.expected === 0 ? 0 : slices.observed / slices.expected };

export const toGroupView = (status: GroupStatus): GroupViewOut => ({
  labels: labelsToObject(status.labels),
  state: status.state,
  coverage: status.coverage,
  good: status.good,
  bad: status.bad,
  total: status.total,
  slices: toSliceCoverageView(status.slices),
  members: status.members,
  sli: status.sli,
  sliBracket: status.sliBracket,
  leftOut: status.leftOut,
  budgetRemaining: status.budgetRemaining,
  budgetRemainingBracket: status.budgetRemainingBracket,
  budgetRemainingSoFar: status.budgetRemainingSoFar,
  resetsAt: instantOrNull(status.resetsAt),
  burn: Object.fromEntries(status.burn),
  exhaustion: toExhaustionView(status.exhaustion),
  tier: status.tier,
  tiersHolding: status.tiersHolding,
  severity: status.severity,
});

/** One SLO with the given groups (all of its own in the API, one in replay's last lines). */
export const toSloView = (slo: GroupStatus['slo'], groups: readonly GroupStatus[]): SloView => ({
  id: slo.id,
  service: slo.service,
  displayName: slo.displayName,
  objective: slo.objective.text,
  window: slo.window.text,
  rolling: slo.window.rolling,
  budgetingMethod: METHODS[slo.budgeting.kind],
  timeSliceSeconds: secondsOrNull(sliceWidthOf(slo.budgeting)),
  timeSliceTarget: slo.budgeting.kind === 'timeslices' ? slo.budgeting.target.text : null,
  labels: labelsToObject(slo.labels),
  groups: groups.map(toGroupView),
});

const toMuteView = (mute: Mute): MuteView => ({
  kind: mute.kind,
  silence: mute.kind === 'silence' ? mute.id : null,
  interval: mute.kind === 'interval' ? mute.name : null,
  source: mute.kind === 'inhibition' ? mute.source : null,
  until: mute.kind === 'inhibition' ? null : formatInstant(mute.until),
  text: muteText(mute),
});

export const toAlertView = (
  alert: Alert,
  state: MemberState,
  incident: number | null,
  mutes: readonly Mute[] = [],
): AlertView => ({
  key: alert.key,
  name: alert.name,
  state,
  severity: alert.severity,
  tier: alert.tier,
  tiersHolding: alert.tiersHolding,
  labels: labelsToObject(alert.labels),
  matchedLabels: labelsToObject(muteLabels(alert)),
  since: formatInstant(alert.since),
  owner: alert.owner,
  summary: alert.summary,
  runbook: alert.runbook,
  evidence: alert.evidence.map(({ name, value, unit, text }) => ({ name, value, unit: unit ?? null, text })),
  exhaustion: alert.burn === null ? null : toExhaustionView(alert.burn.exhaustion),
  budgetRemaining: alert.burn?.budgetRemaining ?? null,
  incident,
  link: alert.foreign?.link ?? null,
  mutes: state === 'firing' ? mutes.map(toMuteView) : [],
});

/** Where the runbook of an incident is read, filled in. */
export type RunbookUrl = (runbook: string, incident: number) => string;

export function toIncidentView(incident: Incident, runbookUrl: RunbookUrl): IncidentView {
  const lead = leadAlert(incident);
  const leadMember = incident.members.find((member) => member.alert.key === lead.key);
  return {
    id: incident.id,
    episode: incident.episode,
    state: incident.state,
    severity: incident.severity,
    tier: incident.tier,
    title: incident.title,
    lead: toAlertView(lead, leadMember?.state ?? 'resolved', incident.id, leadMember?.mutes),
    exhaustion: soonestExhaustion(incident),
    alerts: incident.members.map((member) => member.alert.name),
    runbook: incident.runbook,
    runbookUrl: runbookUrl(incident.runbook, incident.id),
    openedAt: formatInstant(incident.openedAt),
    changedAt: formatInstant(incident.changedAt),
    resolvedAt: instantOrNull(incident.resolvedAt),
    acknowledgedBy: incident.acknowledgement?.by ?? null,
    acknowledgementLapsesAt: instantOrNull(incident.acknowledgement?.lapsesAt ?? null),
    snoozedUntil: instantOrNull(incident.snoozedUntil),
    previous: incident.previous,
    mergedInto: incident.mergedInto ?? null,
    customersToldAt: instantOrNull(incident.update?.at ?? null),
    updateDueAt: instantOrNull(updateDueAt(incident)),
  };
}

/** The exhaustion of the firing member with the least time left, else of any that burnt. */
function soonestExhaustion(incident: Incident): ExhaustionView | null {
  const burning = incident.members.filter(({ alert }) => alert.burn !== null);
  const firing = burning.filter(({ state }) => state === 'firing');
  const left = ({ alert }: IncidentMember): number => alert.burn?.exhaustion.until ?? Number.POSITIVE_INFINITY;
  const [first] = [...(firing.length > 0 ? firing : burning)].sort((a, b) => left(a) - left(b));
  return first?.alert.burn ? toExhaustionView(first.alert.burn.exhaustion) : null;
}

const toMemberView = (member: IncidentMember, incident: number): MemberView => ({
  alert: toAlertView(member.alert, member.state, incident, member.mutes),
  joinedAt: formatInstant(member.joinedAt),
  resolvedAt: instantOrNull(member.resolvedAt),
  reason: member.reason,
});

const toTimelineEntry = (change: IncidentChange): TimelineEntryView => ({
  seq: change.seq,
  episode: change.episode,
  at: formatInstant(change.at),
  change: change.change,
  by: change.by,
  reason: change.reason,
});

const toSendView = (entry: OutboxEntry): SendView => ({
  eventId: entry.eventId,
  episode: entry.episode,
  receiver: entry.receiver,
  reason: entry.reason,
  at: formatInstant(entry.at),
  state: entry.state,
  attempts: entry.attempts,
  deliveredAt: instantOrNull(entry.deliveredAt),
  lastError: entry.lastError,
});

const toAttachmentView = ({ title, link, at, by }: Attachment): AttachmentView => ({
  title,
  link,
  at: formatInstant(at),
  by,
});

const toHookCallView = (call: HookCall): HookCallView => ({
  id: call.id,
  hook: call.hook,
  kind: call.kind,
  alert: call.alertName,
  at: formatInstant(call.at),
  state: call.state,
  refusal: call.refusal,
  reason: call.reason,
  link: call.link,
  endedAt: instantOrNull(call.endedAt),
});

export const toIncidentDetail = (
  incident: Incident,
  timeline: readonly IncidentChange[],
  sends: readonly OutboxEntry[],
  hooks: readonly HookCall[],
  followUps: readonly FollowUpView[],
  marks: readonly NoiseMark[],
  runbookUrl: RunbookUrl,
): IncidentDetailView => ({
  ...toIncidentView(incident, runbookUrl),
  members: incident.members.map((member) => toMemberView(member, incident.id)),
  timeline: timeline.map(toTimelineEntry),
  sends: sends.map(toSendView),
  attachments: (incident.attachments ?? []).map(toAttachmentView),
  hooks: hooks.map(toHookCallView),
  followUps,
  judgements: marks.map(({ at, by, isNoise, note }) => ({ at: formatInstant(at), by, noise: isNoise, note })),
});

/** 250 ms are 0.25 s, and no 0.25000000000000006. */
const rounded = (seconds: number): number => Number(seconds.toPrecision(12));

export const toBalancerView = (balancer: BalancerState): BalancerView => ({
  id: balancer.id,
  flavor: balancer.flavor,
  version: balancer.version,
  zone: balancer.zone,
  lastSeen: formatInstant(balancer.newestPointAt),
  intervalSeconds: balancer.interval / 1000,
  stale: balancer.stale,
  clusters: balancer.clusters,
  seriesCount: balancer.seriesCount,
  stages: balancer.stages,
  metricsUnderstood: balancer.metricsUnderstood,
  metricsIgnored: balancer.metricsIgnored,
  thresholdsBetweenBounds: balancer.brackets.map(({ slo, threshold, below, above }) => ({
    slo,
    threshold,
    below: rounded(below),
    above: Number.isFinite(above) ? rounded(above) : null,
    fix: boundFix(balancer.flavor, threshold),
  })),
});
