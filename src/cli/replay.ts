import { join, resolve } from 'node:path';
import { createEpisodeBook } from '../app/burn-episodes.ts';
import { readPrometheus } from '../app/prometheus-input.ts';
import { createReplay, type Replay } from '../app/replay.ts';
import { type ReplayLine, readReplay } from '../app/replay-input.ts';
import { createLineSink } from '../app/replay-output.ts';
import { parseDuration } from '../base/duration.ts';
import { formatInstant, parseInstant } from '../base/instant.ts';
import { type EpochMs, SECOND } from '../base/units.ts';
import type { Rules } from '../config/config.ts';
import { forcePolicy } from '../config/force-policy.ts';
import { type LoadedRules, loadRules } from '../config/load.ts';
import type { PolicyBook } from '../config/policies.ts';
import { formatProblem } from '../config/report.ts';
import { chooseFrom } from '../config/suggest.ts';
import { type CommandIo, EXIT, type ExitCode } from './io.ts';
import { formatSummary, type PolicyRun, type Summary, summaryToJson } from './replay-summary.ts';

const PROGRESS_EVERY_LINES = 2000;
/** Shown beside an SLO's own policy. */
const COMPARED = ['workbook', 'countdown'] as const;

export interface ReplayArguments {
  readonly files: readonly string[];
  /** In place of files; times as given. */
  readonly prometheus: {
    readonly url: string;
    readonly from: string;
    readonly to: string;
    readonly step: string;
  } | null;
  readonly rulesDir: string | null;
  readonly until: string | null;
  /** A summary for people, or with `json` for machines, in place of the JSON Lines. */
  readonly summary: boolean;
  readonly json: boolean;
  /** Of the summary; none = each SLO's own, workbook and countdown. */
  readonly policies: readonly string[];
}

/** `slowburn replay [--rules DIR] [--until T] FILE...`: history through the same engine as serve, at full speed. */
export async function runReplay(args: ReplayArguments, io: CommandIo): Promise<ExitCode> {
  const until = args.until === null ? null : parseInstant(args.until);
  if (until === undefined) {
    io.stderr(`slowburn replay: --until ${args.until} is not an RFC 3339 time such as 2026-01-01T00:00:00Z\n`);
    return EXIT.usage;
  }
  if (!args.summary && (args.json || args.policies.length > 0)) {
    io.stderr('slowburn replay: --json and --policy belong to --summary; without it the output is JSON Lines\n');
    return EXIT.usage;
  }
  const loaded = loadRules({
    rulesDir: args.rulesDir === null ? null : resolve(io.cwd, args.rulesDir),
    shippedDir: join(io.packageDir, 'rules'),
    runbooksDir: join(io.packageDir, 'runbooks'),
    offline: true,
  });
  for (const problem of loaded.problems) io.stderr(`${formatProblem(problem)}\n`);
  const { rules } = loaded;
  if (rules === null) return EXIT.failed;
  const unknown = args.policies.find((name) => !loaded.policies.names.includes(name));
  if (unknown !== undefined) {
    io.stderr(`slowburn replay: unknown policy ${unknown}, ${chooseFrom(unknown, loaded.policies.names)}\n`);
    return EXIT.usage;
  }
  const lines = linesOf(args, rules, io);
  if (typeof lines === 'string') {
    io.stderr(`slowburn replay: ${lines}\n`);
    return EXIT.usage;
  }
  if (args.summary) return await summarize(args, rules, loaded.policies, lines, until, io);
  const replay = createReplay(
    rules,
    createLineSink((line) => io.stdout(`${line}\n`)),
  );
  const played = await play(lines, [replay], until, io);
  return played.exitCode;
}

/** The history that the arguments name, or what is wrong with them. */
function linesOf(
  { files, prometheus }: ReplayArguments,
  rules: Rules,
  io: CommandIo,
): AsyncIterable<ReplayLine> | string {
  if (prometheus === null) {
    if (files.length === 0) return 'name the files to replay, - for stdin, or a server by --prometheus';
    return readReplay(
      files.map((file) => (file === '-' ? file : resolve(io.cwd, file))),
      io.stdin,
    );
  }
  if (files.length > 0) return 'files and --prometheus are one or the other';
  const { url } = prometheus;
  if (!/^https?:/.test(url) || !URL.canParse(url)) return `--prometheus ${url} is not an http address`;
  const [from, to] = [parseInstant(prometheus.from), parseInstant(prometheus.to)];
  if (from === undefined || to === undefined || from >= to) {
    return '--prometheus needs --from and --to, RFC 3339 times in this order';
  }
  const step = parseDuration(prometheus.step);
  if (step === undefined || step < SECOND) return `--step ${prometheus.step} is not a duration such as 1m, 1s at least`;
  return readPrometheus({ url: url.replace(/\/+$/, ''), from, to, step, slos: rules.slos });
}

/** What came of feeding the lines. */
interface Played {
  readonly exitCode: ExitCode;
  readonly from: EpochMs | null;
}

/** Feeds every line to every replay; a line is bad when all of them say so. */
async function play(
  lines: AsyncIterable<ReplayLine>,
  replays: readonly Replay[],
  until: EpochMs | null,
  io: CommandIo,
): Promise<Played> {
  let skipped = 0;
  let count = 0;
  let from: EpochMs | null = null;
  try {
    for await (const line of lines) {
      count += 1;
      const wrong = replays.map((replay) => replay.line(line));
      const [first] = wrong;
      if (first !== undefined && first !== null && !wrong.includes(null)) {
        skipped += 1;
        io.stderr(`${line.where}: ${first}; the line is skipped\n`);
      }
      from ??= replays[0]?.now() ?? null;
      if (io.interactive && count % PROGRESS_EVERY_LINES === 0) showProgress(io, replays[0], count);
    }
  } catch (error) {
    io.stderr(`slowburn replay: ${(error as Error).message}\n`);
    return { exitCode: EXIT.failed, from };
  }
  for (const replay of replays) replay.finish(until);
  if (io.interactive) showProgress(io, replays[0], count, '\n');
  return { exitCode: skipped > 0 ? EXIT.findings : EXIT.fine, from };
}

/** The same history once per policy, side by side: what would have paged, when, and at what cost. */
async function summarize(
  args: ReplayArguments,
  rules: Rules,
  policies: LoadedRules['policies'],
  lines: AsyncIterable<ReplayLine>,
  until: EpochMs | null,
  io: CommandIo,
): Promise<ExitCode> {
  const groupBy = new Map(rules.slos.map((slo) => [slo.id, slo.groupBy]));
  const runs = policyRuns(args.policies, rules, policies).map((run) => {
    const book = createEpisodeBook((slo) => groupBy.get(slo) ?? []);
    return { ...run, book, replay: createReplay(run.rules, book.sink) };
  });
  const { exitCode, from } = await play(
    lines,
    runs.map(({ replay }) => replay),
    until,
    io,
  );
  if (exitCode === EXIT.failed) return exitCode;
  const summary: Summary = { from, until: runs[0]?.book.endedAt() ?? null, slos: rules.slos, runs };
  io.stdout(args.json ? `${JSON.stringify(summaryToJson(summary), null, 2)}\n` : formatSummary(summary));
  return exitCode;
}

/** Those named, for every SLO; else workbook and countdown for every SLO, others for the SLOs that name them. */
function policyRuns(
  named: readonly string[],
  rules: Rules,
  policies: PolicyBook,
): readonly (Omit<PolicyRun, 'book'> & { readonly rules: Rules })[] {
  const compared: readonly string[] = named.length > 0 ? named : COMPARED;
  const own = named.length > 0 ? [] : rules.slos.map((slo) => slo.policy.name);
  const others = own.filter((name) => !compared.includes(name));
  return [...new Set([...others, ...compared])].map((policy) => {
    const users = new Set(rules.slos.filter((slo) => slo.policy.name === policy).map((slo) => slo.id));
    const isForAll = compared.includes(policy);
    const forced = forcePolicy(rules, policies, policy, (slo) => isForAll || users.has(slo));
    return { policy, ...forced, slos: new Set(forced.rules.slos.map((slo) => slo.id)) };
  });
}

function showProgress(io: CommandIo, replay: Replay | undefined, lines: number, end = ''): void {
  const now = replay?.now() ?? null;
  io.stderr(`\r${lines} lines, ${replay?.points() ?? 0} points, at ${now === null ? '-' : formatInstant(now)}${end}`);
}
