import type { Logger } from 'pino';
import type { Clock } from '../base/clock.ts';
import type { EpochMs } from '../base/units.ts';
import type { AlertChange } from '../model/alert.ts';
import type { Evaluator, Outcome } from './evaluate.ts';
import type { Snapshots } from './snapshots.ts';
import type { CreateTicker } from './ticker.ts';
import type { Turns } from './turns.ts';

export interface TickLoop {
  start(): void;
  stop(): void;
  lastTickAt(): EpochMs;
}

export interface TickMetrics {
  tick(at: EpochMs, durationSeconds: number, failed: boolean): void;
}

/**
 * Runs ticks at their own pace, independent of requests. A tick that fails is logged and counted; the next one runs.
 */
export function createTickLoop(deps: {
  clock: Clock;
  logger: Logger;
  evaluator: Evaluator;
  /** What alerts raised elsewhere have changed. */
  foreign: (now: EpochMs) => readonly AlertChange[];
  snapshots: Snapshots;
  metrics: TickMetrics;
  wakeSender: () => void;
  /** Ticks run between two requests: none sees half of one, and none is applied while a tick goes on. */
  turns: Turns;
  /** What slowburn has to say about itself, taken along with the next tick. */
  ownAlerts: (now: EpochMs) => readonly AlertChange[];
  createTicker: CreateTicker;
  /** Called after each evaluation that was committed, with its time and whether any alert or incident changed. */
  onEvaluated: (at: EpochMs, isChanged: boolean) => void;
}): TickLoop {
  let last = deps.clock.now();

  const tick = async (now: EpochMs): Promise<void> => {
    const started = performance.now();
    let failed = false;
    try {
      const raised = (): readonly AlertChange[] => [...deps.foreign(now), ...deps.ownAlerts(now)];
      const outcome = await deps.turns.runNext(deps.evaluator.tickInSteps(now, raised));
      logOutcome(deps.logger, outcome);
      deps.wakeSender();
      deps.onEvaluated(now, outcome.alerts.length + outcome.result.changes.length > 0);
      deps.turns.between(() => deps.snapshots.saveIfDue(now));
    } catch (error) {
      failed = true;
      deps.logger.error({ err: error }, 'tick failed; nothing of it has been sent');
    }
    last = deps.clock.now();
    deps.metrics.tick(now, (performance.now() - started) / 1000, failed);
  };

  const ticker = deps.createTicker(deps.clock, tick);
  return {
    start() {
      last = deps.clock.now();
      ticker.start();
    },
    stop: () => ticker.stop(),
    lastTickAt: () => last,
  };
}

function logOutcome(logger: Logger, outcome: Outcome): void {
  for (const change of outcome.result.changes) {
    const { incident, episode, change: kind, reason, after } = change;
    logger.info(
      { incident, episode, severity: after.severity, tier: after.tier, reason },
      `incident ${incident} ${kind}: ${after.title}`,
    );
  }
}
