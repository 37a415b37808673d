import { type EpochMs, epochMs, MINUTE, type Ms, ms } from '../../base/units.ts';
import type { Alert } from '../../model/alert.ts';

/** The way in which a sender told: alerts with their ends (Prometheus, vmalert), or Alertmanager's webhook. */
export type Way = 'alerts' | 'webhook';

/** One alert as one message told it. Times of the sender's clock, none later than its arrival but `endsAt`. */
export interface ForeignNews {
  /** Identity with the severity: rules of one name but two severities fire beside each other. */
  readonly id: string;
  readonly alert: Alert;
  readonly way: Way;
  readonly startsAt: EpochMs;
  /** Null where the sender named no end. */
  readonly endsAt: EpochMs | null;
  /** What the sender said outright; null = told by `endsAt`. */
  readonly status: 'firing' | 'resolved' | null;
}

/** What is known of one foreign alert, over all its senders. Immutable; stored as it is. */
export interface ForeignRecord {
  readonly id: string;
  /** In the newest words; `since` is the earliest start that any sender named for this episode. */
  readonly alert: Alert;
  readonly way: Way;
  readonly isFiring: boolean;
  /** Firing: over at this time unless news comes. Else when it ended. */
  readonly endsAt: EpochMs;
  /** `endsAt` was chosen here, as no sender named one: it yields to one that a sender names. */
  readonly isOurEnd: boolean;
  /** The end that a sender last named for a firing alert. */
  readonly announcedEnd: EpochMs | null;
  /** When the sender evaluated what the newest news said. News of an older evaluation changes nothing. */
  readonly evaluatedAt: EpochMs;
  /** From an evaluation to the end that goes with it, learnt per episode; 0 = unknown. */
  readonly validFor: Ms;
  /** When its last episode ended; null in the first. */
  readonly endedBefore: EpochMs | null;
}

/** An alert whose sender names no end is over after this time. */
export const RESOLVE_TIMEOUT: Ms = ms(5 * MINUTE);
/** Alertmanager repeats every few hours and tells each end: longer than a daily repeat. */
const WEBHOOK_TIMEOUT: Ms = ms(25 * 60 * MINUTE);
/** What a firing alert whose end has passed is worth: two of the usual re-sends. */
const RESEND_TIMEOUT: Ms = ms(2 * MINUTE);
/** Ends are four times a whole number of seconds after the evaluation, mostly of five; transport takes some of it. */
const VALIDITY_GRAIN_MS = 20_000;
const CLOCK_AHEAD_MS = 5000;

export type Merged = ForeignRecord | 'stray' | 'stale';

/**
 * Takes news into what is known (overlapping spans are one episode: the earliest start, the newest words, the latest
 * end). `stray` = an end of what nobody knows; `stale` = older than what is known, or nothing new.
 */
export function merge(held: ForeignRecord | undefined, news: ForeignNews, now: EpochMs): Merged {
  const known = held === undefined ? undefined : lapsed(held, now);
  return isFiring(known, news, now) ? fired(known, news, now) : ended(known, news, now);
}

/** Over by loss at `now`: no sender has told anything since its end passed. */
export const lapsed = (record: ForeignRecord, now: EpochMs): ForeignRecord =>
  record.isFiring && record.endsAt <= now ? { ...record, isFiring: false } : record;

function isFiring(known: ForeignRecord | undefined, news: ForeignNews, now: EpochMs): boolean {
  if (news.status !== null) return news.status === 'firing';
  if (news.endsAt === null || news.endsAt > now) return true;
  // Some senders name one end for a whole episode and go on re-sending it: a resolve would name its own time.
  return known !== undefined && news.endsAt === known.announcedEnd && news.startsAt < news.endsAt;
}

function ended(known: ForeignRecord | undefined, news: ForeignNews, now: EpochMs): Merged {
  if (known === undefined) return 'stray';
  const at = news.endsAt ?? now;
  if (known.isFiring ? at <= known.evaluatedAt : at <= known.endsAt) return 'stale';
  return { ...known, way: news.way, isFiring: false, endsAt: at, isOurEnd: false, evaluatedAt: at };
}

function fired(known: ForeignRecord | undefined, news: ForeignNews, now: EpochMs): Merged {
  const { startsAt, endsAt, way } = news;
  const isNew = known === undefined || (!known.isFiring && startsAt > known.endsAt);
  const isTimed = endsAt !== null && endsAt > now;
  const validFor = ms(Math.max(isNew ? 0 : known.validFor, isTimed ? validityOf(endsAt, now) : 0));
  const evaluatedAt = isTimed ? epochMs(Math.min(now, Math.max(startsAt, endsAt - validFor))) : startsAt;
  const fresh = { validFor, announcedEnd: endsAt, way, isFiring: true } as const;
  const own = isTimed ? endsAt : epochMs(now + timeoutOf(news, validFor));
  if (isNew) {
    const endedBefore = known?.endsAt ?? null;
    return { ...fresh, id: news.id, alert: news.alert, endsAt: own, isOurEnd: !isTimed, evaluatedAt, endedBefore };
  }
  const since = epochMs(Math.min(known.alert.since, startsAt));
  if (known.isFiring) {
    if (isTimed && evaluatedAt < known.evaluatedAt) return earlier(known, since);
  } else if (isTimed ? evaluatedAt < known.evaluatedAt : way !== known.way && wasResolved(known)) return 'stale';
  const keepsEnd = known.isFiring && outlives(known, own, isTimed);
  return {
    ...known,
    ...fresh,
    announcedEnd: endsAt ?? known.announcedEnd,
    alert: { ...news.alert, since },
    endsAt: keepsEnd ? known.endsAt : own,
    isOurEnd: keepsEnd ? known.isOurEnd : !isTimed,
    evaluatedAt: epochMs(Math.max(evaluatedAt, known.evaluatedAt)),
  };
}

/** Some sender said that it is over; else it was lost. */
const wasResolved = ({ evaluatedAt, endsAt }: ForeignRecord): boolean => evaluatedAt >= endsAt;

/** Whether the end that is known counts for more: the later of two of one kind, a sender's before ours. */
const outlives = ({ endsAt, isOurEnd }: ForeignRecord, own: EpochMs, isTimed: boolean): boolean =>
  isOurEnd === isTimed ? !isOurEnd : endsAt > own;

const earlier = (known: ForeignRecord, since: EpochMs): Merged =>
  since < known.alert.since ? { ...known, alert: { ...known.alert, since } } : 'stale';

function timeoutOf({ way, endsAt }: ForeignNews, validFor: Ms): Ms {
  if (way === 'webhook') return WEBHOOK_TIMEOUT;
  return endsAt === null ? RESOLVE_TIMEOUT : ms(Math.max(RESEND_TIMEOUT, validFor / 2));
}

/** How long after its evaluation this end lies, in whole grains: what transport took of it is added again. */
const validityOf = (endsAt: EpochMs, now: EpochMs): number =>
  Math.max(1, Math.ceil((endsAt - now - CLOCK_AHEAD_MS) / VALIDITY_GRAIN_MS)) * VALIDITY_GRAIN_MS;
