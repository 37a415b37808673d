import type { Problem } from './config.ts';
import type { Position } from './source.ts';

/** What is wrong, and how to put it right. */
export interface Finding {
  /** Stable, upper case, starts with CONFIG_. */
  readonly code: string;
  readonly message: string;
  readonly fix: string;
}

/** Collects findings of one file. */
export interface Report {
  readonly file: string;
  error(at: Position, finding: Finding): void;
  warning(at: Position, finding: Finding): void;
}

/** A report that appends to `problems`, so that several files share one list. */
export function createReport(file: string, problems: Problem[]): Report {
  const add = (severity: Problem['severity'], at: Position, finding: Finding): void => {
    problems.push({ severity, file, line: at.line, column: at.column, ...finding });
  };
  return {
    file,
    error: (at, finding) => add('error', at, finding),
    warning: (at, finding) => add('warning', at, finding),
  };
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** By file, line, column, code: the order in which a person reads them. Exact repetitions are dropped. */
export function sortProblems(problems: readonly Problem[]): readonly Problem[] {
  const unique = new Map(problems.map((problem) => [formatProblem(problem), problem]));
  return [...unique.values()].sort(
    (a, b) => compareText(a.file, b.file) || a.line - b.line || a.column - b.column || compareText(a.code, b.code),
  );
}

/** `file:line:col CODE message, how to fix`; a warning says so after its code. */
export function formatProblem(problem: Problem): string {
  const mark = problem.severity === 'warning' ? 'warning: ' : '';
  return `${problem.file}:${problem.line}:${problem.column} ${problem.code} ${mark}${problem.message}, ${problem.fix}`;
}

export const hasErrors = (problems: readonly Problem[]): boolean =>
  problems.some((problem) => problem.severity === 'error');
