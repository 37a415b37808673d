import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { type DashboardFile, type Expression, expressionsOf, labelValuesOf } from './dashboard-files.ts';

const run = promisify(execFile);

/** What promtool has against the expressions, each taken for a recording rule; nothing when their types are right. */
export async function typeProblems(expressions: readonly Expression[]): Promise<readonly string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'slowburn-promtool-'));
  try {
    const problems: string[] = [];
    const check = async (some: readonly Expression[]): Promise<void> => {
      const file = join(directory, 'rules.yaml');
      const rules = some.map(({ expr }, index) => ({ record: `check:${index}`, expr }));
      await writeFile(file, stringify({ groups: [{ name: 'dashboards', rules }] }));
      try {
        await run('promtool', ['check', 'rules', '--lint=none', file]);
      } catch (error) {
        const { code, stderr } = error as { readonly code?: unknown; readonly stderr?: string };
        if (typeof code !== 'number') throw error;
        const half = Math.ceil(some.length / 2);
        if (some.length === 1) problems.push(`${some[0]?.where}: ${some[0]?.expr}: ${stderr?.trim()}`);
        else for (const part of [some.slice(0, half), some.slice(half)]) await check(part);
      }
    };
    if (expressions.length > 0) await check(expressions);
    return problems;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly warnings?: readonly string[];
  readonly data?: { readonly resultType: string; readonly result: readonly unknown[] };
}
type Sample = readonly [at: number, value: string];
interface Series {
  readonly value?: Sample;
  readonly values?: readonly Sample[];
}

export interface DataReport {
  /** Expressions that gave nothing, or nothing but NaN, or an error. */
  readonly problems: readonly string[];
  readonly queries: number;
  readonly slowestMs: number;
}

/** Puts every expression to a Prometheus, as an instant and as a range query over (fromS, toS). */
export async function dataProblems(
  url: string,
  expressions: readonly Expression[],
  range: { readonly fromS: number; readonly toS: number },
): Promise<DataReport> {
  const problems: string[] = [];
  let [queries, slowestMs] = [0, 0];
  const ask = async (path: string, { where, expr }: Expression, more: Record<string, string>): Promise<void> => {
    const begun = performance.now();
    const body = new URLSearchParams({ query: expr, ...more });
    const answer = (await (await fetch(`${url}/api/v1/${path}`, { method: 'POST', body })).json()) as Answer;
    slowestMs = Math.max(slowestMs, performance.now() - begun);
    queries += 1;
    const problem = problemOf(answer);
    if (problem !== null) problems.push(`${where}: ${path}: ${problem}: ${expr}`);
  };
  for (const expression of expressions) {
    await ask('query', expression, { time: String(range.toS) });
    await ask('query_range', expression, { start: String(range.fromS), end: String(range.toS), step: '15' });
  }
  return { problems, queries, slowestMs };
}

function problemOf({ status, error, warnings = [], data }: Answer): string | null {
  if (status !== 'success' || data === undefined) return error ?? status;
  if (warnings.length > 0) return warnings.join();
  const samples = data.resultType === 'scalar' ? [data.result as unknown as Sample] : [];
  for (const { value, values = [] } of data.resultType === 'scalar' ? [] : (data.result as readonly Series[])) {
    samples.push(...values, ...(value === undefined ? [] : [value]));
  }
  if (samples.length === 0) return 'no data';
  return samples.some(([, value]) => value !== 'NaN') ? null : 'nothing but NaN';
}

/** Variables whose query gives no value. */
export async function variableProblems(url: string, { file, templating }: DashboardFile): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const variable of templating.list) {
    if (variable.type !== 'query') continue;
    const { selector, label } = labelValuesOf(variable, templating.list);
    const query = new URLSearchParams({ 'match[]': selector });
    const answer = await fetch(`${url}/api/v1/label/${label}/values?${query}`);
    const { data = [] } = (await answer.json()) as { readonly data?: readonly string[] };
    if (data.length === 0) problems.push(`${file}: variable ${variable.name} has no values`);
  }
  return problems;
}

/** Everything that can be asked of a Prometheus about a dashboard. */
export async function checkDashboard(
  url: string,
  dashboard: DashboardFile,
  range: { readonly fromS: number; readonly toS: number },
): Promise<DataReport & { readonly expressions: number }> {
  const expressions = expressionsOf(dashboard);
  const wrong = await typeProblems(expressions);
  const report = await dataProblems(url, expressions, range);
  const problems = [...wrong, ...report.problems, ...(await variableProblems(url, dashboard))];
  return { ...report, problems, expressions: expressions.length };
}
