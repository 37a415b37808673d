import type { EpochMs } from '../base/units.ts';
import type { Alert, Severity } from './alert.ts';
import type { Attachment } from './hook.ts';
import type { Mute } from './mute.ts';
import type { CheckId, CustomerUpdate } from './practice.ts';

export type IncidentState = 'open' | 'acknowledged' | 'resolved';

/** `moved`: it goes on in another incident. */
export type MemberState = 'firing' | 'resolved' | 'moved';

/** An alert inside an incident, with the reason why it is there. */
export interface IncidentMember {
  /** The alert as last seen. */
  readonly alert: Alert;
  readonly state: MemberState;
  readonly joinedAt: EpochMs;
  readonly resolvedAt: EpochMs | null;
  /** Why it joined, for a person: `first alert`, `HostEjections explains UpstreamErrors in cluster checkout, 40 s apart`. */
  readonly reason: string;
  /** Why nobody is told of it; absent or empty = audible. As long as it fires. */
  readonly mutes?: readonly Mute[];
  /** False from its start until it is first audible; absent = true. */
  readonly heard?: boolean;
}

export interface Acknowledgement {
  readonly by: string;
  readonly at: EpochMs;
  /** When it lapses if a page tier still holds and nobody acts; null = never. */
  readonly lapsesAt: EpochMs | null;
}

/** What has been said about one episode; decides whether anything more needs saying. */
export interface Announced {
  /** Severity that was last said; null = nothing yet. Kept over a reopening. */
  readonly severity: Severity | null;
  /** When a page was last sent. */
  readonly lastPageAt: EpochMs | null;
  /** Tiers for which a page was sent. */
  readonly tiers: readonly string[];
  /** Failure domains (`zone=b`, `cluster=checkout`) named in what was sent. */
  readonly domains: readonly string[];
  /** The episode in which something was last said; 0 = never. Only what was said in an episode is closed at its end. */
  readonly episode: number;
  /** A `still_burning` page was sent in this episode. */
  readonly stillBurning: boolean;
}

/** One kind of alert in so many clusters within a minute that it is one incident. */
export interface Storm {
  /** Kinds that did so, in the order in which that was seen. */
  readonly kinds: readonly string[];
  /** Clusters that were known then. */
  readonly known: number;
}

/** One incident. `episode` counts its lives: 1 at first, +1 at each reopening. */
export interface Incident {
  readonly id: number;
  readonly episode: number;
  /** Number of the last entry in its timeline, notifications included. */
  readonly seq: number;
  readonly state: IncidentState;
  /** Highest among firing members; keeps its last value once all have resolved. */
  readonly severity: Severity;
  readonly tier: string | null;
  readonly title: string;
  /** Key of the alert that is the likeliest cause. */
  readonly lead: string;
  readonly members: readonly IncidentMember[];
  readonly openedAt: EpochMs;
  /** Start of this episode. */
  readonly episodeAt: EpochMs;
  readonly changedAt: EpochMs;
  /** Since when no member fires; null while one does. */
  readonly quietSince: EpochMs | null;
  readonly resolvedAt: EpochMs | null;
  /** The person who resolved it; null or absent where its alerts did. */
  readonly resolvedBy?: string | null;
  readonly acknowledgement: Acknowledgement | null;
  readonly snoozedUntil: EpochMs | null;
  /** Runbook of the lead, as in Alert.runbook. */
  readonly runbook: string;
  /** The earlier incident of the same lead that this one follows; null if there is none. */
  readonly previous: number | null;
  readonly announced: Announced;
  /** Null = no storm. Incidents that were stored before there were storms lack it. */
  readonly storm?: Storm | null;
  /** The incident that it was merged into; it is resolved then, and its alerts go on there. */
  readonly mergedInto?: number | null;
  /** What customers were told last; absent = nothing. */
  readonly update?: CustomerUpdate | null;
  /** What hooks have brought to look at, oldest first; absent = nothing. */
  readonly attachments?: readonly Attachment[];
}

export type IncidentHead = Omit<Incident, 'members'>;

export type IncidentChangeKind =
  | 'opened'
  | 'joined'
  | 'left'
  | 'lead_changed'
  | 'escalated'
  | 'deescalated'
  | 'acknowledged'
  | 'unacknowledged'
  | 'ack_lapsed'
  | 'snoozed'
  | 'note'
  | 'hook'
  | 'update'
  | 'muted'
  | 'unmuted'
  | 'resolved'
  | 'reopened'
  | 'merged'
  | 'split';

/** One line of an incident's timeline. `seq` counts from 1 within the incident. */
export interface IncidentChange {
  readonly incident: number;
  readonly episode: number;
  readonly seq: number;
  readonly at: EpochMs;
  readonly change: IncidentChangeKind;
  /** Who: `slowburn` or the person. */
  readonly by: string;
  readonly reason: string;
  /** The incident right after the change, but for its members: thousands may join in one tick. */
  readonly after: IncidentHead;
  /** How many members it had then: the first ones of the incident, which only adds to them. */
  readonly members: number;
}

export type NotificationReason =
  | 'opened'
  | 'escalated'
  | 'new_failure_domain'
  | 'still_burning'
  | 'ack_lapsed'
  | 'unmuted'
  | 'deescalated'
  | 'resolved'
  | 'merged';

/** Reasons that close what was said before, or take it back; they page nobody. */
export const CLOSING: readonly NotificationReason[] = ['resolved', 'merged', 'deescalated'];

/** A decision to tell: made by the correlator, turned into one outbox entry per receiver that routes choose. */
export interface Notification {
  readonly incident: Incident;
  readonly seq: number;
  readonly at: EpochMs;
  readonly reason: NotificationReason;
  readonly severity: Severity;
  readonly tier: string | null;
  /** Why it is sent now, for a person. */
  readonly why: string;
}

/** What a person did (HTTP API or a replay line). */
export type IncidentAction =
  | { readonly kind: 'acknowledge'; readonly by: string; readonly note: string | null; readonly until: EpochMs | null }
  | { readonly kind: 'unacknowledge'; readonly by: string; readonly note: string | null }
  | {
      readonly kind: 'resolve';
      readonly by: string;
      readonly note: string | null;
      /** What of the checklist was seen to; absent = nobody asked. */
      readonly checks?: readonly CheckId[];
    }
  /** Customers were told; `until` is when they are to hear again. */
  | { readonly kind: 'update'; readonly by: string; readonly note: string; readonly until: EpochMs | null }
  | { readonly kind: 'reopen'; readonly by: string; readonly note: string | null }
  | { readonly kind: 'snooze'; readonly by: string; readonly note: string | null; readonly until: EpochMs }
  | { readonly kind: 'note'; readonly by: string; readonly note: string }
  /** What a hook did, and what it brought. */
  | { readonly kind: 'hook'; readonly by: string; readonly note: string; readonly attachment: Attachment | null }
  /** Its alerts go on in incident `into`. */
  | { readonly kind: 'merge'; readonly by: string; readonly note: string | null; readonly into: number }
  /** These of its alerts, by their keys, go on in an incident of their own. */
  | { readonly kind: 'split'; readonly by: string; readonly note: string | null; readonly alerts: readonly string[] };

/** The alert of `incident.lead`; the first member when the lead has left. */
export function leadAlert(incident: Incident): Alert {
  const lead = incident.members.find((member) => member.alert.key === incident.lead) ?? incident.members[0];
  if (lead === undefined) throw new Error(`BUG: incident ${incident.id} has no member`);
  return lead.alert;
}
