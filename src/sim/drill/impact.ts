import { at } from '../columns.ts';
import type { Fleet } from '../fleet.ts';
import { CLASS, CLASSES, HANDSHAKE, HANDSHAKE_KINDS } from '../measures.ts';

/** A smaller share of requests going wrong counts as over. */
const OVER_BELOW = 0.001;

/** What went wrong for clients in truth, whatever anybody noticed. */
export interface Impact {
  /** Largest share of requests, or of handshakes, that went wrong in one sample, 0 to 1. */
  readonly peakShare: number;
  /** From the fault until the share was below 0.1 % for good, s; 0 = nothing went wrong. */
  readonly lastedS: number;
}

/** Follows a fleet's own counts: answers of 5xx or none, and handshakes that failed. */
export class ImpactMeter {
  readonly #fleet: Fleet;
  readonly #faultAtMs: number;
  #peak = 0;
  #lastWrongMs: number | null = null;
  #lookedAtMs = 0;
  #before: Counts;

  constructor(fleet: Fleet, faultAtMs: number) {
    this.#fleet = fleet;
    this.#faultAtMs = faultAtMs;
    this.#before = countsOf(fleet);
  }

  /** When it last sampled. */
  get lookedAtMs(): number {
    return this.#lookedAtMs;
  }

  /** Judges what was counted since the last sample; before the fault only counts. */
  sample(nowMs: number): void {
    const after = countsOf(this.#fleet);
    const before = this.#before;
    this.#before = after;
    this.#lookedAtMs = nowMs;
    if (nowMs <= this.#faultAtMs) return;
    const share = Math.max(
      shareOf(after.badRequests - before.badRequests, after.requests - before.requests),
      shareOf(after.badHandshakes - before.badHandshakes, after.handshakes - before.handshakes),
    );
    this.#peak = Math.max(this.#peak, share);
    if (share >= OVER_BELOW) this.#lastWrongMs = nowMs;
  }

  impact(): Impact {
    const lastedS = this.#lastWrongMs === null ? 0 : (this.#lastWrongMs - this.#faultAtMs) / 1000;
    return { peakShare: this.#peak, lastedS };
  }
}

interface Counts {
  readonly requests: number;
  readonly badRequests: number;
  readonly handshakes: number;
  readonly badHandshakes: number;
}

const shareOf = (part: number, whole: number): number => (whole > 0 ? part / whole : 0);

function countsOf({ measures }: Fleet): Counts {
  let [requests, badRequests, handshakes, badHandshakes] = [0, 0, 0, 0];
  for (let i = 0; i < measures.requests.length; i += 1) {
    const count = at(measures.requests, i);
    requests += count;
    if (i % CLASSES === CLASS.serverError || i % CLASSES === CLASS.none) badRequests += count;
  }
  for (let i = 0; i < measures.handshakes.length; i += 1) {
    const count = at(measures.handshakes, i);
    handshakes += count;
    if (i % HANDSHAKE_KINDS.length === HANDSHAKE.failed) badHandshakes += count;
  }
  return { requests, badRequests, handshakes, badHandshakes };
}
