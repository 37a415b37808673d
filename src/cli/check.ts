import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { present } from '../base/assert.ts';
import { formatInstant, parseInstant } from '../base/instant.ts';
import type { Problem, Rules, ServiceConfig } from '../config/config.ts';
import { loadRules, loadServiceConfig, type RulesOptions } from '../config/load.ts';
import { findYaml, isFolder, RULE_FILES, type RuleFileName, readDocuments } from '../config/read-rules.ts';
import { formatProblem, hasErrors, sortProblems } from '../config/report.ts';
import { child } from '../config/source.ts';
import { watchdogOf } from '../detect/watchdog.ts';
import { ALERT } from '../model/conventions.ts';
import type { Route } from '../model/receiver.ts';
import { firstGap } from '../model/week-times.ts';
import { formatReport, reportOf, type SloReport, toJson } from './check-report.ts';
import { runSendTest } from './send-test.ts';

export interface CheckArguments {
  /** Rules folders, SLO files, single rule files or slowburn.yaml files; none = the configured or shipped rules. */
  readonly paths: readonly string[];
  readonly configPath: string | null;
  readonly json: boolean;
  /** A receiver that gets a test message once everything is found sound. */
  readonly sendTest?: string;
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
  if (args.sendTest !== undefined) return await trySending(args.sendTest, args, checked, io);
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

/** Only the receivers of a configuration without errors are tried: those in force. */
async function trySending(
  name: string,
  args: CheckArguments,
  checked: readonly Checked[],
  io: CheckIo,
): Promise<number> {
  const problems = sortProblems(checked.flatMap((part) => part.problems)).filter(
    ({ severity }) => severity === 'error',
  );
  for (const problem of problems) io.stdout(`${formatProblem(shorten(problem, io.cwd))}\n`);
  if (problems.length > 0) return 1;
  const { value: config } = loadConfig(args.configPath, io);
  const { rules } = loadRulesOf({ rulesDir: config.rulesDir }, config, io);
  return await runSendTest(name, [...config.receivers, ...(rules?.receivers ?? [])], config, io);
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

const loadRulesOf = (options: Pick<RulesOptions, 'rulesDir' | 'only'>, config: ServiceConfig, io: CheckIo) =>
  loadRules({
    ...options,
    shippedDir: path.join(io.packageDir, 'rules'),
    runbooksDir: config.runbooksDir,
    receivers: config.receivers,
    env: io.env,
  });

function checkRules(options: Pick<RulesOptions, 'rulesDir' | 'only'>, config: ServiceConfig, io: CheckIo): Checked {
  const loaded = loadRulesOf(options, config, io);
  return {
    problems: loaded.problems,
    reports: loaded.slos.map((slo) => reportOf(slo, loaded)),
    notes: options.only === undefined && loaded.rules !== null ? notesOnRules(loaded.rules) : [],
  };
}

/** What single files cannot tell. Who switched the Watchdog off has decided. */
function notesOnRules({ detectors, routes }: Rules): readonly string[] {
  const isUnheard = detectors.get(ALERT.watchdog)?.enabled === true && watchdogOf(detectors) === null;
  return [
    ...(isUnheard
      ? ['Watchdog has no receiver: nobody is told when slowburn itself dies; set Watchdog.receiver in detectors.yaml']
      : []),
    ...notesOnRoutes(routes),
  ];
}

/** A Monday in winter and one in summer, on both hemispheres. */
const WEEKS = ['2027-01-04T00:00:00Z', '2027-07-05T00:00:00Z'].map((text) => present(parseInstant(text), text));

/** Pages that no route would take. Without routes everything goes to the first receiver. */
function notesOnRoutes(routes: readonly Route[]): readonly string[] {
  if (routes.length === 0) return [];
  const gap = WEEKS.map((week) => firstGap(routes, 'page', week)).find((at) => at !== null);
  if (gap === undefined || gap === null) return [];
  const when = WEEKS.includes(gap) ? '' : `, for example at ${formatInstant(gap)}`;
  return [`a page that no matcher, owner or service of a route names reaches nobody${when}; add a route for all pages`];
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
