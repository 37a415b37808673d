import type { CorrectionBook } from '../aggregate/correction-book.ts';
import type { FeatureView } from '../aggregate/features.ts';
import type { SloCells } from '../aggregate/view.ts';
import { drained } from '../base/steps.ts';
import type { EpochMs } from '../base/units.ts';
import type { BurnEngine } from '../burn/engine.ts';
import type { Apart } from '../correlate/apart.ts';
import type { ActionResult, CorrelationResult, Correlator, KnownFleet } from '../correlate/correlator.ts';
import type { MuteBook } from '../correlate/mute.ts';
import type { DetectionEngine } from '../detect/engine.ts';
import type { DetectorSettings } from '../detect/settings.ts';
import type { Alert, AlertChange } from '../model/alert.ts';
import type { Attachment, HookCall } from '../model/hook.ts';
import type { Incident, IncidentAction, Notification } from '../model/incident.ts';
import type { HourlyFigures } from '../model/measure.ts';
import type { Mute } from '../model/mute.ts';
import { decodeAlert, encodeAlert } from '../store/codec.ts';
import type { AlertStateRecord, Commit, IncidentStore, OutboxEntry } from '../store/store.ts';
import { HourBook } from '../trend/hour-book.ts';

/** Turns what the correlator decided to say into outbox entries for the receivers that routes choose. */
export type OutboxBuilder = (notifications: readonly Notification[]) => readonly OutboxEntry[];

export interface EvaluatorDeps {
  readonly cells: SloCells;
  readonly corrections: CorrectionBook;
  readonly features: FeatureView;
  readonly burn: BurnEngine;
  readonly detection: DetectionEngine;
  readonly correlator: Correlator;
  readonly mutes: MuteBook;
  readonly store: IncidentStore;
  readonly toOutbox: OutboxBuilder;
  /** Thresholds of ConfigBudgetSpent. */
  readonly configBudget: DetectorSettings | undefined;
}

/** What one tick, or one person's action, did. */
export interface Outcome {
  readonly at: EpochMs;
  readonly alerts: readonly AlertChange[];
  readonly result: CorrelationResult;
  readonly outbox: readonly OutboxEntry[];
}

/** A call of a hook as it stands now. */
export interface HookStep {
  readonly call: HookCall;
  /** For the timeline. */
  readonly note: string;
  readonly attachment: Attachment | null;
}

export interface Evaluator {
  /**
   * Takes up the stored alert states and incidents. Call once, before the first tick. `slos` are the ids in force: alerts
   * of others are closed.
   */
  restore(now: EpochMs, slos: ReadonlySet<string>): void;
  /** One tick. `foreign` is asked once what alerts raised elsewhere have changed. */
  tick(now: EpochMs, foreign?: () => readonly AlertChange[]): Outcome;
  /** The same in steps of a few milliseconds. Nothing that it reads may change in between. */
  tickInSteps(now: EpochMs, foreign?: () => readonly AlertChange[]): Generator<void, Outcome>;
  act(
    incident: number | 'newest_open',
    action: IncidentAction,
    now: EpochMs,
  ): ActionResult & { readonly outcome?: Outcome };
  /**
   * Writes what hooks do, on the timelines of their incidents and in their records, in one commit. Throws when the
   * store refuses; what is told by it must then not happen.
   */
  recordHooks(steps: readonly HookStep[], now: EpochMs): void;
  firing(): readonly Alert[];
  /** Those that can still change, in the order of their ids. */
  incidents(): readonly Incident[];
  /** What mutes apply to an alert now. */
  mutes(now: EpochMs): (alert: Alert) => readonly Mute[];
  /** Commits that the store has refused so far; nothing of them has been sent. */
  uncommitted(): number;
}

/** What a commit keeps beside alerts and incidents. */
interface Kept {
  readonly hookCalls?: readonly HookCall[];
  readonly hourly?: readonly HourlyFigures[] | null;
}

const ALERT_PREFIX = 'alert/';
/** What splits have taught, as JSON. */
const APART_KEY = 'correlate/apart';
const NOTHING: CorrelationResult = { incidents: [], changes: [], notifications: [] };

/**
 * Views + previous states -> alerts -> incidents -> one commit (design section 3, steps 5 to 7). Nothing is sent
 * from here:
 * the outbox is written in the same transaction, and the sender reads it. A commit that the store refuses is kept and
 * tried again, in order, before the next one.
 */
export function createEvaluator(deps: EvaluatorDeps): Evaluator {
  const firing = new Map<string, Alert>();
  const waiting: Commit[] = [];
  const hours = new HourBook();

  const flush = (): void => {
    while (waiting.length > 0) {
      const [oldest] = waiting;
      if (oldest === undefined) return;
      deps.store.commit(oldest);
      waiting.shift();
    }
  };

  const commit = (
    at: EpochMs,
    states: readonly AlertStateRecord[],
    removed: readonly string[],
    result: CorrelationResult,
    { hookCalls = [], hourly = null }: Kept = {},
  ) => {
    const outbox = deps.toOutbox(result.notifications);
    const empty =
      states.length +
        removed.length +
        result.incidents.length +
        result.changes.length +
        outbox.length +
        hookCalls.length +
        (hourly?.length ?? 0) ===
      0;
    if (!empty) {
      const { incidents, changes } = result;
      const alerts = { alertStates: states, alertStatesRemoved: removed };
      waiting.push({ at, ...alerts, incidents, changes, outbox, hookCalls, ...(hourly === null ? {} : { hourly }) });
    }
    flush();
    return outbox;
  };

  function* tickInSteps(now: EpochMs, foreign = (): readonly AlertChange[] => []): Generator<void, Outcome> {
    const budgeted = deps.corrections.over(deps.cells, now);
    const burn = yield* deps.burn.evaluateInSteps(budgeted, now);
    const detection = yield* deps.detection.evaluateInSteps(deps.features, now, budgeted);
    const reviewed = { slos: budgeted, incidents: () => deps.correlator.incidents(), configBudget: deps.configBudget };
    const hourly = yield* hours.due(deps.features, now, reviewed);
    const alerts = [...burn.changes, ...detection.changes, ...foreign()];
    const tracked = trackFiring(firing, alerts);
    const surroundings = { fleet: knownFleet(deps.features, now), mutesOf: deps.mutes.over(firing.values(), now) };
    const result = deps.correlator.correlate(alerts, now, surroundings);
    const outbox = commit(
      now,
      [...burn.stored, ...detection.stored, ...tracked.stored],
      [...burn.removed, ...detection.removed, ...tracked.removed],
      result,
      { hourly },
    );
    return { at: now, alerts, result, outbox };
  }

  return {
    restore(now, slos) {
      const stored = deps.store.load(now);
      const isOwn = ({ key }: AlertStateRecord): boolean => key === APART_KEY || key.startsWith(ALERT_PREFIX);
      const states = stored.alertStates.filter((record) => !isOwn(record));
      const apart = stored.alertStates.find(({ key }) => key === APART_KEY)?.value ?? '[]';
      deps.burn.restore(states, slos);
      deps.detection.restore(states);
      hours.restore(deps.store.newestHour());
      deps.correlator.restore(stored.incidents, stored.nextIncidentId, JSON.parse(apart) as Apart[]);
      for (const record of stored.alertStates) {
        if (!record.key.startsWith(ALERT_PREFIX)) continue;
        const alert = decodeAlert(record.value);
        firing.set(alert.key, alert);
      }
    },

    tick: (now, foreign) => drained(tickInSteps(now, foreign)),
    tickInSteps,

    act(incident, action, now) {
      const acted = deps.correlator.act(incident, action, now);
      if (acted.kind !== 'done') return acted;
      const outbox = commit(now, apartState(acted.result), [], acted.result);
      return { ...acted, outcome: { at: now, alerts: [], result: acted.result ?? NOTHING, outbox } };
    },

    recordHooks(steps, now) {
      const results = steps.map(({ call, note, attachment }) =>
        hookResult(deps, call.incident, { kind: 'hook', by: 'slowburn', note, attachment }, now),
      );
      const all: CorrelationResult = {
        incidents: results.flatMap(({ incidents }) => incidents),
        changes: results.flatMap(({ changes }) => changes),
        notifications: [],
      };
      commit(now, [], [], all, { hookCalls: steps.map(({ call }) => call) });
    },

    firing: () => [...firing.values()],
    incidents: () => deps.correlator.incidents(),
    mutes(now) {
      const mutesOf = deps.mutes.over(firing.values(), now);
      return (alert) => mutesOf(alert, []);
    },
    uncommitted: () => waiting.length,
  };
}

/** On the timeline of the incident, or of the one that it was merged into; nowhere when that is long over. */
function hookResult(deps: EvaluatorDeps, id: number, action: IncidentAction, now: EpochMs): CorrelationResult {
  const acted = deps.correlator.act(id, action, now);
  if (acted.kind === 'done') return acted.result;
  const into = deps.store.incident(id)?.mergedInto;
  return typeof into === 'number' ? hookResult(deps, into, action, now) : NOTHING;
}

const apartState = ({ apart }: CorrelationResult): readonly AlertStateRecord[] =>
  apart === undefined ? [] : [{ key: APART_KEY, value: JSON.stringify(apart) }];

/** What telemetry has told of the fleet; balancers that are silent now count. */
const knownFleet = (features: FeatureView, now: EpochMs): KnownFleet => ({
  clusters: () => features.balancers(now).flatMap(({ clusters }) => clusters),
});

/** Keeps the set of firing alerts, and says what of it must be stored or removed. */
function trackFiring(firing: Map<string, Alert>, changes: readonly AlertChange[]) {
  const stored: AlertStateRecord[] = [];
  const removed: string[] = [];
  for (const change of changes) {
    const { alert } = change;
    const key = ALERT_PREFIX + alert.key;
    if (change.kind === 'resolved') {
      firing.delete(alert.key);
      removed.push(key);
    } else {
      firing.set(alert.key, alert);
      stored.push({ key, value: encodeAlert(alert) });
    }
  }
  return { stored, removed };
}
