import type { FeedView, GroupView, SloCells } from '../aggregate/view.ts';
import { formatDuration } from '../base/duration.ts';
import {
  type BurnRate,
  burnRate,
  DAY,
  type EpochMs,
  epochMs,
  HOUR,
  MINUTE,
  type Ms,
  ms,
  ratio,
} from '../base/units.ts';
import type { Alert, AlertChange, Exhaustion } from '../model/alert.ts';
import type { GroupState } from '../model/views.ts';
import { type BudgetWindow, budgetRatioOf, budgetRemaining, burnOf } from '../slo/budget.ts';
import type { Policy, Slo } from '../slo/slo.ts';
import { burnAlertKey, toBurnAlert } from './alert.ts';
import { BudgetCourse, exhaustionAt } from './exhaustion.ts';
import { type GroupAlertState, INACTIVE, nextState, parseState } from './group-state.ts';
import type { GroupStatus } from './status.ts';
import { holdingTiers } from './tiers.ts';
import { readWindow } from './window.ts';

/** State of one group under a stable key; the value is JSON. */
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
  /** Takes up stored states; others' records are passed over. */
  restore(records: readonly BurnRecord[]): void;
  /** Of the last tick. */
  statuses(): readonly GroupStatus[];
}

const PREFIX = 'burn/';
const FIGURES_EVERY_MS = 60_000;
/** A group unheard for this long is retired: its alert is closed as unknown. */
const RETIRED_MS = DAY;
const BURN_WINDOWS: readonly Ms[] = [
  ms(5 * MINUTE),
  ms(30 * MINUTE),
  HOUR,
  ms(2 * HOUR),
  ms(6 * HOUR),
  DAY,
  ms(3 * DAY),
];

/** What is held of one group. `alert` is null after a restart until its figures are known again. */
interface Held {
  state: GroupAlertState;
  alert: Alert | null;
  saidAt: EpochMs;
}

interface Draft {
  readonly changes: AlertChange[];
  readonly statuses: GroupStatus[];
  readonly stored: BurnRecord[];
  readonly removed: string[];
}

/** All groups of all SLOs, one tick at a time. No IO, no clock. */
export function createBurnEngine(): BurnEngine {
  const held = new Map<string, Held>();
  const windowsOf = cached(windowNames);
  let last: readonly GroupStatus[] = [];

  const evaluate = (cells: SloCells, now: EpochMs): BurnTick => {
    const tick: Draft = { changes: [], statuses: [], stored: [], removed: [] };
    const seen = new Set<string>();
    for (const group of cells.groups()) {
      const key = burnAlertKey(group.slo, group.labels);
      seen.add(key);
      step(held, key, group, cells.feed(group, now), now, windowsOf(group.slo.policy), tick);
    }
    for (const [key, { alert, state }] of held) {
      if (seen.has(key)) continue;
      // Its SLO is no longer in force.
      held.delete(key);
      tick.removed.push(PREFIX + key);
      if (alert !== null && state.kind === 'firing')
        tick.changes.push({ kind: 'resolved', at: now, alert, reason: 'removed' });
    }
    last = tick.statuses;
    return tick;
  };

  return {
    evaluate,
    restore(records) {
      for (const { key, value } of records) {
        if (!key.startsWith(PREFIX)) continue;
        held.set(key.slice(PREFIX.length), { state: parseState(value), alert: null, saidAt: epochMs(0) });
      }
    },
    statuses: () => last,
  };
}

function step(
  all: Map<string, Held>,
  key: string,
  group: GroupView,
  feed: FeedView,
  now: EpochMs,
  windows: ReadonlyMap<string, Ms>,
  tick: Draft,
): void {
  const held = all.get(key) ?? { state: INACTIVE, alert: null, saidAt: epochMs(0) };
  const { slo } = group;
  const budget = budgetRatioOf(slo.objective);
  const to = feed.watermark ?? now;
  const course = new BudgetCourse(group, budget, to);
  const before = held.state;
  let after = before;
  if (feed.reporting) {
    const holding = holdingTiers(
      slo.policy,
      { group, budget, to, course },
      before.kind === 'firing' ? before.holding : [],
    );
    after = nextState(before, slo.policy, holding, feed.coverage, now);
  } else if (feed.newestPointAt !== null && now - feed.newestPointAt >= RETIRED_MS) after = INACTIVE;

  const alerting = readWindow(group, to, alertingLength(slo.policy, after));
  const exhaustion = exhaustionAt(course, alerting, budget, slo.window.length);
  if (after.kind === 'firing') {
    const input = { group, state: after, budget, alerting, sloWindow: course.window, exhaustion, now: to };
    fire(held, before, toBurnAlert(input), now, tick);
  } else if (before.kind === 'firing' && held.alert !== null) {
    const reason = feed.reporting ? 'recovered' : 'retired';
    tick.changes.push({ kind: 'resolved', at: now, alert: { ...held.alert, tiersHolding: [] }, reason });
  }
  if (JSON.stringify(before) !== JSON.stringify(after)) {
    if (after.kind === 'firing') tick.stored.push({ key: PREFIX + key, value: JSON.stringify(after) });
    else tick.removed.push(PREFIX + key);
  }
  held.state = after;
  if (after.kind === 'inactive') held.alert = null;
  all.set(key, held);
  tick.statuses.push(toStatus(group, feed, after, course, exhaustion, windows, to));
}

/**
 * Says what is news about a firing alert: that it fires, that state, tier or severity changed, or once a minute its
 * figures.
 */
function fire(held: Held, before: GroupAlertState, alert: Alert, now: EpochMs, tick: Draft): void {
  const known = held.alert;
  const isSame =
    before.kind === 'firing' &&
    before.tier === alert.tier &&
    before.severity === alert.severity &&
    before.holding.join() === alert.tiersHolding.join();
  held.alert = alert;
  if (before.kind === 'inactive') tick.changes.push({ kind: 'fired', at: now, alert });
  else if (!isSame) tick.changes.push({ kind: 'changed', at: now, alert });
  else if (known === null || now - held.saidAt >= FIGURES_EVERY_MS)
    tick.changes.push({ kind: 'updated', at: now, alert });
  else return;
  held.saidAt = now;
}

/** The long window of the highest holding tier, else an hour. */
function alertingLength(policy: Policy, state: GroupAlertState): number {
  if (state.kind === 'inactive') return HOUR;
  return policy.tiers.find(({ name }) => state.holding.includes(name))?.long ?? HOUR;
}

function toStatus(
  group: GroupView,
  feed: FeedView,
  state: GroupAlertState,
  course: BudgetCourse,
  exhaustion: Exhaustion,
  windows: ReadonlyMap<string, Ms>,
  to: EpochMs,
): GroupStatus {
  const { window } = course;
  const { slo } = group;
  const budget = budgetRatioOf(slo.objective);
  const remaining = budgetRemaining(window, budget);
  const burn = new Map<string, BurnRate | null>();
  for (const [name, length] of windows) {
    const value = burnOf(readWindow(group, to, length), budget);
    burn.set(name, value === null ? null : burnRate(value));
  }
  const firing = state.kind === 'firing' ? state : null;
  return {
    slo,
    labels: group.labels,
    key: group.key,
    state: stateOf(feed, window),
    coverage: feed.coverage,
    good: window.total - window.bad,
    bad: window.bad,
    total: window.total,
    sli: window.total === 0 ? null : ratio((window.total - window.bad) / window.total),
    budgetRemaining: remaining === null ? null : ratio(remaining),
    burn,
    exhaustion,
    tier: firing?.tier ?? null,
    tiersHolding: firing?.holding ?? [],
    severity: firing?.severity ?? null,
    since: firing?.since ?? null,
    inconsistent: group.range(epochMs(to - slo.window.length), to).inconsistent,
  };
}

/** No balancer reports: nothing is known. They report and count nothing: there is no traffic. Neither is 100 %. */
function stateOf(feed: FeedView, window: BudgetWindow): GroupState {
  if (!feed.reporting || feed.watermark === null) return 'no_data';
  return window.total === 0 ? 'no_traffic' : 'measured';
}

/** The windows that a status shows, shortest first: the usual ones and the policy's own. */
function windowNames(policy: Policy): ReadonlyMap<string, Ms> {
  const lengths = new Set<Ms>([...BURN_WINDOWS, ...policy.tiers.flatMap(({ long, short }) => [long, short])]);
  return new Map([...lengths].sort((a, b) => a - b).map((length) => [formatDuration(length), length]));
}

function cached(compute: (slo: Slo['policy']) => ReadonlyMap<string, Ms>): typeof compute {
  const known = new WeakMap<Slo['policy'], ReadonlyMap<string, Ms>>();
  return (policy) => {
    const value = known.get(policy) ?? compute(policy);
    known.set(policy, value);
    return value;
  };
}
