import type { Alert } from '../model/alert.ts';
import type { IncidentMember } from '../model/incident.ts';
import { alertText, type Mute, muteKey, muteText } from '../model/mute.ts';
import { type IncidentDraft, isHeld, isMuted } from './draft.ts';
import type { MuteSource } from './mute.ts';

/** What became audible in a tick because a mute ended; `announce` decides whether it is worth a word. */
export interface Unmuted {
  /** What ended. */
  readonly text: string;
  /** An alert that pages came up, or came back, under the mute. */
  readonly pages: boolean;
  /** Nothing that is audible now was audible before in this episode. */
  readonly isNew: boolean;
}

const ALERTS_NAMED = 3;

/**
 * Brings what is muted in an incident up to date, and writes down each mute that began or ended, once. Changes nothing
 * else about the incident. Null when nothing became audible by the end of a mute.
 */
export function applyMutes(draft: IncidentDraft, mutesOf: MuteSource): Unmuted | null {
  if (isHeld(draft.incident)) return null;
  const began = new Changes();
  const ended = new Changes();
  const freed: IncidentMember[] = [];
  const wereHeard: boolean[] = [];
  draft.changeMembers((member): IncidentMember => {
    const before = member.mutes ?? [];
    const found = mutesOf(member.alert, before);
    if (member.state !== 'firing') return withMutes(member, common(before, found), member.heard !== false);
    for (const mute of found) if (!has(before, mute)) began.add(mute, member.alert);
    for (const mute of before) if (!has(found, mute)) ended.add(mute, member.alert);
    if (found.length === 0) {
      wereHeard.push(member.heard !== false);
      if (before.length > 0) freed.push(member);
    }
    return withMutes(member, found, member.heard !== false || found.length === 0);
  });
  began.record((mute, alerts) => draft.record('muted', `${namesOf(alerts)}: ${muteText(mute)}`));
  ended.record((mute, alerts) => draft.record('unmuted', endText(draft, mute, alerts)));
  if (freed.length === 0) return null;
  return {
    text: ended.texts(freed.map(({ alert }) => alert.key)),
    pages: freed.some(({ alert, heard }) => heard === false && alert.severity === 'page'),
    isNew: !wereHeard.includes(true),
  };
}

/** Something was due while nobody could be told of what pages: it counts as news once they can. */
export function oweNews(draft: IncidentDraft): void {
  draft.changeMembers((member) =>
    isMuted(member) && member.state === 'firing' && member.alert.severity === 'page'
      ? withMutes(member, member.mutes ?? [], false)
      : member,
  );
}

/** Alerts by the mute that began or ended for them. */
class Changes {
  readonly #byMute = new Map<string, { readonly mute: Mute; readonly alerts: Alert[] }>();

  add(mute: Mute, alert: Alert): void {
    const key = muteKey(mute);
    const known = this.#byMute.get(key);
    if (known === undefined) this.#byMute.set(key, { mute, alerts: [alert] });
    else known.alerts.push(alert);
  }

  record(write: (mute: Mute, alerts: readonly Alert[]) => void): void {
    for (const { mute, alerts } of this.#sorted()) write(mute, alerts);
  }

  texts(keys: readonly string[]): string {
    const told = this.#sorted().filter(({ alerts }) => alerts.some(({ key }) => keys.includes(key)));
    return told.map(({ mute }) => muteText(mute)).join(' and ');
  }

  #sorted() {
    return [...this.#byMute].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change);
  }
}

const has = (mutes: readonly Mute[], mute: Mute): boolean => mutes.some((one) => muteKey(one) === muteKey(mute));

const common = (before: readonly Mute[], found: readonly Mute[]): readonly Mute[] =>
  before.filter((mute) => has(found, mute));

function withMutes(member: IncidentMember, mutes: readonly Mute[], heard: boolean): IncidentMember {
  const before = member.mutes ?? [];
  const isSame = before.length === mutes.length && mutes.every((mute, index) => isEqual(mute, before[index]));
  return isSame && heard === (member.heard !== false) ? member : { ...member, mutes, heard };
}

const isEqual = (mute: Mute, other: Mute | undefined): boolean => {
  if (other === undefined || muteKey(mute) !== muteKey(other)) return false;
  const until = (one: Mute): number => (one.kind === 'inhibition' ? 0 : one.until);
  return muteText(mute) === muteText(other) && until(mute) === until(other);
};

function endText(draft: IncidentDraft, mute: Mute, alerts: readonly Alert[]): string {
  const still = draft.incident.members
    .filter(({ alert, state }) => state === 'firing' && alerts.some(({ key }) => key === alert.key))
    .flatMap(({ mutes = [] }) => mutes);
  const others = [...new Map(still.map((one) => [muteKey(one), muteText(one)])).values()];
  const what = `${namesOf(alerts)}: no longer ${muteText(mute)}`;
  return others.length === 0 ? what : `${what}, but ${others.slice(0, ALERTS_NAMED).join(' and ')}`;
}

function namesOf(alerts: readonly Alert[]): string {
  const named = alerts.slice(0, ALERTS_NAMED).map(alertText).join(', ');
  return alerts.length > ALERTS_NAMED ? `${named} and ${alerts.length - ALERTS_NAMED} more` : named;
}
