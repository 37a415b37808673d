import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pino } from 'pino';
import type { Evaluator, Outcome } from '../../src/app/evaluate.ts';
import { createTickLoop } from '../../src/app/tick-loop.ts';
import { createTurns } from '../../src/app/turns.ts';
import { ManualClock } from '../../src/base/clock.ts';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import { T0 } from '../support/alerts.ts';

const NOTHING: Outcome = {
  at: epochMs(T0),
  alerts: [],
  result: { incidents: [], changes: [], notifications: [] },
  outbox: [],
};

describe('the loop of ticks', () => {
  test('says only of evaluations that were committed that they were made', async () => {
    const clock = new ManualClock(epochMs(T0));
    const ticks: number[] = [];
    const evaluator = {
      *tickInSteps(now: number): Generator<void, Outcome> {
        yield;
        ticks.push(now);
        if (ticks.length === 2 || ticks.length === 3) throw new Error('the store refuses the commit');
        return NOTHING;
      },
    } as unknown as Evaluator;
    const evaluated: number[] = [];
    let finished = (): void => undefined;
    const done = new Promise<void>((resolve) => {
      finished = resolve;
    });
    const fiveTimes = async (tick: (now: EpochMs) => Promise<void>): Promise<void> => {
      for (let i = 1; i <= 5; i += 1) await tick(epochMs(T0 + i * 10_000));
      finished();
    };
    const failed: boolean[] = [];
    const loop = createTickLoop({
      clock,
      logger: pino({ level: 'silent' }),
      evaluator,
      foreign: () => [],
      snapshots: { saveIfDue: () => undefined, save: () => undefined, recover: () => ({ records: 0, points: 0 }) },
      metrics: { tick: (_at, _seconds, isFailed) => failed.push(isFailed) },
      wakeSender: () => undefined,
      turns: createTurns(),
      ownAlerts: () => [],
      createTicker: (_clock, tick) => ({ start: () => void fiveTimes(tick), stop: () => undefined }),
      onEvaluated: (at) => evaluated.push(at),
    });
    loop.start();
    await done;
    loop.stop();
    assert.deepEqual(failed, [false, true, true, false, false]);
    assert.deepEqual(evaluated, [ticks[0], ticks[3], ticks[4]]);
  });
});
