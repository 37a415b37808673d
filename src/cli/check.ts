import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { formatDuration } from '../base/duration.ts';
import type { Problem, Rules, ServiceConfig } from '../config/config.ts';
import { type LoadedRules, loadRules, loadServiceConfig, type RulesOptions } from '../config/load.ts';
import { ERRORS_PER_MILLE, objectivePercent, reachOf, type SloReach } from '../config/reach.ts';
import { findYaml, isFolder, RULE_FILES, type RuleFileName, readDocuments } from '../config/read-rules.ts';
import { formatProblem, hasErrors, sortProblems } from '../config/report.ts';
import { child } from '../config/source.ts';
import { watchdogOf } from '../detect/watchdog.ts';
import { ALERT } from '../model/conventions.ts';

export interface CheckArguments {
  /** Rules folders, SLO files, single rule files or slowburn.yaml files; none = the configured or shipped rules. */
  readonly paths: readonly string[];
  readonly configPath: string | null;
  readonly json: boolean;
}

export interface CheckIo {
  stdout(text: string): void;
  stderr(text: string): void;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly packageDir: string;
}

/** What was found in one place. */
interface Checked {
  readonly problems: readonly Problem[];
  readonly reports: readonly SloReport[];
  /** About the rules as a whole. */
  readonly notes: readonly string[];
}

interface SloReport {
  readonly reach: SloReach;
  readonly notes: readonly string[];
}

/**
 * `slowburn check`: validates configuration and rules, and prints what can page each SLO. Returns the exit code: 0 fine
 * (warnings included), 1 errors found, 2 a path that does not exist.
 */
export async function runCheck(args: CheckArguments, io: CheckIo): Promise<number> {
  const missing = [...args.paths, ...(args.configPath === null ? [] : [args.configPath])].filter(
    (name) => !existsSync(path.resolve(io.cwd, name)),
  );
  if (missing.length > 0) {
    for (const name of missing) io.stderr(`slowburn check: there is no ${name}\n`);
    return 2;
  }
  const checked = checkAll(args, io);
  const problems = sortProblems(checked.flatMap((part) => part.problems).map((problem) => shorten(problem, io.cwd)));
  const reports = uniqueReports(checked.flatMap((part) => part.reports));
  const notes = [...new Set(checked.flatMap((part) => part.notes))];
  if (args.json) io.stdout(`${JSON.stringify(toJson(problems, reports, notes), null, 2)}\n`);
  else {
    for (const problem of problems) io.stdout(`${formatProblem(problem)}\n`);
    for (const report of reports) io.stdout(`\n${formatReport(report)}`);
    if (notes.length > 0) io.stdout(`\n${notes.map((note) => `note: ${note}\n`).join('')}`);
  }
  return hasErrors(problems) ? 1 : 0;
}

type PathKind = 'folder' | 'slo' | 'rule' | 'service';

function checkAll(args: CheckArguments, io: CheckIo): readonly Checked[] {
  const config = loadConfig(args.configPath, io);
  const base = args.configPath === null ? [] : [{ problems: config.problems, reports: [], notes: [] }];
  if (args.paths.length === 0) return [...base, checkRules({ rulesDir: config.value.rulesDir }, config.value, io)];

  const files = args.paths.map((name) => path.resolve(io.cwd, name));
  const kinds = new Map(files.map((file) => [file, kindOf(file)]));
  const ofKind = (kind: PathKind): readonly string[] => files.filter((file) => kinds.get(file) === kind);
  const folders = ofKind('folder').map((folder) => {
    const slos = bareSloFolder(folder);
    const only = slos === null ? { rulesDir: folder } : { rulesDir: null, only: { slos } };
    return checkRules(only, config.value, io);
  });
  const services = ofKind('service').map((file) => checkService(file, io));
  const [slos, rules] = [ofKind('slo'), ofKind('rule')];
  const single: Partial<Record<RuleFileName, string>> = {};
  for (const file of rules) {
    const name = RULE_FILES.find((known) => known === path.basename(file));
    if (name !== undefined) single[name] = file;
  }
  const only = slos.length > 0 ? { slos, single } : { single };
  const loose = slos.length + rules.length > 0 ? [checkRules({ rulesDir: null, only }, config.value, io)] : [];
  return [...base, ...services, ...folders, ...loose];
}

function loadConfig(
  configPath: string | null,
  io: CheckIo,
): { readonly value: ServiceConfig; readonly problems: readonly Problem[]; readonly ok: boolean } {
  const { cwd, env, packageDir } = io;
  const loaded = loadServiceConfig({ configPath, env, cwd, packageDir });
  if (loaded.ok) return { value: loaded.value, problems: [], ok: true };
  const defaults = loadServiceConfig({ configPath: null, env, cwd, packageDir });
  if (!defaults.ok) throw new Error('BUG: the default configuration has errors');
  return { value: defaults.value, problems: loaded.error, ok: false };
}

/** A slowburn.yaml and, if it is sound, the rules that it names. */
function checkService(file: string, io: CheckIo): Checked {
  const config = loadConfig(file, io);
  if (!config.ok) return { problems: config.problems, reports: [], notes: [] };
  return checkRules({ rulesDir: config.value.rulesDir }, config.value, io);
}

function checkRules(options: Pick<RulesOptions, 'rulesDir' | 'only'>, config: ServiceConfig, io: CheckIo): Checked {
  const loaded = loadRules({
    ...options,
    shippedDir: path.join(io.packageDir, 'rules'),
    runbooksDir: config.runbooksDir,
    receivers: config.receivers,
    env: io.env,
  });
  return {
    problems: loaded.problems,
    reports: loaded.slos.map((slo) => ({ reach: reachOf(slo), notes: notesOn(slo, loaded) })),
    notes: options.only === undefined && loaded.rules !== null ? notesOnRules(loaded.rules) : [],
  };
}

/** What single files cannot tell. Who switched the Watchdog off has decided. */
function notesOnRules({ detectors }: Rules): readonly string[] {
  if (detectors.get(ALERT.watchdog)?.enabled !== true || watchdogOf(detectors) !== null) return [];
  return [
    'Watchdog has no receiver: nobody is told when slowburn itself dies; set Watchdog.receiver in detectors.yaml',
  ];
}

function notesOn(slo: SloReach['slo'], loaded: LoadedRules): readonly string[] {
  const built = loaded.policies.build(slo.policy.name, slo.window.length, slo.objective.target);
  const left = built.kind === 'policy' ? built.left.map((note) => `left out: ${note}`) : [];
  const half = slo.policy.tiers.some((tier) => tier.minBurn === 'half');
  const events = Math.max(0, ...slo.policy.tiers.map((tier) => tier.minBadEvents));
  return [
    ...left,
    ...(half
      ? ['tiers marked half fire at this burn once half the budget is spent, and at the full factor before']
      : []),
    ...(events > 0
      ? [`with little traffic later: a long window must hold enough bad events (at most ${events}) to be sure`]
      : []),
    ...(slo.policy.tiers.some((tier) => tier.severity === 'page') ? [] : ['no tier pages']),
  ];
}

function kindOf(file: string): PathKind {
  if (isFolder(file)) return 'folder';
  const known: readonly string[] = RULE_FILES;
  if (known.includes(path.basename(file))) return 'rule';
  const documents = readDocuments(file, []);
  const openSlo = documents.some(
    ({ root }) => child(root, 'apiVersion') !== undefined || child(root, 'kind') !== undefined,
  );
  // A file that cannot be read as YAML is an SLO file unless its name says otherwise: both report the same.
  return openSlo || (documents.length === 0 && path.basename(file) !== 'slowburn.yaml') ? 'slo' : 'service';
}

/** The YAML files of a folder that is no rules folder but holds SLO files directly; null for a rules folder. */
function bareSloFolder(folder: string): readonly string[] | null {
  const isRules = isFolder(path.join(folder, 'slos')) || RULE_FILES.some((name) => isFile(path.join(folder, name)));
  const files = isRules ? [] : findYaml(folder);
  return files.length === 0 ? null : files;
}

const isFile = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() === true;

/** Paths below the working directory are shown as a person would type them. */
function shorten(problem: Problem, cwd: string): Problem {
  const prefix = cwd.endsWith(path.sep) ? cwd : `${cwd}${path.sep}`;
  const cut = (text: string): string => text.replaceAll(prefix, '');
  return { ...problem, file: cut(problem.file), message: cut(problem.message) };
}

const uniqueReports = (reports: readonly SloReport[]): readonly SloReport[] => [
  ...new Map(reports.map((report) => [`${report.reach.slo.source.file} ${report.reach.slo.id}`, report])).values(),
];

const percent = (share: number): string => `${Number((share * 100).toPrecision(3))} %`;

function minutesText(minutes: number | null): string {
  return minutes === null ? 'never' : String(Number(minutes.toPrecision(3)));
}

/** One SLO: a head line, a table with a line per tier, and notes. */
function formatReport({ reach, notes }: SloReport): string {
  const { slo, tiers, unpagedShare } = reach;
  const group = slo.groupBy.length === 0 ? '' : ` per ${slo.groupBy.join(', ')}`;
  const head = `${slo.id}: ${objectivePercent(slo)} % over ${slo.window.text}${group}, policy ${slo.policy.name}`;
  const columns = ERRORS_PER_MILLE.map((errors) => `at ${errors / 10} %`);
  const table = [
    ['tier', 'severity', 'windows', 'factor', 'fires at burn', 'budget spent', ...columns],
    ...tiers.map(({ tier, minBurn, spentAtFire, minutes }) => [
      tier.name,
      tier.severity,
      `${formatDuration(tier.long)}/${formatDuration(tier.short)}`,
      `${Number((Number(tier.factor.numerator) / Number(tier.factor.denominator)).toPrecision(4))}x`,
      `${Number(minBurn.toPrecision(4))}x${tier.minBurn === 'half' ? ' half' : ''}`,
      percent(spentAtFire),
      ...minutes.map(minutesText),
    ]),
  ];
  const lines = [
    head,
    ...alignColumns(table).map((line) => `  ${line}`),
    '  the last columns: minutes until the tier fires at so many errors, from a clean window',
    unpagedShare >= 1
      ? '  the whole fleet can die without a page'
      : `  up to ${percent(unpagedShare)} of the fleet can die without a page`,
    ...notes.map((note) => `  note: ${note}`),
  ];
  return `${lines.join('\n')}\n`;
}

function alignColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function toJson(problems: readonly Problem[], reports: readonly SloReport[], notes: readonly string[]) {
  return {
    ok: !hasErrors(problems),
    problems,
    notes,
    slos: reports.map(({ reach, notes }) => ({
      id: reach.slo.id,
      objective: reach.slo.objective.text,
      window: reach.slo.window.text,
      groupBy: reach.slo.groupBy,
      policy: reach.slo.policy.name,
      tiers: reach.tiers.map(({ tier, minBurn, spentAtFire, minutes }) => ({
        name: tier.name,
        severity: tier.severity,
        longSeconds: tier.long / 1000,
        shortSeconds: tier.short / 1000,
        factor: Number(tier.factor.numerator) / Number(tier.factor.denominator),
        minBurn,
        budgetSpentAtFire: spentAtFire,
        detectionMinutes: Object.fromEntries(
          ERRORS_PER_MILLE.map((errors, index) => [String(errors / 10), minutes[index] ?? null]),
        ),
      })),
      unpagedShare: reach.unpagedShare,
      notes,
    })),
  };
}
