import { type EpochMs, epochMs } from '../base/units.ts';
import type { IncidentAction } from '../model/incident.ts';
import { CHECK_IDS, checklistText, nextUpdate, updateDueAt } from '../model/practice.ts';
import { type IncidentDraft, isHeld } from './draft.ts';
import { close, openNow, reopen } from './lifecycle.ts';
import type { CorrelationSettings } from './settings.ts';

/** What a person does to one incident alone. */
export type SingleAction = Exclude<IncidentAction, { readonly kind: 'merge' | 'split' }>;

/** What a person did. Returns why it does not fit the incident's state, or null when it is done. */
export function applyAction(
  draft: IncidentDraft,
  action: SingleAction,
  settings: CorrelationSettings,
  now: EpochMs,
): string | null {
  const refusal = refusalOf(draft, action);
  if (refusal !== null) return refusal;
  const { by } = action;
  const why = action.note ?? `by ${by}`;
  // What somebody works on is open.
  if (isHeld(draft.incident)) openNow(draft, now, by);
  switch (action.kind) {
    case 'acknowledge': {
      if (draft.incident.state === 'resolved') {
        // It came too late to change anything, and is no mistake of the person's.
        draft.record('acknowledged', `${why}; it was resolved already`, {}, by);
        return null;
      }
      const lapsesAt = action.until ?? epochMs(now + settings.ackLapse);
      draft.record('acknowledged', why, { state: 'acknowledged', acknowledgement: { by, at: now, lapsesAt } }, by);
      return null;
    }
    case 'unacknowledge':
      draft.record('unacknowledged', why, { state: 'open', acknowledgement: null }, by);
      return null;
    case 'resolve':
      close(draft, now, action.checks === undefined ? why : `${why}; ${checklistText(action.checks)}`, by);
      return null;
    case 'reopen':
      reopen(draft, now, why, by);
      return null;
    case 'snooze':
      stayAcknowledged(draft, settings, now);
      draft.record('snoozed', why, { snoozedUntil: action.until }, by);
      return null;
    case 'note':
      stayAcknowledged(draft, settings, now);
      draft.record('note', action.note, {}, by);
      return null;
    case 'update': {
      stayAcknowledged(draft, settings, now);
      const due = updateDueAt(draft.head);
      const late = due !== null && now > due ? ` (${Math.ceil((now - due) / 60_000)} min late)` : '';
      const update = { at: now, dueAt: nextUpdate(now, action.until) };
      draft.record('update', `customers told${late}: ${action.note}`, { update }, by);
      return null;
    }
    case 'hook': {
      const { attachment } = action;
      const attachments = [...(draft.head.attachments ?? []), ...(attachment === null ? [] : [attachment])];
      // What a hook does is nobody's act: an acknowledgement lapses as if it were not.
      draft.record('hook', action.note, attachment === null ? {} : { attachments }, by);
      return null;
    }
  }
}

function refusalOf(draft: IncidentDraft, action: SingleAction): string | null {
  const { kind } = action;
  const { id, state } = draft.incident;
  const isResolved = state === 'resolved';
  switch (kind) {
    case 'snooze':
      return isResolved ? `incident ${id} is resolved; reopen it if it is not over` : null;
    case 'unacknowledge':
      return state === 'acknowledged' ? null : `incident ${id} is not acknowledged`;
    case 'resolve':
      if (isResolved) return `incident ${id} is resolved already`;
      return uncheckedRefusal(action);
    case 'reopen':
      return isResolved ? null : `incident ${id} is open`;
    case 'acknowledge':
    case 'note':
    case 'update':
    case 'hook':
      return null;
  }
}

/** What of the checklist is left open needs a reason. */
function uncheckedRefusal(action: SingleAction): string | null {
  if (action.kind !== 'resolve' || action.checks === undefined || action.note !== null) return null;
  const { checks } = action;
  const open = CHECK_IDS.filter((id) => !checks.includes(id));
  return open.length === 0 ? null : `not checked: ${open.join(', ')}; check it, or say why not in a note`;
}

/** Somebody acted: the acknowledgement lapses that much later. */
function stayAcknowledged(draft: IncidentDraft, settings: CorrelationSettings, now: EpochMs): void {
  const { acknowledgement } = draft.incident;
  if (acknowledgement === null || acknowledgement.lapsesAt === null) return;
  const lapsesAt = epochMs(Math.max(acknowledgement.lapsesAt, now + settings.ackLapse));
  draft.set({ acknowledgement: { ...acknowledgement, lapsesAt } });
}
