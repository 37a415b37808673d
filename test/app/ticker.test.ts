import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { createTicker } from '../../src/app/ticker.ts';
import { epochMs } from '../../src/base/units.ts';

const START = 1_800_000_003_000;

/** Runs a ticker for `forMs` on mocked timers; the clock reads `skewMs(at)` off the timers. */
function ticksOf(forMs: number, skewMs: (at: number) => number): readonly number[] {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: START });
  try {
    const ticks: number[] = [];
    const ticker = createTicker({ now: () => epochMs(Date.now() + skewMs(Date.now())) }, (at) =>
      ticks.push(at - START),
    );
    ticker.start();
    for (let passed = 0; passed < forMs; passed += 1) mock.timers.tick(1);
    ticker.stop();
    return ticks;
  } finally {
    mock.timers.reset();
  }
}

test('a tick runs at each epoch multiple of 10 s', () => {
  assert.deepEqual(
    ticksOf(30_000, () => 0),
    [7000, 17_000, 27_000],
  );
});

test('a timer that fires a millisecond early runs no tick twice', () => {
  // The clock falls behind the timers by a millisecond at each tick.
  const ticks = ticksOf(40_000, (at) => -Math.floor((at - START) / 6999));
  assert.deepEqual(ticks, [7000, 17_000, 27_000, 37_000]);
});

test('a clock set back or forward by an hour goes on from where it is, and what was due meanwhile runs once', () => {
  const HOUR = 3_600_000;
  const back = ticksOf(40_000, (at) => (at - START > 20_000 ? -HOUR : 0));
  assert.deepEqual(back, [7000, 17_000, 27_000 - HOUR, 37_000 - HOUR]);
  const forward = ticksOf(40_000, (at) => (at - START > 12_000 ? HOUR : 0));
  assert.deepEqual(forward, [7000, 17_000 + HOUR, 27_000 + HOUR, 37_000 + HOUR]);
});
