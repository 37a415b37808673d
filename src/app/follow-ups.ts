import { formatInstant, parseCivilDate } from '../base/instant.ts';
import type { EpochMs } from '../base/units.ts';
import type { FollowUp } from '../model/follow-up.ts';
import type { FollowUpFilter, FollowUpOutcome, FollowUpRequest, FollowUpView } from '../model/views.ts';
import type { FollowUpStore } from '../store/sqlite-follow-ups.ts';

export interface FollowUps {
  /** Of one incident where it is given; those that are due first come first. */
  list(filter: FollowUpFilter, now: EpochMs): readonly FollowUpView[];
  add(request: FollowUpRequest, now: EpochMs): FollowUpOutcome;
  mark(id: number, isDone: boolean, by: string, now: EpochMs): FollowUpOutcome;
}

const DAY_MS = 86_400_000;
const TITLE_MAX = 500;

/** The actions that follow from incidents. `exists` says whether there is such an incident. */
export function createFollowUps(store: FollowUpStore, exists: (incident: number) => boolean): FollowUps {
  return {
    list: ({ state, incident }, now) =>
      store
        .list()
        .filter((one) => incident === null || one.incident === incident)
        .map((one) => toView(one, now))
        .filter((one) => state === null || one.state === state || (state === 'open' && one.state === 'overdue'))
        .sort((a, b) => (a.due < b.due ? -1 : a.due > b.due ? 1 : a.id - b.id)),
    add({ incident, title, owner, due, by }, now) {
      if (!exists(incident)) return { kind: 'not_found' };
      const bad = (field: string, message: string): FollowUpOutcome => ({ kind: 'bad_field', field, message });
      if (title.trim() === '' || title.length > TITLE_MAX)
        return bad('title', `is a text of 1 to ${TITLE_MAX} characters`);
      if (owner.trim() === '') return bad('owner', 'is needed: an action of nobody is done by nobody');
      if (parseCivilDate(due) === undefined) return bad('due', 'is no date such as 2026-03-15');
      const fields = {
        incident,
        title: title.trim(),
        owner: owner.trim(),
        due,
        createdAt: now,
        by,
        doneAt: null,
        doneBy: null,
      };
      return { kind: 'done', followUp: toView(store.add(fields), now) };
    },
    mark(id, isDone, by, now) {
      const known = store.list().find((one) => one.id === id);
      if (known === undefined) return { kind: 'not_found' };
      if ((known.doneAt !== null) === isDone) {
        return { kind: 'conflict', message: `action ${id} is ${isDone ? 'done' : 'open'} already` };
      }
      const changed = { ...known, doneAt: isDone ? now : null, doneBy: isDone ? by : null };
      store.save(changed);
      return { kind: 'done', followUp: toView(changed, now) };
    },
  };
}

function toView(one: FollowUp, now: EpochMs): FollowUpView {
  // It is due on that day, and overdue when the day is over.
  const isOver = Math.floor(now / DAY_MS) > (parseCivilDate(one.due) ?? Number.POSITIVE_INFINITY);
  return {
    ...one,
    state: one.doneAt !== null ? 'done' : isOver ? 'overdue' : 'open',
    createdAt: formatInstant(one.createdAt),
    doneAt: one.doneAt === null ? null : formatInstant(one.doneAt),
  };
}
