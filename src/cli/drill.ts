import { join, resolve } from 'node:path';
import { parseDuration } from '../base/duration.ts';
import type { Rules } from '../config/config.ts';
import { loadRules } from '../config/load.ts';
import { formatProblem } from '../config/report.ts';
import { chooseFrom } from '../config/suggest.ts';
import { type DrillRun, planOf } from '../sim/drill/drill-run.ts';
import { rehearse } from '../sim/drill/rehearse.ts';
import { rehearseOverWire } from '../sim/drill/wire.ts';
import type { EmittedFlavor } from '../sim/emit/emitter.ts';
import { SCENARIOS } from '../sim/scenarios/catalog.ts';
import type { Scenario } from '../sim/scenarios/scenario.ts';
import { formatDrill, formatScenarios, runToJson } from './drill-report.ts';
import { type CommandIo, EXIT, type ExitCode } from './io.ts';

export interface DrillArguments {
  readonly scenarios: readonly string[];
  readonly all: boolean;
  readonly seed: string;
  readonly seeds: string | null;
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
  if (seed === null || seeds === null) {
    io.stderr('slowburn drill: --seed and --seeds are whole numbers from 1\n');
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
  const rules = rulesOf(args, io);
  if (rules === null) return EXIT.failed;
  const runs: DrillRun[] = [];
  for (const scenario of chosen) {
    for (let i = 0; i < seeds; i += 1) {
      const run = await runOne(scenario, seed + i, { ...args, warmUpMs }, rules, io);
      if (typeof run === 'string') {
        io.stderr(`slowburn drill: ${run}\n`);
        return EXIT.failed;
      }
      runs.push(run);
    }
  }
  io.stdout(args.json ? `${JSON.stringify({ runs: runs.map(runToJson) }, null, 2)}\n` : formatDrill(runs));
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

function rulesOf({ rulesDir }: DrillArguments, io: CommandIo): Rules | null {
  const { rules, problems } = loadRules({
    rulesDir: rulesDir === null ? null : resolve(io.cwd, rulesDir),
    shippedDir: join(io.packageDir, 'rules'),
    runbooksDir: join(io.packageDir, 'runbooks'),
    offline: true,
  });
  for (const problem of problems) io.stderr(`${formatProblem(problem)}\n`);
  return rules;
}

/** A message where the target could not be reached. */
async function runOne(
  scenario: Scenario,
  seed: number,
  { flavor, target, api, warmUpMs }: DrillArguments & { readonly warmUpMs: number | null },
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
