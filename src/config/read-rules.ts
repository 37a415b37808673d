import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Problem } from './config.ts';
import { createReport, type Report } from './report.ts';
import type { SourceDocument } from './source.ts';
import { chooseFrom } from './suggest.ts';
import { parseYaml, readProblem } from './yaml-source.ts';

/** The single files of a rules folder. */
export const RULE_FILES = [
  'tiers.yaml',
  'detectors.yaml',
  'correlation.yaml',
  'routes.yaml',
  'hooks.yaml',
  'scorecard.yaml',
] as const;
export type RuleFileName = (typeof RULE_FILES)[number];

/** Which file each part of the rules comes from. */
export interface RuleFiles {
  readonly slos: readonly string[];
  readonly single: Readonly<Record<RuleFileName, string>>;
}

const MAX_DEPTH = 8;

/**
 * YAML files below a folder, sorted. Names that start with a dot are left out: Kubernetes keeps its copies of mounted
 * files there.
 */
export function findYaml(folder: string, depth = 0): readonly string[] {
  if (depth > MAX_DEPTH || !existsSync(folder)) return [];
  const found: string[] = [];
  for (const name of readdirSync(folder).sort()) {
    if (name.startsWith('.')) continue;
    const file = path.join(folder, name);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat?.isDirectory() === true) found.push(...findYaml(file, depth + 1));
    else if (stat?.isFile() === true && /\.ya?ml$/.test(name)) found.push(file);
  }
  return found;
}

/**
 * A folder needs only what differs: each single file that it lacks, and the SLOs if it has none, are the shipped ones.
 * Reports YAML files in the folder that nothing reads.
 */
export function findRuleFiles(rulesDir: string | null, shippedDir: string, problems: Problem[]): RuleFiles {
  const own = rulesDir === null ? [] : findYaml(path.join(rulesDir, 'slos'));
  const single = (name: RuleFileName): string => {
    const file = rulesDir === null ? undefined : path.join(rulesDir, name);
    return file !== undefined && existsSync(file) ? file : path.join(shippedDir, name);
  };
  if (rulesDir !== null) reportStrayFiles(rulesDir, problems);
  return {
    slos: own.length > 0 ? own : findYaml(path.join(shippedDir, 'slos')),
    single: {
      'tiers.yaml': single('tiers.yaml'),
      'detectors.yaml': single('detectors.yaml'),
      'correlation.yaml': single('correlation.yaml'),
      'routes.yaml': single('routes.yaml'),
      'hooks.yaml': single('hooks.yaml'),
      'scorecard.yaml': single('scorecard.yaml'),
    },
  };
}

function reportStrayFiles(rulesDir: string, problems: Problem[]): void {
  if (!isFolder(rulesDir)) {
    createReport(rulesDir, problems).error(START, {
      code: 'CONFIG_FOLDER_MISSING',
      message: 'there is no such rules folder',
      fix: 'create it, or name another one',
    });
    return;
  }
  const known: readonly string[] = RULE_FILES;
  for (const name of readdirSync(rulesDir).sort()) {
    if (name.startsWith('.') || !/\.ya?ml$/.test(name) || known.includes(name)) continue;
    createReport(path.join(rulesDir, name), problems).warning(START, {
      code: 'CONFIG_FILE_UNUSED',
      message: 'nothing reads this file',
      fix: `${chooseFrom(name, known).replace('use one of', 'call it one of')}; SLOs belong into slos/`,
    });
  }
}

export const isFolder = (folder: string): boolean =>
  statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;

/** Where findings about a whole file point. */
export const START = { line: 1, column: 1 } as const;

/** The documents of a file; reading and syntax errors are reported. */
export function readDocuments(file: string, problems: Problem[]): readonly SourceDocument[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    problems.push(readProblem(file, error));
    return [];
  }
  return parseYaml(file, text, problems);
}

/** The one document of a file that holds one; undefined when it is empty or has an error. */
export function readSingle(file: string, report: Report, problems: Problem[]): SourceDocument | undefined {
  const [first, second] = readDocuments(file, problems);
  if (second !== undefined) {
    report.error(second.root.at, {
      code: 'CONFIG_DOCUMENT_COUNT',
      message: 'this file holds one YAML document',
      fix: 'remove the --- line and what follows, or merge it into the first document',
    });
  }
  return first;
}

/** The names of the runbooks in a folder: its `.md` files without the ending. */
export function findRunbooks(folder: string): ReadonlySet<string> {
  if (!isFolder(folder)) return new Set();
  return new Set(
    readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .map((name) => name.slice(0, -'.md'.length)),
  );
}
