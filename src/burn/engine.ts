import type { ExclusionSource } from '../aggregate/exclusion.ts';
import type { FeedView, GroupView, SloCells } from '../aggregate/view.ts';
import { formatDuration } from '../base/duration.ts';
import { drained } from '../base/steps.ts';
import { DAY, type EpochMs, epochMs, HOUR, MINUTE, type Ms, ms } from '../base/units.ts';
import type { Alert, AlertChange } from '../model/alert.ts';
import { labelsKey } from '../model/labels.ts';
import { type BudgetRatio, budgetRatioOf } from '../slo/budget.ts';
import type { Objective, Policy, Slo } from '../slo/slo.ts';
import { type BurnAlertInput, burnAlertKey, leadingTier, toBurnAlert, toResolvedAlert } from './alert.ts';
import { evaluateGroup, exhaustionOf, RETIRED_MS, toStatus } from './evaluate.ts';
import { GroupPast } from './exhaustion.ts';
import { type GroupAlertState, INACTIVE, isSameState } from './group-state.ts';
import { onsetOf } from './onset.ts';
import { burnRecordKey, decodeBurn, encodeBurn } from './record.ts';
import type { GroupStatus } from './status.ts';

/** State of one firing group under a stable key; the value is JSON. */
export interface BurnRecord {
  readonly key: string;
  readonly value: string;
}

/** What one tick of all groups gave. `stored` and `removed` name only states that changed. */
export interface BurnTick {
  readonly changes: readonly AlertChange[];
  readonly statuses: readonly GroupStatus[];
  readonly stored: readonly BurnRecord[];
  readonly removed: readonly string[];
}

export interface BurnEngine {
  evaluate(cells: SloCells, now: EpochMs): BurnTick;
  /** The same in steps of a few milliseconds; the cells must not change in between. */
  evaluateInSteps(cells: SloCells, now: EpochMs): Generator<void, BurnTick>;
  /**
   * Takes up stored states; others' records are passed over. An alert whose group is not there yet is held until it is,
   * for 24 h at most; with `slos`, the ids in force, those of other SLOs are closed at the next tick.
   */
  restore(records: readonly BurnRecord[], slos?: ReadonlySet<string>): void;
  /** Of the last tick. */
  statuses(): readonly GroupStatus[];
}

const FIGURES_EVERY_MS = 60_000;
/** Some 50 us each, and ten times that at the first tick. */
const GROUPS_PER_STEP = 32;
const SHOWN_WINDOWS: readonly Ms[] = [
  ms(5 * MINUTE),
  ms(30 * MINUTE),
  HOUR,
  ms(2 * HOUR),
  ms(6 * HOUR),
  DAY,
  ms(3 * DAY),
];

type EndReason = Extract<AlertChange, { kind: 'resolved' }>['reason'];

/** What is held of one group between ticks. `alert` is as last said. */
interface Held {
  readonly alertKey: string;
  past: GroupPast;
  /** Of the corrections under which its past was read. */
  exclusionKey: string;
  state: GroupAlertState;
  alert: Alert | null;
  /** When its burn set in; null while it does not fire. */
  onset: EpochMs | null;
  saidAt: number;
  seenAt: number;
}

/** A stored alert whose group has not been seen since. */
interface Waiting {
  readonly alert: Alert;
  readonly state: GroupAlertState;
  readonly inForce: boolean;
}

interface Draft {
  readonly changes: AlertChange[];
  readonly statuses: GroupStatus[];
  readonly stored: BurnRecord[];
  readonly removed: string[];
}

const emptyDraft = (): Draft => ({ changes: [], statuses: [], stored: [], removed: [] });

/** All groups of all SLOs, one tick at a time. No IO, no clock. */
export function createBurnEngine(): BurnEngine {
  const book = new GroupBook();
  return {
    evaluate: (cells, now) => drained(book.evaluate(cells, now)),
    evaluateInSteps: (cells, now) => book.evaluate(cells, now),
    restore: (records, slos) => book.restore(records, slos),
    statuses: () => book.last,
  };
}

class GroupBook {
  last: readonly GroupStatus[] = [];
  readonly #held = new Map<string, Held>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #windowsOf = cached(shownWindows);
  readonly #budgetOf = cached(budgetRatioOf);
  #tick = 0;
  #firstAt: EpochMs | null = null;

  *evaluate(cells: SloCells, now: EpochMs): Generator<void, BurnTick> {
    this.#tick += 1;
    this.#firstAt ??= now;
    const tick = emptyDraft();
    let stepped = 0;
    for (const group of cells.groups()) {
      this.#step(group, cells, now, tick);
      stepped += 1;
      if (stepped % GROUPS_PER_STEP === 0) yield;
    }
    const gone = emptyDraft();
    this.#closeUnseen(now, gone);
    this.#closeWaiting(now, gone);
    this.last = tick.statuses;
    // What ends comes first: the same alert may begin again under a new generation.
    const kept = new Set(tick.stored.map(({ key }) => key));
    return {
      changes: [...gone.changes, ...tick.changes],
      statuses: tick.statuses,
      stored: tick.stored,
      removed: [...gone.removed.filter((key) => !kept.has(key)), ...tick.removed],
    };
  }

  restore(records: readonly BurnRecord[], slos?: ReadonlySet<string>): void {
    for (const record of records) {
      const stored = decodeBurn(record);
      if (stored === null) continue;
      const { alert, state } = stored;
      const inForce = slos?.has(alert.labels.get('slo') ?? '') ?? true;
      this.#waiting.set(alert.key, { alert, state, inForce });
    }
  }

  #step(group: GroupView, cells: SloCells, now: EpochMs, tick: Draft): void {
    const held = this.#heldOf(group);
    held.seenAt = this.#tick;
    const exclusionKey = group.corrected?.exclusion.key ?? '';
    if (exclusionKey !== held.exclusionKey) {
      held.past = new GroupPast();
      held.exclusionKey = exclusionKey;
    }
    const before = held.state;
    const budget = this.#budgetOf(group.slo.objective);
    const feed = cells.feed(group, now);
    const evaluation = evaluateGroup(group, feed, before, budget, held.past, now);
    const { windows, state: after } = evaluation;
    const exhaustion = exhaustionOf(evaluation);
    held.state = after;
    const said = after.kind === 'firing' ? after : before;
    if (said.kind === 'firing') {
      held.onset ??= onsetOf(
        windows.group,
        budget.value,
        epochMs(Math.min(windows.to, said.since)),
        lookBack(group.slo, said),
      );
      const input = { key: held.alertKey, state: said, windows, budget, exhaustion, onset: held.onset };
      if (after.kind === 'firing') fire(held, before, input, now, tick);
      else {
        const reason = endReason(group, feed, before, budget, now);
        const { to } = windows;
        const sources = group.corrected?.exclusion.within(epochMs(to - lookBack(group.slo, before)), to) ?? [];
        close(held.alertKey, toBurnAlert(input), reason, now, tick, sources);
        [held.alert, held.onset] = [null, null];
      }
    }
    tick.statuses.push(toStatus(evaluation, feed, exhaustion, this.#windowsOf(group.slo.policy)));
  }

  #heldOf(group: GroupView): Held {
    const known = this.#held.get(group.key);
    if (known !== undefined) return known;
    const alertKey = burnAlertKey(group.slo, group.labels);
    const stored = this.#waiting.get(alertKey);
    this.#waiting.delete(alertKey);
    const held: Held = {
      alertKey,
      past: new GroupPast(),
      exclusionKey: '',
      state: stored?.state ?? INACTIVE,
      alert: stored?.alert ?? null,
      onset: stored?.alert.burn?.burningSince ?? null,
      saidAt: Number.NEGATIVE_INFINITY,
      seenAt: 0,
    };
    this.#held.set(group.key, held);
    return held;
  }

  /** Groups that were there: their SLO is no longer in force, or asks something else. */
  #closeUnseen(now: EpochMs, gone: Draft): void {
    for (const [key, { seenAt, alert, alertKey }] of this.#held) {
      if (seenAt === this.#tick) continue;
      this.#held.delete(key);
      if (alert !== null) close(alertKey, alert, 'removed', now, gone);
    }
  }

  /** Groups that have not come back since a restart: no data is not recovery. */
  #closeWaiting(now: EpochMs, gone: Draft): void {
    const isOverdue = now - (this.#firstAt ?? now) >= RETIRED_MS;
    for (const [key, { alert, inForce }] of this.#waiting) {
      if (inForce && !isOverdue) continue;
      this.#waiting.delete(key);
      close(key, alert, inForce ? 'retired' : 'removed', now, gone);
    }
  }
}

/** How far back a burn may have set in: as far as the tier looks that noticed it. */
const lookBack = (slo: Slo, state: GroupAlertState): Ms => leadingTier(slo, state)?.long ?? HOUR;

/** Why no tier holds any more: without corrections, would one? */
function endReason(
  group: GroupView,
  feed: FeedView,
  before: GroupAlertState,
  budget: BudgetRatio,
  now: EpochMs,
): EndReason {
  if (!feed.reporting) return 'retired';
  if (group.corrected === undefined) return 'recovered';
  const { state } = evaluateGroup(group.corrected.observed, feed, before, budget, new GroupPast(), now);
  return state.kind === 'firing' ? 'corrected' : 'recovered';
}

function close(
  key: string,
  alert: Alert,
  reason: EndReason,
  now: EpochMs,
  tick: Draft,
  corrections: readonly ExclusionSource[] = [],
): void {
  tick.changes.push({ kind: 'resolved', at: now, alert: toResolvedAlert(alert, reason, corrections), reason });
  tick.removed.push(burnRecordKey(key));
}

/**
 * Says what is news of a firing alert: that it fires, that severity or tiers changed, or once a minute that its figures
 * did.
 */
function fire(held: Held, before: GroupAlertState, input: BurnAlertInput, now: EpochMs, tick: Draft): void {
  const { state } = input;
  const isNew = before.kind === 'inactive';
  const isChanged = held.alert !== null && saysOtherwise(held.alert, state);
  const isDue = now - held.saidAt >= FIGURES_EVERY_MS;
  const isStored = isSameState(before, state);
  if (!isNew && !isChanged && !isDue && isStored) return;
  const alert = toBurnAlert(input);
  if (!isStored) {
    // While a page tier holds, its time moves on with every tick: not worth a write, and unknown after a restart.
    const pageHeldAt = state.pageHeldAt === now ? null : state.pageHeldAt;
    const value = encodeBurn({ state: { ...state, pageHeldAt }, alert });
    tick.stored.push({ key: burnRecordKey(held.alertKey), value });
  }
  const kind = isNew ? 'fired' : isChanged ? 'changed' : 'updated';
  if (kind === 'updated' && (!isDue || (held.alert !== null && hasSameFigures(held.alert, alert)))) return;
  held.alert = alert;
  held.saidAt = now;
  tick.changes.push({ kind, at: now, alert });
}

const saysOtherwise = (alert: Alert, state: BurnAlertInput['state']): boolean =>
  alert.severity !== state.severity || alert.tier !== state.tier || alert.tiersHolding.join() !== state.holding.join();

/** As a person reads them; labels and runbook may have been edited. */
const hasSameFigures = (a: Alert, b: Alert): boolean =>
  a.summary === b.summary &&
  a.runbook === b.runbook &&
  labelsKey(a.labels) === labelsKey(b.labels) &&
  a.evidence.every(({ text }, index) => text === b.evidence[index]?.text);

/** The windows that a status shows, shortest first: the usual ones and the policy's own. */
function shownWindows(policy: Policy): ReadonlyMap<string, Ms> {
  const lengths = new Set<Ms>([...SHOWN_WINDOWS, ...policy.tiers.flatMap(({ long, short }) => [long, short])]);
  return new Map([...lengths].sort((a, b) => a - b).map((length) => [formatDuration(length), length]));
}

function cached<Key extends Policy | Objective, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, Value>();
  return (key) => {
    const value = known.get(key) ?? compute(key);
    known.set(key, value);
    return value;
  };
}
