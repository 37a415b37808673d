import { compare } from '../../app/compare-views.ts';
import type { Engine } from '../../app/engine.ts';
import type { Outcome } from '../../app/evaluate.ts';
import { TICK_MS } from '../../app/ticker.ts';
import { createUnsentEngine } from '../../app/unsent-engine.ts';
import { type EpochMs, epochMs } from '../../base/units.ts';
import type { Rules } from '../../config/config.ts';
import { ALERT } from '../../model/conventions.ts';
import { decodeMetrics } from '../../otlp/decode-metrics.ts';
import { Staging } from '../../otlp/staging.ts';
import type { IncidentStore } from '../../store/store.ts';
import { createEmitter, type EmittedFlavor, type Emitter } from '../emit/emitter.ts';
import type { Fleet } from '../fleet.ts';
import type { Plan } from '../scenarios/scenario.ts';
import { createSimulation, type Simulation } from '../simulation.ts';
import { CaseBook } from './case-book.ts';
import { ComparisonBook } from './comparison-book.ts';
import { type Impact, ImpactMeter } from './impact.ts';
import { PushSchedule } from './push-schedule.ts';
import { judge, type Verdict } from './verdict.ts';

/** Virtual 0 of every drill: Monday 2026-03-02T00:00:00Z. */
export const DRILL_EPOCH: EpochMs = epochMs(1_772_409_600_000);

/** From this length on the evaluator ticks once per push interval: what takes days may be noticed a minute later. */
const LONG_MS = 12 * 3_600_000;

/** By whose thresholds cohorts are compared. */
const PUSH = ALERT.configPushRegression;

/** What goes wrong for seconds only would drown in a push interval. */
const CLOSE_LOOK_MS = 120_000;
const CLOSE_STEP_MS = 1000;

/** One that hurries looks closely from so long before the fault until so long after it is over. */
const BEFORE_MS = 120_000;
const AFTER_MS = 300_000;
const HURRIED_TICK_MS = 30_000;
/** And ends once all that came of it has been resolved for so long. */
const RESTED_MS = 600_000;

export interface Rehearsal {
  readonly verdict: Verdict;
  readonly impact: Impact;
  readonly points: number;
}

export interface RehearsalOptions {
  readonly plan: Plan;
  readonly rules: Rules;
  readonly flavor: EmittedFlavor;
  /** Where incidents and hours are kept; in memory unless given. */
  readonly store?: IncidentStore;
  /** Told now and then how much of the virtual time has passed, 0 to 1. */
  readonly onProgress?: (share: number) => void;
  /** Given the engine and the fleet before anything happens. */
  readonly onEngine?: (engine: Engine, simulation: Simulation) => void;
  /** Shown the fleet at the start, and each time that virtual time has gone on. */
  readonly onAdvance?: (fleet: Fleet, virtualMs: number) => void;
  /** Told of each tick. */
  readonly onOutcome?: (outcome: Outcome) => void;
}

/**
 * A scenario in virtual time through the engine that serve runs: the fleet's requests are decoded and applied as
 * received, the evaluator ticks every 10 s, in drills of half a day and more once per push interval or
 * as seldom as the plan says, in those that hurry every 30 s while nothing is to be noticed. Nothing is sent.
 * The same plan gives the same verdict.
 */
export function rehearse(options: RehearsalOptions): Rehearsal {
  const { plan, rules, flavor, store, onProgress, onEngine, onAdvance, onOutcome } = options;
  const simulation = createSimulation(plan.fleet, plan.timeline, plan.engine ?? undefined);
  const emitter = createEmitter(simulation.fleet, flavor, DRILL_EPOCH);
  const schedule = new PushSchedule(plan.fleet, plan.pushMs);
  const engine = createUnsentEngine(rules, store);
  onEngine?.(engine, simulation);
  onAdvance?.(simulation.fleet, 0);
  const book = new CaseBook();
  const meter = new ImpactMeter(simulation.fleet, plan.faultAtMs);
  const staging = new Staging();
  const comparisons = new ComparisonBook((flavor === 'envoy' ? plan.comparisonsOfEnvoy : plan.comparisons) ?? []);
  const expected = flavor === 'envoy' ? plan.expectedOfEnvoy : plan.expected;
  const mayEnd = plan.hurries === true && expected.kind === 'incident' && expected.ends === 'resolved';
  let points = 0;
  let before = 0;
  for (let now = nextTick(plan, 0); now <= plan.untilMs; now = nextTick(plan, now)) {
    for (const { atMs, balancers } of schedule.between(before, now)) {
      advance(simulation, plan, meter, atMs, onAdvance);
      points += push(emitter, engine, staging, atMs, balancers);
    }
    advance(simulation, plan, meter, now, onAdvance);
    const outcome = engine.evaluator.tick(at(now));
    book.hear(outcome);
    comparisons.ask(now, (asked) => compare(engine.aggregate, rules.detectors.get(PUSH), at(now), asked));
    onOutcome?.(outcome);
    if (now % (360 * TICK_MS) === 0) onProgress?.(now / plan.untilMs);
    if (mayEnd && now >= plan.overAtMs + RESTED_MS && at(now - RESTED_MS) >= (book.restingSince() ?? at(now))) break;
    before = now;
  }
  const span = { faultAtMs: at(plan.faultAtMs), overAtMs: at(plan.overAtMs) };
  const findings = expected.kind === 'quiet' ? expected.findings : undefined;
  const told = findings === undefined ? [] : engine.trends(at(plan.untilMs), findings.weeks);
  const verdict = judge(book.cases(), expected, plan.expected, span, told);
  const misses = [...verdict.misses, ...comparisons.misses()];
  return { verdict: { ...verdict, misses }, impact: meter.impact(), points };
}

const at = (virtualMs: number): EpochMs => epochMs(DRILL_EPOCH + virtualMs);

function nextTick(plan: Plan, now: number): number {
  if (plan.tickMs !== undefined) return now + plan.tickMs;
  if (plan.untilMs >= LONG_MS) return now + plan.pushMs;
  const [from, to] = [plan.faultAtMs - BEFORE_MS, plan.overAtMs + AFTER_MS];
  if (plan.hurries !== true || (now >= from && now < to)) return now + TICK_MS;
  return now < from ? Math.min(from, now + HURRIED_TICK_MS) : now + HURRIED_TICK_MS;
}

const isCloseLook = ({ faultAtMs }: Plan, now: number): boolean => now > faultAtMs && now <= faultAtMs + CLOSE_LOOK_MS;

/** Goes on to `now`; on the way looks at what clients see. */
function advance(
  simulation: Simulation,
  plan: Plan,
  meter: ImpactMeter,
  now: number,
  onAdvance: RehearsalOptions['onAdvance'],
): void {
  for (let next = nextLook(plan, meter.lookedAtMs); next <= now; next = nextLook(plan, next)) {
    simulation.advanceTo(next);
    meter.sample(next);
    onAdvance?.(simulation.fleet, next);
  }
  simulation.advanceTo(now);
  onAdvance?.(simulation.fleet, now);
}

/** Every second in the first minutes after the fault, else once per push interval. */
function nextLook(plan: Plan, lastMs: number): number {
  const after = (stepMs: number): number => (Math.floor(lastMs / stepMs) + 1) * stepMs;
  const close = after(CLOSE_STEP_MS);
  return isCloseLook(plan, close) ? close : after(plan.pushMs);
}

function push(emitter: Emitter, engine: Engine, staging: Staging, now: number, balancers: readonly number[]): number {
  let points = 0;
  for (const { balancer, body } of emitter.exportAt(now, balancers)) {
    decodeMetrics(body, staging);
    points += engine.series.apply(staging, { receivedAt: at(now), peer: balancer, identityHeader: null }).points;
  }
  return points;
}
