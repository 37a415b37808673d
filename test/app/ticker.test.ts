import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { createTicker } from '../../src/app/ticker.ts';
import { epochMs } from '../../src/base/units.ts';

const START = 1_800_000_003_000;

/** Runs a ticker for `forMs` on mocked timers; the clock reads `skewMs(at)` off the timers. */
async function ticksOf(forMs: number, skewMs: (at: number) => number): Promise<readonly number[]> {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: START });
  try {
    const ticks: number[] = [];
    const ticker = createTicker({ now: () => epochMs(Date.now() + skewMs(Date.now())) }, async (at) => {
      ticks.push(at - START);
    });
    ticker.start();
    for (let passed = 0; passed < forMs; passed += 1) {
      mock.timers.tick(1);
      await Promise.resolve();
    }
    ticker.stop();
    return ticks;
  } finally {
    mock.timers.reset();
  }
}

test('a tick runs at each epoch multiple of 10 s', async () => {
  assert.deepEqual(await ticksOf(30_000, () => 0), [7000, 17_000, 27_000]);
});

test('a timer that fires a millisecond early runs no tick twice', async () => {
  // The clock falls behind the timers by a millisecond at each tick.
  const ticks = await ticksOf(40_000, (at) => -Math.floor((at - START) / 6999));
  assert.deepEqual(ticks, [7000, 17_000, 27_000, 37_000]);
});

test('a clock set back or forward by an hour goes on from where it is, and what was due meanwhile runs once', async () => {
  const HOUR = 3_600_000;
  const back = await ticksOf(40_000, (at) => (at - START > 20_000 ? -HOUR : 0));
  assert.deepEqual(back, [7000, 17_000, 27_000 - HOUR, 37_000 - HOUR]);
  const forward = await ticksOf(40_000, (at) => (at - START > 12_000 ? HOUR : 0));
  assert.deepEqual(forward, [7000, 17_000 + HOUR, 27_000 + HOUR, 37_000 + HOUR]);
});

test('a tick that takes longer than the time between two delays the next one, and none runs beside it', async () => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: START });
  try {
    const ticks: number[] = [];
    let running = 0;
    const ticker = createTicker({ now: () => epochMs(Date.now()) }, async (at) => {
      running += 1;
      assert.equal(running, 1);
      ticks.push(at - START);
      await new Promise((done) => setTimeout(done, 12_000));
      running -= 1;
    });
    ticker.start();
    for (let passed = 0; passed < 60_000; passed += 1) {
      mock.timers.tick(1);
      for (let turn = 0; turn < 4; turn += 1) await Promise.resolve();
    }
    ticker.stop();
    assert.deepEqual(ticks, [7000, 27_000, 47_000]);
  } finally {
    mock.timers.reset();
  }
});
