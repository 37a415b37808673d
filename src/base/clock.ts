import { assert } from './assert.ts';
import { type EpochMs, epochMs, type Ms } from './units.ts';

/** The only source of time. Edges hold one; pure code is given `now` as an argument. */
export interface Clock {
  /** Wall-clock time. */
  now(): EpochMs;
}

/** A clock that moves only when told: replay, drills and tests. It never runs backwards. */
export class ManualClock implements Clock {
  #now: EpochMs;

  constructor(start: EpochMs) {
    this.#now = start;
  }

  now(): EpochMs {
    return this.#now;
  }

  advanceTo(at: EpochMs): void {
    assert(at >= this.#now, `manual clock moved back from ${this.#now} to ${at}`);
    this.#now = at;
  }

  advanceBy(by: Ms): void {
    this.advanceTo(epochMs(this.#now + by));
  }
}
