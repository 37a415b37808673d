import type { EpochMs } from '../base/units.ts';
import { epochMs } from '../base/units.ts';

/** Balancers that take a version up within so long of each other do so in one rollout. */
const SAME_ROLLOUT_MS = 3_600_000;
const ROLLOUTS_MAX = 2000;

/** Balancers took up a config version that they had not run before it. */
export interface Rollout {
  /** Part of the configuration; `""` where it is not told. */
  readonly kind: string;
  readonly version: string;
  /** The first balancer still ran another one. */
  readonly from: EpochMs;
  /** The last balancer took it up. */
  readonly to: EpochMs;
}

export interface RolloutState {
  readonly kind: string;
  readonly version: string;
  readonly from: number;
  readonly to: number;
}

/** When config rollouts were under way, for as long as error budgets remember. */
export class RolloutBook {
  #rollouts: { kind: string; version: string; from: number; to: number }[] = [];

  /** A balancer that ran another version at `before` runs this one at `at`. */
  changed(kind: string, version: string, before: number, at: number): void {
    const known = this.#rollouts.findLast((one) => one.kind === kind && one.version === version);
    if (known !== undefined && at - known.to <= SAME_ROLLOUT_MS && at >= known.from - SAME_ROLLOUT_MS) {
      known.from = Math.min(known.from, before);
      known.to = Math.max(known.to, at);
      return;
    }
    this.#rollouts.push({ kind, version, from: before, to: at });
    if (this.#rollouts.length > ROLLOUTS_MAX) this.#rollouts.shift();
  }

  /** In the order in which they began to be seen. */
  rollouts(): readonly Rollout[] {
    return this.#rollouts.map(({ kind, version, from, to }) => ({
      kind,
      version,
      from: epochMs(from),
      to: epochMs(to),
    }));
  }

  forgetBefore(since: number): void {
    this.#rollouts = this.#rollouts.filter(({ to }) => to >= since);
  }

  snapshot(): readonly RolloutState[] {
    return this.#rollouts.map((one) => ({ ...one }));
  }

  restore(states: readonly RolloutState[]): void {
    this.#rollouts = states.map((one) => ({ ...one }));
  }
}
