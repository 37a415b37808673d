import path from 'node:path';
import { err, ok, type Result } from '../base/result.ts';
import { type MuteRules, NO_MUTE_RULES } from '../correlate/mute.ts';
import type { CorrelationSettings } from '../correlate/settings.ts';
import type { DetectorSettings } from '../detect/settings.ts';
import { ALERT } from '../model/conventions.ts';
import type { HookRules } from '../model/hook.ts';
import type { Receiver, Route } from '../model/receiver.ts';
import type { TrafficStandard } from '../model/scorecard.ts';
import type { Slo } from '../slo/slo.ts';
import { checkSchema } from './check-schema.ts';
import type { Problem, Rules, ServiceConfig } from './config.ts';
import { type PolicyBook, type PolicyData, resolvePolicies } from './policies.ts';
import { createPolicyBook } from './policy-book.ts';
import { findRuleFiles, findRunbooks, isFolder, type RuleFileName, type RuleFiles, readSingle } from './read-rules.ts';
import { readSlos } from './read-slos.ts';
import { createReport, hasErrors, type Report, sortProblems } from './report.ts';
import { EMPTY_CORRELATION, resolveCorrelation } from './resolve-correlation.ts';
import { resolveDetectors } from './resolve-detectors.ts';
import { resolveHooks } from './resolve-hooks.ts';
import { resolveMutes } from './resolve-mutes.ts';
import { resolveReceivers } from './resolve-receivers.ts';
import { checkReceiver, resolveRoutes } from './resolve-routes.ts';
import { EMPTY_STANDARD, resolveScorecard } from './resolve-scorecard.ts';
import {
  DEFAULT_IDENTITY_HEADER,
  DEFAULT_LISTEN,
  DEFAULT_OTLP,
  resolveBaseUrl,
  resolveIdentityHeader,
  resolveListen,
  resolveOtlp,
  resolveTokens,
} from './resolve-service.ts';
import {
  CorrelationSchema,
  DetectorsSchema,
  HooksSchema,
  RoutesSchema,
  ScorecardSchema,
  ServiceSchema,
  TiersSchema,
} from './schema.ts';
import { type Environment, readSecrets } from './secrets.ts';
import { booleanOf, child, entries, type Position, type SourceNode, textOf } from './source.ts';
import { checkRunbook } from './validate.ts';
import { zoneRulesOf } from './zone-rules.ts';

export interface ServiceOptions {
  /** null = no file: every default. */
  readonly configPath: string | null;
  /** Wins over the file; relative to `cwd`. */
  readonly dataDir?: string;
  readonly env: Environment;
  readonly cwd: string;
  /** Where the package keeps `rules/` and `runbooks/`. */
  readonly packageDir: string;
}

/** Reads slowburn.yaml: defaults filled in, paths absolute, secrets read. On failure: every problem, sorted. */
export function loadServiceConfig(options: ServiceOptions): Result<ServiceConfig, readonly Problem[]> {
  const { cwd, packageDir } = options;
  const defaults: ServiceConfig = {
    listen: DEFAULT_LISTEN,
    dataDir: path.resolve(cwd, options.dataDir ?? 'data'),
    rulesDir: null,
    runbooksDir: path.join(packageDir, 'runbooks'),
    externalUrl: null,
    grafanaUrl: null,
    insecure: false,
    tokens: [],
    receivers: [],
    identityHeader: DEFAULT_IDENTITY_HEADER,
    otlp: DEFAULT_OTLP,
  };
  if (options.configPath === null) return ok(defaults);
  const problems: Problem[] = [];
  const report = createReport(options.configPath, problems);
  const config = readServiceFile(options.configPath, defaults, options, report, problems);
  return hasErrors(problems) ? err(sortProblems(problems)) : ok(config);
}

function readServiceFile(
  configPath: string,
  defaults: ServiceConfig,
  options: ServiceOptions,
  report: Report,
  problems: Problem[],
): ServiceConfig {
  const directory = path.dirname(path.resolve(options.cwd, configPath));
  const document = readSingle(path.resolve(options.cwd, configPath), report, problems);
  if (document === undefined) return defaults;
  const root = readSecrets(document.root, { directory, env: options.env }, report);
  if (!checkSchema(ServiceSchema, { file: configPath, root }, report)) return defaults;
  const data = textOf(child(root, 'data'));
  return {
    listen: resolveListen(root, report),
    dataDir: options.dataDir === undefined && data !== undefined ? path.resolve(directory, data) : defaults.dataDir,
    rulesDir: resolveFolder(root, 'rules', directory, report) ?? null,
    runbooksDir: resolveFolder(root, 'runbooks', directory, report) ?? defaults.runbooksDir,
    externalUrl: resolveBaseUrl(root, 'externalUrl', 'https://slowburn.example.com', report),
    grafanaUrl: resolveBaseUrl(root, 'grafanaUrl', 'https://grafana.example.com', report),
    insecure: booleanOf(child(root, 'insecure')) === true,
    tokens: resolveTokens(root, report),
    receivers: resolveReceivers(root, report),
    identityHeader: resolveIdentityHeader(root, report),
    otlp: resolveOtlp(root, report),
  };
}

function resolveFolder(root: SourceNode, key: string, directory: string, report: Report): string | undefined {
  const node = child(root, key);
  const text = textOf(node);
  if (node === undefined || text === undefined) return undefined;
  const folder = path.resolve(directory, text);
  if (!isFolder(folder)) {
    report.error(node.at, {
      code: 'CONFIG_FOLDER_MISSING',
      message: `${key}: there is no folder ${text}`,
      fix: 'create it, or correct the path, which starts at the folder of this file',
    });
  }
  return folder;
}

export interface RulesOptions {
  /** null = the shipped rules. */
  readonly rulesDir: string | null;
  readonly shippedDir: string;
  readonly runbooksDir: string;
  /** Receivers of slowburn.yaml: routes may name them. */
  readonly receivers?: readonly Receiver[];
  /** For `${env:...}` in routes.yaml. */
  readonly env?: Environment;
  /**
   * Nothing will be sent (replay): secrets stay as written, and a receiver that is not known here is only a warning.
   */
  readonly offline?: boolean;
  /** Files that take the place of those in the folder, for checking single files. */
  readonly only?: { readonly slos?: readonly string[]; readonly single?: Partial<Record<RuleFileName, string>> };
}

export interface LoadedRules {
  /** null when there is an error. */
  readonly rules: Rules | null;
  /** The SLOs without an error, also when others have one. */
  readonly slos: readonly Slo[];
  /** Sorted; warnings too. */
  readonly problems: readonly Problem[];
  /** Every file that was read: what a reload watches. */
  readonly files: readonly string[];
  /** What an SLO's policy becomes, with the tiers that it had to leave out. */
  readonly policies: PolicyBook;
}

/** Reads a rules folder over the shipped one. */
export function loadRules(options: RulesOptions): LoadedRules {
  const problems: Problem[] = [];
  const found = findRuleFiles(options.rulesDir, options.shippedDir, problems);
  const files: RuleFiles = {
    slos: options.only?.slos ?? found.slos,
    single: { ...found.single, ...options.only?.single },
  };
  const runbooks = findRunbooks(options.runbooksDir);
  const policies = readPolicies(files, options, problems);
  const slos = readSlos(files.slos, { runbooks, policies, zoneRules: zoneRulesOf }, problems).map(({ slo }) => slo);
  const { detectors, heartbeat } = readDetectors(files, options, runbooks, problems);
  const { correlation, mutes } = readCorrelation(files, options, problems);
  const { receivers, routes, names } = readRoutes(files, options, problems);
  if (heartbeat !== null && names !== null) {
    checkReceiver(heartbeat.name, heartbeat.at, names, heartbeat.report, options.offline);
    checkHeartbeat(heartbeat, [...(options.receivers ?? []), ...receivers]);
  }
  const hooks = readHooks(files, options, problems);
  const scorecard = readScorecard(files, options, problems);
  const rules = { slos, detectors, correlation, mutes, receivers, routes, hooks, scorecard };
  return {
    rules: hasErrors(problems) ? null : rules,
    slos,
    problems: sortProblems(problems),
    files: [...files.slos, ...Object.values(files.single)],
    policies,
  };
}

/** The user's file, then the shipped one beneath it; one entry where they are the same. Nearest first. */
const layers = (name: RuleFileName, files: RuleFiles, options: RulesOptions): readonly string[] => [
  ...new Set([path.join(options.shippedDir, name), files.single[name]]),
];

function readPolicies(files: RuleFiles, options: RulesOptions, problems: Problem[]): PolicyBook {
  const layersOfPolicies = layers('tiers.yaml', files, options).map((file): readonly PolicyData[] => {
    const report = createReport(file, problems);
    const document = readSingle(file, report, problems);
    return document !== undefined && checkSchema(TiersSchema, document, report)
      ? resolvePolicies(document.root, report)
      : [];
  });
  return createPolicyBook(layersOfPolicies[0] ?? [], layersOfPolicies[1] ?? []);
}

/** The receiver that Watchdog names, and where. */
interface NamedReceiver {
  readonly name: string;
  readonly at: Position;
  readonly report: Report;
}

/** A heartbeat is our own JSON: a pager or a chat would make a call or a post of each. */
function checkHeartbeat({ name, at, report }: NamedReceiver, receivers: readonly Receiver[]): void {
  const type = receivers.find((receiver) => receiver.name === name)?.type;
  if (type === undefined || type === 'webhook') return;
  report.error(at, {
    code: 'CONFIG_RECEIVER_TYPE',
    message: `the heartbeat cannot go to ${name}, which is of type ${type}`,
    fix: 'name a receiver of type webhook, such as a dead man switch that pages when it hears nothing',
  });
}

/** Runbooks are checked once all layers are known: a detector that the user disables needs none. */
function readDetectors(
  files: RuleFiles,
  options: RulesOptions,
  runbooks: ReadonlySet<string>,
  problems: Problem[],
): { readonly detectors: ReadonlyMap<string, DetectorSettings>; readonly heartbeat: NamedReceiver | null } {
  let detectors: ReadonlyMap<string, DetectorSettings> = new Map();
  let heartbeat: NamedReceiver | null = null;
  const places = new Map<string, { readonly report: Report; readonly at: Position }>();
  for (const file of layers('detectors.yaml', files, options)) {
    const report = createReport(file, problems);
    const document = readSingle(file, report, problems);
    if (document === undefined || !checkSchema(DetectorsSchema, document, report)) continue;
    detectors = resolveDetectors(document.root, detectors, report);
    const receiver = child(child(document.root, ALERT.watchdog), 'receiver');
    if (receiver !== undefined) heartbeat = { name: textOf(receiver) ?? '', at: receiver.at, report };
    for (const [name, { keyAt, value }] of entries(document.root)) {
      places.set(name, { report, at: child(value, 'runbook')?.at ?? keyAt });
    }
  }
  for (const [name, { report, at }] of places) {
    const settings = detectors.get(name);
    if (settings?.enabled === true) checkRunbook(settings.runbook, at, runbooks, report);
  }
  return { detectors, heartbeat };
}

function readCorrelation(
  files: RuleFiles,
  options: RulesOptions,
  problems: Problem[],
): { readonly correlation: CorrelationSettings; readonly mutes: MuteRules } {
  let correlation = EMPTY_CORRELATION;
  let mutes = NO_MUTE_RULES;
  for (const file of layers('correlation.yaml', files, options)) {
    const report = createReport(file, problems);
    const document = readSingle(file, report, problems);
    if (document === undefined || !checkSchema(CorrelationSchema, document, report)) continue;
    correlation = resolveCorrelation(document.root, correlation, report);
    mutes = resolveMutes(document.root, mutes, zoneRulesOf, report);
  }
  return { correlation, mutes };
}

function readHooks(files: RuleFiles, options: RulesOptions, problems: Problem[]): HookRules {
  const file = files.single['hooks.yaml'];
  const report = createReport(file, problems);
  const document = readSingle(file, report, problems);
  if (document === undefined) return [];
  const offline = options.offline === true;
  const sources = { directory: path.dirname(file), env: options.env ?? {} };
  const root = offline ? document.root : readSecrets(document.root, sources, report);
  return checkSchema(HooksSchema, { file, root }, report) ? resolveHooks(root, report, offline) : [];
}

function readScorecard(files: RuleFiles, options: RulesOptions, problems: Problem[]): TrafficStandard {
  let standard = EMPTY_STANDARD;
  for (const file of layers('scorecard.yaml', files, options)) {
    const report = createReport(file, problems);
    const document = readSingle(file, report, problems);
    if (document === undefined || !checkSchema(ScorecardSchema, document, report)) continue;
    standard = resolveScorecard(document.root, standard, report);
  }
  return standard;
}

function readRoutes(
  files: RuleFiles,
  options: RulesOptions,
  problems: Problem[],
): {
  readonly receivers: readonly Receiver[];
  readonly routes: readonly Route[];
  /** Every receiver that can be named, those of slowburn.yaml too; null when the file has errors. */
  readonly names: readonly string[] | null;
} {
  const file = files.single['routes.yaml'];
  const report = createReport(file, problems);
  const document = readSingle(file, report, problems);
  if (document === undefined) return { receivers: [], routes: [], names: null };
  const offline = options.offline === true;
  const sources = { directory: path.dirname(file), env: options.env ?? {} };
  const root = offline ? document.root : readSecrets(document.root, sources, report);
  if (!checkSchema(RoutesSchema, { file, root }, report)) return { receivers: [], routes: [], names: null };
  const receivers = resolveReceivers(root, report, offline);
  const names = [...(options.receivers ?? []), ...receivers].map((receiver) => receiver.name);
  return { receivers, routes: resolveRoutes(root, names, zoneRulesOf, report, offline), names };
}
