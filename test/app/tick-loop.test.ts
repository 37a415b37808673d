import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pino } from 'pino';
import type { Evaluator, Outcome } from '../../src/app/evaluate.ts';
import { createTickLoop } from '../../src/app/tick-loop.ts';
import { createTicker } from '../../src/app/ticker.ts';
import { createTurns } from '../../src/app/turns.ts';
import type { Clock } from '../../src/base/clock.ts';
import { epochMs } from '../../src/base/units.ts';
import { T0 } from '../support/alerts.ts';
import { eventually } from '../support/live-service.ts';

const NOTHING: Outcome = {
  at: epochMs(T0),
  alerts: [],
  result: { incidents: [], changes: [], notifications: [] },
  outbox: [],
};

describe('the loop of ticks', () => {
  test('says only of evaluations that were committed that they were made', async (context) => {
    // Each tick moves the clock to just before the next one.
    let ahead = T0 - 30;
    const started = performance.now();
    const clock: Clock = { now: () => epochMs(Math.floor(ahead + performance.now() - started)) };
    const ticks: number[] = [];
    const evaluator = {
      *tickInSteps(now: number): Generator<void, Outcome> {
        yield;
        ticks.push(now);
        ahead += 9_990;
        if (ticks.length === 2 || ticks.length === 3) throw new Error('the store refuses the commit');
        return NOTHING;
      },
    } as unknown as Evaluator;
    const evaluated: number[] = [];
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
      createTicker,
      onEvaluated: (at) => evaluated.push(at),
    });
    context.after(() => loop.stop());
    loop.start();
    await eventually('five ticks', 5000, async () => (ticks.length >= 5 ? true : null));
    loop.stop();
    assert.deepEqual(failed.slice(0, 5), [false, true, true, false, false]);
    assert.deepEqual(evaluated.slice(0, 3), [ticks[0], ticks[3], ticks[4]]);
  });
});
