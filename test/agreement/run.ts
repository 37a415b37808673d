import { parseArgs } from 'node:util';
import { print } from '../support/rows.ts';
import { runEngine } from './engine.ts';
import { CLEAN_MINUTES, type History, historyOf, KINDS, type Kind, MINUTES } from './history.ts';
import { engineTruth, prometheusTruth } from './oracle.ts';
import { runPrometheus } from './prometheus.ts';
import { type Counter, countersOf } from './samples.ts';
import { AGREEMENT_SLO } from './slo.ts';
import { TIERS, type Truth } from './truth.ts';

/**
 * `npm run agreement -- [--histories 20] [--first 0]`: generated histories through our engine, through a real
 * Prometheus on the generated rules, and through two brute-force models of what each of them can know. Engine and
 * Prometheus must equal their models minute by minute; the models may differ from each other only in the kinds of
 * history that docs/agreement.md names. Exit code 1 on anything else.
 */
const BATCH = 20;
/** Where the two models know different things, and why: docs/agreement.md. */
const DIFFERING: readonly Kind[] = ['gaps', 'new error series'];

interface Figures {
  minutes: number;
  engineWrong: number;
  prometheusWrong: number;
  /** Minutes in which the two models differ, and the largest distance of one of their flips to the nearest other. */
  differing: number;
  flips: number;
  furthestMinutes: number;
}

const figures = new Map<Kind, Figures>(
  KINDS.map((kind) => [
    kind,
    { minutes: 0, engineWrong: 0, prometheusWrong: 0, differing: 0, flips: 0, furthestMinutes: 0 },
  ]),
);

const { values: args } = parseArgs({ options: { histories: { type: 'string' }, first: { type: 'string' } } });
const count = Number(args.histories ?? 20);
const first = Number(args.first ?? 0);
for (let from = first; from < first + count; from += BATCH) {
  const histories = Array.from({ length: Math.min(BATCH, first + count - from) }, (_, index) =>
    historyOf(from + index),
  );
  await compareBatch(histories);
}
process.exit(report() ? 0 : 1);

async function compareBatch(histories: readonly History[]): Promise<void> {
  const counters = new Map(histories.map((history) => [history, countersOf(history)] as const));
  const started = performance.now();
  const prometheus = await runPrometheus(AGREEMENT_SLO, [...counters.values()].flat());
  const prometheusMs = performance.now() - started;
  for (const [history, own] of counters) compareHistory(history, own, prometheus);
  const seconds = (ms: number): string => (ms / 1000).toFixed(0);
  print(
    `${histories.length} histories: Prometheus ${seconds(prometheusMs)} s, all ${seconds(performance.now() - started)} s`,
  );
}

function compareHistory(history: History, counters: readonly Counter[], prometheus: ReadonlyMap<string, Truth>): void {
  const engine = runEngine(AGREEMENT_SLO, history, counters);
  const sum = figures.get(history.kind) as Figures;
  for (const group of history.groups) {
    const own = counters.filter((counter) => counter.group === group);
    const expectedEngine = engineTruth(history, own, engine.watermarks);
    const expectedPrometheus = prometheusTruth(own);
    TIERS.forEach(({ name }, tier) => {
      const tracks = [engine.truth.get(group), expectedEngine, prometheus.get(group), expectedPrometheus].map(
        (truth) => truth?.[tier] ?? new Uint8Array(MINUTES + 1),
      );
      const [ours, modelOfUs, theirs, modelOfThem] = tracks as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
      const where = `${history.kind} ${group} tier ${name}`;
      sum.engineWrong += differences(ours, modelOfUs, `engine, ${where}`);
      sum.prometheusWrong += differences(theirs, modelOfThem, `Prometheus, ${where}`);
      sum.differing += differences(modelOfUs, modelOfThem, null);
      sum.minutes += MINUTES - CLEAN_MINUTES + 1;
      const [a, b] = [flipsOf(ours), flipsOf(theirs)];
      sum.flips += a.length;
      sum.furthestMinutes = Math.max(sum.furthestMinutes, furthest(a, b), furthest(b, a));
    });
  }
}

function differences(found: Uint8Array, expected: Uint8Array, what: string | null): number {
  let wrong = 0;
  for (let minute = CLEAN_MINUTES; minute <= MINUTES; minute += 1) {
    if (found[minute] === expected[minute]) continue;
    wrong += 1;
    if (what !== null && wrong <= 3) print(`${what}: minute ${minute} is ${found[minute]}, not ${expected[minute]}`);
  }
  return wrong;
}

function flipsOf(track: Uint8Array): readonly number[] {
  const flips: number[] = [];
  for (let minute = CLEAN_MINUTES + 1; minute <= MINUTES; minute += 1) {
    if (track[minute] !== track[minute - 1]) flips.push(minute);
  }
  return flips;
}

/** The largest distance of a flip to the nearest one of the other side; 0 without any. */
function furthest(flips: readonly number[], others: readonly number[]): number {
  if (others.length === 0) return flips.length > 0 ? Number.POSITIVE_INFINITY : 0;
  return Math.max(0, ...flips.map((flip) => Math.min(...others.map((other) => Math.abs(other - flip)))));
}

function report(): boolean {
  let good = true;
  print('kind               minutes  flips  engine wrong  Prometheus wrong  minutes that differ  furthest flip (min)');
  for (const [kind, one] of figures) {
    const isExplained = one.differing === 0 || DIFFERING.includes(kind);
    good &&= one.engineWrong === 0 && one.prometheusWrong === 0 && isExplained;
    const cells = [one.minutes, one.flips, one.engineWrong, one.prometheusWrong, one.differing, one.furthestMinutes];
    const widths = [8, 6, 13, 17, 20, 20];
    print(`${kind.padEnd(17)}${cells.map((cell, index) => String(cell).padStart((widths[index] ?? 0) + 1)).join('')}`);
  }
  print(good ? 'agreement: nothing unexplained' : 'agreement: UNEXPLAINED differences');
  return good;
}
