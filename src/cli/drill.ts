import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { parseDuration } from '../base/duration.ts';
import type { Rules } from '../config/config.ts';
import { formatProblem } from '../config/report.ts';
import { chooseFrom } from '../config/suggest.ts';
import { type DrillRun, planOf, workOf } from '../sim/drill/drill-run.ts';
import { rehearse } from '../sim/drill/rehearse.ts';
import { rehearseOverWire } from '../sim/drill/wire.ts';
import type { EmittedFlavor } from '../sim/emit/emitter.ts';
import { SCENARIOS } from '../sim/scenarios/catalog.ts';
import type { Scenario } from '../sim/scenarios/scenario.ts';
import { runJobs } from './drill-jobs.ts';
import { DrillProgress } from './drill-progress.ts';
import { formatDrill, formatScenarios, runToJson } from './drill-report.ts';
import { loadDrillRules, type RulesSource } from './drill-rules.ts';
import { summaryToJson } from './drill-summary.ts';
import type { DrillAnswer, DrillTask, WorkerStart } from './drill-worker.ts';
import { type CommandIo, EXIT, type ExitCode } from './io.ts';

export interface DrillArguments {
  readonly scenarios: readonly string[];
  readonly all: boolean;
  readonly seed: string;
  readonly seeds: string | null;
  /** How many runs at a time; null = as many as there are cores. */
  readonly jobs: string | null;
  /** Where OTLP over HTTP is taken; null = in this process, in virtual time. */
  readonly target: string | null;
  /** HTTP API of the target, for the verdict. */
  readonly api: string | null;
  /** Of good health before the fault, with a target; null = as the scenario has it. */
  readonly warmUp: string | null;
  readonly flavor: EmittedFlavor;
  readonly rulesDir: string | null;
  readonly json: boolean;
}

/** `slowburn drill [SCENARIO...]`: failures rehearsed on a simulated fleet, judged by what the engine made of them. */
export async function runDrill(args: DrillArguments, io: CommandIo): Promise<ExitCode> {
  const [seed, seeds] = [wholeNumber(args.seed), args.seeds === null ? 1 : wholeNumber(args.seeds)];
  const jobs = args.jobs === null ? availableParallelism() : wholeNumber(args.jobs);
  if (seed === null || seeds === null || jobs === null) {
    io.stderr('slowburn drill: --seed, --seeds and --jobs are whole numbers from 1\n');
    return EXIT.usage;
  }
  const warmUpMs = args.warmUp === null ? null : parseDuration(args.warmUp);
  if (warmUpMs === undefined) {
    io.stderr(`slowburn drill: --warm-up ${args.warmUp} is not a duration such as 5m\n`);
    return EXIT.usage;
  }
  for (const url of [args.target, args.api]) {
    if (url === null || (/^https?:/.test(url) && URL.canParse(url))) continue;
    io.stderr(`slowburn drill: ${url} is not an http address\n`);
    return EXIT.usage;
  }
  if (!args.all && args.scenarios.length === 0) {
    io.stdout(formatScenarios(SCENARIOS));
    return EXIT.fine;
  }
  const chosen = choose(args, io);
  if (chosen === null) return EXIT.usage;
  const ready = rulesOf(args, io);
  if (ready === null) return EXIT.failed;
  const started = performance.now();
  const pairs = chosen.flatMap((scenario) => Array.from({ length: seeds }, (_, i) => ({ scenario, seed: seed + i })));
  const most = args.target === null ? Math.min(jobs, pairs.length) : 1;
  const { rules, source } = ready;
  const runs = await (args.target === null && pairs.length > 1
    ? runTogether(pairs, { source, flavor: args.flavor, jobs: most }, io)
    : runInTurn(pairs, { ...args, warmUpMs }, rules, io));
  if (typeof runs === 'string') {
    io.stderr(`slowburn drill: ${runs}\n`);
    return EXIT.failed;
  }
  const wallS = (performance.now() - started) / 1000;
  const json = { runs: runs.map(runToJson), ...(runs.length > 1 && { summary: summaryToJson(runs, wallS, most) }) };
  io.stdout(args.json ? `${JSON.stringify(json, null, 2)}\n` : formatDrill(runs, wallS, most));
  return runs.some(({ verdict }) => verdict.misses.length > 0) ? EXIT.findings : EXIT.fine;
}

const wholeNumber = (text: string): number | null => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : null);

function choose({ all, scenarios }: DrillArguments, io: CommandIo): readonly Scenario[] | null {
  if (all) return SCENARIOS;
  const names = SCENARIOS.map(({ name }) => name);
  const unknown = scenarios.find((name) => !names.includes(name));
  if (unknown === undefined) return SCENARIOS.filter(({ name }) => scenarios.includes(name));
  io.stderr(`slowburn drill: unknown scenario ${unknown}, ${chooseFrom(unknown, names)}\n`);
  return null;
}

function rulesOf(
  { rulesDir }: DrillArguments,
  io: CommandIo,
): { readonly rules: Rules; readonly source: RulesSource } | null {
  const source = { rulesDir: rulesDir === null ? null : resolve(io.cwd, rulesDir), packageDir: io.packageDir };
  const { rules, problems } = loadDrillRules(source);
  for (const problem of problems) io.stderr(`${formatProblem(problem)}\n`);
  return rules === null ? null : { rules, source };
}

interface Pair {
  readonly scenario: Scenario;
  readonly seed: number;
}

type InTurn = DrillArguments & { readonly warmUpMs: number | null };

/** One after the other in this process. A message where the target could not be reached. */
async function runInTurn(
  pairs: readonly Pair[],
  args: InTurn,
  rules: Rules,
  io: CommandIo,
): Promise<readonly DrillRun[] | string> {
  const runs: DrillRun[] = [];
  for (const { scenario, seed } of pairs) {
    const run = await runOne(scenario, seed, args, rules, io);
    if (typeof run === 'string') return run;
    runs.push(run);
  }
  return runs;
}

/** Several at a time, each in a process; the longest begin first, so that none is left over at the end. */
async function runTogether(
  pairs: readonly Pair[],
  { source, flavor, jobs }: WorkerStart & { readonly jobs: number },
  io: CommandIo,
): Promise<readonly DrillRun[] | string> {
  const planned = pairs.map((pair, index) => ({ ...pair, index, ...planOf(pair.scenario, pair.seed) }));
  const ordered = [...planned].sort((a, b) => workOf(b.plan) - workOf(a.plan));
  const progress = new DrillProgress(pairs.length, io, () => performance.now());
  const onDone = (task: DrillTask, { rehearsal }: DrillAnswer, done: number): void =>
    progress.tell(task, rehearsal.verdict, done);
  try {
    const tasks = ordered.map(({ scenario, seed }) => ({ scenario: scenario.name, seed }));
    const answers = await runJobs({ tasks, jobs, onDone, source, flavor });
    const runs: DrillRun[] = [];
    for (const [place, { rehearsal, wallS }] of answers.entries()) {
      const { index, scenario, seed, plan, size } = ordered[place] as (typeof ordered)[number];
      runs[index] = { ...rehearsal, scenario, seed, size, plan, flavor, wallS };
    }
    return runs;
  } catch (error) {
    return (error as Error).message;
  } finally {
    progress.end();
  }
}

/** A message where the target could not be reached. */
async function runOne(
  scenario: Scenario,
  seed: number,
  { flavor, target, api, warmUpMs }: InTurn,
  rules: Rules,
  io: CommandIo,
): Promise<DrillRun | string> {
  const { plan, size } = planOf(scenario, seed);
  const started = process.hrtime.bigint();
  const onProgress = (share: number): void => {
    if (io.interactive) io.stderr(`\r${scenario.name}, seed ${seed}: ${Math.floor(share * 100)} %   `);
  };
  const done = (): number => Number(process.hrtime.bigint() - started) / 1e9;
  onProgress(0);
  const rehearsal =
    target === null
      ? rehearse({ plan, rules, flavor, onProgress })
      : await rehearseOverWire({ plan, flavor, target, api: api ?? apiBeside(target), warmUpMs, onProgress });
  if (io.interactive) io.stderr('\r\u001b[K');
  if (typeof rehearsal === 'string') return rehearsal;
  return { ...rehearsal, scenario, seed, size, plan, flavor, wallS: done() };
}

/** The API's usual port on the host that takes OTLP. */
function apiBeside(target: string): string {
  const url = new URL(target);
  url.port = '8080';
  return url.origin;
}
