import { Type } from 'typebox';
import type {
  AlertView,
  AttachmentView,
  EvidenceView,
  HookCallView,
  IncidentDetailView,
  IncidentView,
  JudgementView,
  MemberView,
  MuteView,
  SendView,
  TimelineEntryView,
} from '../model/views.ts';
import { FOLLOW_UP_STATES, type FollowUpView } from '../model/views.ts';
import {
  flag,
  instant,
  instantOrNull,
  labelSet,
  listOf,
  numberOrNull,
  oneOf,
  oneOfOrNull,
  pageSchema,
  ref,
  refOrNull,
  SEVERITIES,
  text,
  textOrNull,
  texts,
  viewSchema,
  wholeOf,
  wholeOrNull,
} from './schema-parts.ts';
import { EXHAUSTION } from './slo-schemas.ts';

const INCIDENT_STATES = ['open', 'acknowledged', 'resolved'] as const;

export const EVIDENCE = viewSchema<EvidenceView>('Evidence', 'One reason that an alert gives for itself.', {
  name: text('What was measured.'),
  value: Type.Unsafe({ type: ['number', 'string', 'boolean', 'null'], description: 'What a machine compares.' }),
  unit: textOrNull('Unit of a number, UCUM-like.'),
  text: text('What a person reads.'),
});

export const MUTE = viewSchema<MuteView>('Mute', 'Why nobody is told of an alert.', {
  kind: oneOf(['silence', 'interval', 'inhibition'], 'What mutes it.'),
  silence: textOrNull('Id of the silence.'),
  interval: textOrNull('Name of the mute interval.'),
  source: textOrNull('Key of the alert that inhibits it.'),
  until: instantOrNull('When that ends; null for an inhibition.'),
  text: text('The same in words, with who and why.'),
});

export const ALERT = viewSchema<AlertView>('Alert', 'A firing or just resolved alert.', {
  key: text('Identity: name and identity labels.'),
  name: text('Name; the runbook has the same.'),
  state: oneOf(['firing', 'resolved', 'moved'], 'Whether it fires; moved = it goes on in another incident.'),
  severity: oneOf(SEVERITIES, 'page wakes a person, ticket does not.'),
  tier: textOrNull('Highest tier of this episode; null for detectors.'),
  tiersHolding: texts('Tiers that hold now, highest first.'),
  labels: labelSet('Identity labels and those carried from the SLO or rule.'),
  matchedLabels: labelSet('What matchers of silences see: labels, place, alertname, severity.'),
  since: instant('When it began to fire.'),
  owner: oneOf(['edge', 'service', 'network', 'partner'], 'Who acts first.'),
  summary: text('One sentence in the terms of users.'),
  runbook: text('Name of its runbook, or an absolute URL.'),
  evidence: listOf(ref<EvidenceView>(EVIDENCE), 'Why it fires.'),
  exhaustion: refOrNull(EXHAUSTION, 'For burn alerts, when the budget is gone.'),
  budgetRemaining: numberOrNull('For burn alerts, share of the budget that is left.'),
  incident: wholeOrNull('Id of the incident that holds it.'),
  link: textOrNull('Address of what raised it elsewhere; null for our own.'),
  mutes: listOf(ref<MuteView>(MUTE), 'What keeps messages about it back; empty = nothing.'),
});

const incidentFields = {
  id: wholeOf('Number of the incident, from 1.'),
  episode: wholeOf('Which of its lives this is, from 1.'),
  state: oneOf(INCIDENT_STATES, 'Where it stands.'),
  severity: oneOf(SEVERITIES, 'Highest among its firing alerts.'),
  tier: textOrNull('Highest tier among its alerts.'),
  title: text('What is wrong, in one line.'),
  lead: ref<AlertView>(ALERT),
  exhaustion: refOrNull(EXHAUSTION, 'For burn alerts, when the budget is gone.'),
  alerts: texts('Names of its alerts.'),
  runbook: text('Name of the runbook of its lead, or an absolute URL.'),
  runbookUrl: text('Where that runbook can be read.'),
  openedAt: instant('When it opened.'),
  changedAt: instant('When it last changed.'),
  resolvedAt: instantOrNull('When it resolved; null while it has not.'),
  acknowledgedBy: textOrNull('Who acknowledged it.'),
  acknowledgementLapsesAt: instantOrNull('When that lapses if a page goes on and nobody acts.'),
  snoozedUntil: instantOrNull('Until when it is snoozed.'),
  previous: wholeOrNull('Id of the earlier incident that this one follows.'),
  mergedInto: wholeOrNull('Id of the incident in which its alerts go on.'),
  customersToldAt: instantOrNull('When customers were last told of it.'),
  updateDueAt: instantOrNull('When they are to hear of it next; null where it does not page or is over.'),
};

export const INCIDENT = viewSchema<IncidentView>('Incident', 'Related alerts as one thing to act on.', incidentFields);

export const MEMBER = viewSchema<MemberView>('Member', 'An alert inside an incident, and why it is there.', {
  alert: ref<AlertView>(ALERT),
  joinedAt: instant('When it joined.'),
  resolvedAt: instantOrNull('When it resolved; null while it fires.'),
  reason: text('Why it joined.'),
});

export const TIMELINE_ENTRY = viewSchema<TimelineEntryView>('TimelineEntry', 'One change of an incident.', {
  seq: wholeOf('Number of the change within the incident, from 1.'),
  episode: wholeOf('Episode in which it happened.'),
  at: instant('When.'),
  change: oneOf(
    [
      'opened',
      'joined',
      'left',
      'lead_changed',
      'escalated',
      'deescalated',
      'acknowledged',
      'unacknowledged',
      'ack_lapsed',
      'snoozed',
      'note',
      'hook',
      'update',
      'muted',
      'unmuted',
      'resolved',
      'reopened',
      'merged',
      'split',
    ],
    'What changed.',
  ),
  by: text('Who: slowburn or a person.'),
  reason: text('Why.'),
});

export const SEND = viewSchema<SendView>('Send', 'One message to one receiver.', {
  eventId: text('The same at every attempt.'),
  episode: wholeOf('Episode that it tells of.'),
  receiver: text('Name of the receiver.'),
  reason: oneOf(
    [
      'opened',
      'escalated',
      'new_failure_domain',
      'still_burning',
      'ack_lapsed',
      'unmuted',
      'deescalated',
      'resolved',
      'merged',
    ],
    'Why it was sent.',
  ),
  at: instant('When it was decided.'),
  state: oneOf(['pending', 'delivered', 'dead'], 'dead = given up; see lastError.'),
  attempts: wholeOf('Attempts so far.'),
  deliveredAt: instantOrNull('When the receiver took it.'),
  lastError: textOrNull('What the last failed attempt met.'),
});

export const ATTACHMENT = viewSchema<AttachmentView>('Attachment', 'Something to look at, brought by a hook.', {
  title: text('What it is.'),
  link: text('Where it is.'),
  at: instant('When the hook answered.'),
  by: text('Name of the hook.'),
});

export const HOOK_CALL = viewSchema<HookCallView>('HookCall', 'A call of a hook, or why it was not called.', {
  id: text('Sent along as Idempotency-Key.'),
  hook: text('Name of the hook.'),
  kind: oneOf(['capture', 'remediate'], 'What it does.'),
  alert: text('Name of the alert that it is for.'),
  at: instant('When it was decided.'),
  state: oneOf(
    ['calling', 'done', 'refused', 'failed', 'unknown'],
    'refused = a bound forbade it; unknown = slowburn stopped while it was under way.',
  ),
  refusal: oneOfOrNull(
    [
      'asked_lately',
      'too_many_captures',
      'no_balancer',
      'no_host',
      'foreign',
      'muted',
      'not_while',
      'host_bound',
      'pool_unknown',
      'pool_bound',
    ],
    'Which bound, of a refusal.',
  ),
  reason: text('Why, and what came of it.'),
  link: textOrNull('What the answer linked to.'),
  endedAt: instantOrNull('When it was over; null while it is under way.'),
});

export const FOLLOW_UP = viewSchema<FollowUpView>('Action', 'Something to do after an incident.', {
  id: wholeOf('Number of the action, from 1.'),
  incident: wholeOf('Id of the incident that it follows from.'),
  title: text('What is to be done.'),
  owner: text('By whom.'),
  due: text('By which day, UTC: 2026-03-15.'),
  state: oneOf(FOLLOW_UP_STATES, 'overdue = open after that day.'),
  createdAt: instant('When it was written down.'),
  by: text('By whom.'),
  doneAt: instantOrNull('When it was done.'),
  doneBy: textOrNull('Who said so.'),
});

export const FOLLOW_UP_PAGE = pageSchema('ActionPage', ref<FollowUpView>(FOLLOW_UP));

export const JUDGEMENT = viewSchema<JudgementView>('Judgement', 'Whether the pages of an incident were noise.', {
  at: instant('When it was said.'),
  by: text('By whom.'),
  noise: flag('Nobody had to be told.'),
  note: textOrNull('Why.'),
});

export const INCIDENT_DETAIL = viewSchema<IncidentDetailView>(
  'IncidentDetail',
  'An incident with its alerts, its timeline and what was sent.',
  {
    ...incidentFields,
    members: listOf(ref<MemberView>(MEMBER), 'Its alerts, each with the reason for its being here.'),
    timeline: listOf(ref<TimelineEntryView>(TIMELINE_ENTRY), 'Everything that changed, oldest first.'),
    sends: listOf(ref<SendView>(SEND), 'Every message about it.'),
    attachments: listOf(ref<AttachmentView>(ATTACHMENT), 'What hooks brought to look at, oldest first.'),
    hooks: listOf(ref<HookCallView>(HOOK_CALL), 'Calls of hooks, and refusals, oldest first.'),
    followUps: listOf(ref<FollowUpView>(FOLLOW_UP), 'Actions that follow from it.'),
    judgements: listOf(ref<JudgementView>(JUDGEMENT), 'Whether its pages were noise; the last counts.'),
  },
);

/** `active` = open or acknowledged. */
export const INCIDENT_FILTERS = [...INCIDENT_STATES, 'active'] as const;

export const ALERT_PAGE = pageSchema('AlertPage', ref<AlertView>(ALERT));
export const INCIDENT_PAGE = pageSchema('IncidentPage', ref<IncidentView>(INCIDENT));
