import { parseArgs } from 'node:util';
import type { GroupView, WindowSums } from '../../src/aggregate/view.ts';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import { BudgetCourse } from '../../src/burn/exhaustion.ts';
import { type GroupAlertState, INACTIVE, nextState } from '../../src/burn/group-state.ts';
import { holdingTiers } from '../../src/burn/tiers.ts';
import { NO_LABELS } from '../../src/model/labels.ts';
import { budgetRatioOf } from '../../src/slo/budget.ts';
import type { Policy } from '../../src/slo/slo.ts';
import { minBurnOf } from '../../src/slo/windows.ts';
import { COUNTDOWN, DAY, HOUR, MINUTE, ORIGIN, STEP, sloOf, WORKBOOK } from '../support/fake-cells.ts';

/**
 * False pages of the two shipped policies: 30 days of Poisson traffic that fails at a steady burn below 1, so that no
 * page is deserved, after 30 days of the same. One push a minute; counted is each time an alert becomes a page.
 */
const RATES_PER_HOUR = [10, 60, 600];
const BURNS = [0.5, 0.9];
const POLICIES: readonly Policy[] = [COUNTDOWN, WORKBOOK];
const MONTH = 30 * DAY;
const STEPS = (2 * MONTH) / STEP;
const BUDGET = budgetRatioOf(sloOf(COUNTDOWN).objective);
/** What countdown may page in 30 days at burn 0.5, on average over the seeds. */
const COUNTDOWN_PAGES_MAX = 0.6;
const SEEDS_DEFAULT = 60;

/** Uniform in [0, 1): mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Two months of one group by 10 s step, seen up to `now`. */
export class SimulatedGroup implements GroupView {
  slo = sloOf(COUNTDOWN);
  readonly labels = NO_LABELS;
  readonly key = 'group';
  readonly firstDataAt = epochMs(ORIGIN);
  now: EpochMs = epochMs(ORIGIN);
  readonly #bad = new Uint32Array(STEPS + 1);
  readonly #total = new Uint32Array(STEPS + 1);

  constructor(perHour: number, errorRatio: number, random: () => number) {
    const count = (steps: Uint32Array, at: number): void => {
      const step = Math.floor(at / STEP) + 1;
      steps[step] = (steps[step] ?? 0) + 1;
    };
    const pause = (): number => (-Math.log(1 - random()) * HOUR) / perHour;
    for (let at = pause(); at < 2 * MONTH; at += pause()) {
      count(this.#total, at);
      if (random() < errorRatio) count(this.#bad, at);
    }
    for (const steps of [this.#bad, this.#total])
      for (let step = 1; step <= STEPS; step += 1) steps[step] = (steps[step] ?? 0) + (steps[step - 1] ?? 0);
  }

  get lastEventAt(): EpochMs {
    return this.now;
  }

  range(from: EpochMs, to: EpochMs): WindowSums {
    const first = this.#stepAt(from);
    const last = Math.max(first, this.#stepAt(to));
    const bad = (this.#bad[last] ?? 0) - (this.#bad[first] ?? 0);
    const total = (this.#total[last] ?? 0) - (this.#total[first] ?? 0);
    return { bad, total, from, to, inconsistent: false };
  }

  #stepAt(at: number): number {
    return Math.max(0, Math.floor((Math.min(at, this.now) - ORIGIN) / STEP));
  }
}

/**
 * Whether some tier could begin to hold: enough bad events in its long window, and a burn of minBurn there. Both
 * policies ask for at least that, so that all other ticks of an inactive group can be skipped.
 */
function mayHold(group: SimulatedGroup, policy: Policy): boolean {
  return policy.tiers.some((tier) => {
    const { bad, total } = group.range(epochMs(group.now - tier.long), group.now);
    if (bad === 0 || bad < tier.minBadEvents) return false;
    const { numerator, denominator } = minBurnOf(tier);
    return (bad / total / BUDGET.value) * Number(denominator) >= Number(numerator) * 0.999;
  });
}

/** How often the group's alert becomes a page in the second month. `skips` false asks the tiers at every tick. */
export function countPages(group: SimulatedGroup, policy: Policy, skips = true): number {
  group.slo = sloOf(policy);
  let state: GroupAlertState = INACTIVE;
  let pages = 0;
  for (let at = MONTH + MINUTE; at <= 2 * MONTH; at += MINUTE) {
    const now = epochMs(ORIGIN + at);
    group.now = now;
    if (skips && state.kind === 'inactive' && !mayHold(group, policy)) continue;
    const input = { group, budget: BUDGET, to: now, course: new BudgetCourse(group, BUDGET, now) };
    const holding = holdingTiers(policy, input, state.kind === 'firing' ? state.holding : []);
    const wasPage = state.kind === 'firing' && state.severity === 'page';
    state = nextState(state, policy, holding, 1, now);
    if (!wasPage && state.kind === 'firing' && state.severity === 'page') pages += 1;
  }
  return pages;
}

export const simulated = (perHour: number, burn: number, seed: number): SimulatedGroup =>
  new SimulatedGroup(perHour, burn * BUDGET.value, randomFrom(seed * 7919 + perHour * 31 + Math.round(burn * 10)));

function readSeeds(args: readonly string[]): number | null {
  const { values } = parseArgs({ args: [...args], options: { seeds: { type: 'string' } } });
  const seeds = values.seeds === undefined ? SEEDS_DEFAULT : Number(values.seeds);
  return Number.isSafeInteger(seeds) && seeds > 0 ? seeds : null;
}

const row = (cells: readonly (string | number)[]): string =>
  `${cells.map((cell, index) => (index === 2 ? String(cell).padEnd(10) : String(cell).padStart(10))).join('  ')}\n`;

/** Prints the table; returns the exit code. */
export function run(args: readonly string[]): number {
  const seeds = readSeeds(args);
  if (seeds === null) {
    process.stderr.write('--seeds takes a whole number above 0\n');
    return 2;
  }
  const faults: string[] = [];
  process.stdout.write(`False pages in 30 days at 99.9 %, mean of ${seeds} seeds\n`);
  process.stdout.write(row(['requests/h', 'burn', 'policy', 'mean', 'std error', 'most']));
  for (const perHour of RATES_PER_HOUR) {
    for (const burn of BURNS) {
      const counts = POLICIES.map((): number[] => []);
      for (let seed = 1; seed <= seeds; seed += 1) {
        if (process.stderr.isTTY) process.stderr.write(`\r${perHour}/h, burn ${burn}: ${seed} of ${seeds} \x1b[K`);
        const group = simulated(perHour, burn, seed);
        for (const [index, policy] of POLICIES.entries()) counts[index]?.push(countPages(group, policy));
      }
      if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
      for (const [index, policy] of POLICIES.entries()) {
        const pages = counts[index] ?? [];
        const mean = pages.reduce((sum, count) => sum + count, 0) / seeds;
        const squares = pages.reduce((sum, count) => sum + (count - mean) ** 2, 0);
        const error = seeds < 2 ? '-' : Math.sqrt(squares / (seeds - 1) / seeds).toFixed(3);
        process.stdout.write(row([perHour, burn, policy.name, mean.toFixed(3), error, Math.max(...pages)]));
        if (policy === COUNTDOWN && burn === 0.5 && mean > COUNTDOWN_PAGES_MAX) faults.push(`${perHour}/h: ${mean}`);
      }
    }
  }
  if (faults.length === 0) return 0;
  process.stderr.write(`countdown pages more than ${COUNTDOWN_PAGES_MAX} at burn 0.5: ${faults.join(', ')}\n`);
  return 1;
}
