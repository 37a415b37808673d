import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ALERT } from '../../src/model/conventions.ts';
import { blankValuesOf, fillBlanks } from '../../src/model/runbook-blanks.ts';
import { cheapestDrills } from '../support/cheap-drills.ts';
import { type Firing, type Scrapes, scrapeDrill } from '../support/drill-scrapes.ts';
import { scrapeOwnFailure } from '../support/own-failure.ts';
import { startOverBlocks } from '../support/prometheus.ts';
import { compareRows, print, type Row } from '../support/rows.ts';
import { type Block, shippedRunbooks } from '../support/runbooks.ts';

const execute = promisify(execFile);
const RUNBOOKS = new Map(shippedRunbooks().map((runbook) => [runbook.name, runbook]));
/** Alerts about slowburn itself: no fleet makes them fire. */
const OWN: readonly string[] = [ALERT.watchdog, ALERT.notificationsFailing];
const MIB = 1024 * 1024;

/**
 * Every query of every runbook on the drill of its alert: the drill runs in virtual time, what slowburn tells at /metrics
 * is scraped at each tick and becomes blocks of a real Prometheus, and each query, filled in from the alert, is asked
 * as of a minute after it fired. It must give at least one series that is a number. `RUNBOOKS=A,B` asks for some only.
 */
export async function run(): Promise<boolean> {
  const asked = process.env['RUNBOOKS']?.split(',') ?? [...RUNBOOKS.keys()];
  const rows: Row[] = [];
  for (const [scenario, alerts] of cheapestDrills(asked.filter((name) => !OWN.includes(name)))) {
    rows.push(...(await rowsOf(scenario.name, alerts, async () => scrapeDrill(scenario, alerts))));
  }
  const own = asked.filter((name) => OWN.includes(name));
  if (own.length > 0) rows.push(...(await rowsOf('a receiver that nobody listens at', own, scrapeOwnFailure)));
  return compareRows(rows);
}

async function rowsOf(drill: string, alerts: readonly string[], scrapes: () => Promise<Scrapes>): Promise<Row[]> {
  const begun = performance.now();
  const { text, firings } = await scrapes();
  const directory = await mkdtemp(join(tmpdir(), 'slowburn-runbooks-'));
  try {
    const file = join(directory, 'scrapes.txt');
    await writeFile(file, text);
    const args = ['tsdb', 'create-blocks-from', 'openmetrics', file, join(directory, 'prometheus')];
    await execute('promtool', args, { maxBuffer: 64 * MIB });
    const prometheus = await startOverBlocks(directory);
    try {
      const rows: Row[] = [];
      for (const alert of alerts) rows.push(...(await alertRows(prometheus.url, alert, firings.get(alert))));
      rows.push(await plantedRow(prometheus.url, drill, firings.get(alerts[0] ?? '')));
      const seconds = Math.round((performance.now() - begun) / 1000);
      print(`${drill}: ${alerts.join(', ')}; ${Math.round(text.length / MIB)} MiB of scrapes, ${seconds} s`);
      return rows;
    } finally {
      await prometheus.stop();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function alertRows(url: string, alert: string, firing: Firing | undefined): Promise<readonly Row[]> {
  if (firing === undefined) return [{ what: `${alert} fires`, expected: 'yes', found: 'no' }];
  const queries = (RUNBOOKS.get(alert)?.blocks ?? []).filter(({ language }) => language === 'promql');
  let answered = 0;
  for (const query of queries) {
    const problem = await problemOf(url, filled(query, firing), firing);
    if (problem === null) answered += 1;
    else print(`${alert}.md line ${query.line}: ${problem}: ${filled(query, firing)}`);
  }
  return [{ what: `${alert}: queries with data`, expected: queries.length, found: answered }];
}

/** A check that could not fail would prove nothing. */
async function plantedRow(url: string, drill: string, firing: Firing | undefined): Promise<Row> {
  const found = firing === undefined ? 'no drill' : await problemOf(url, 'slowburn_no_such_metric', firing);
  return { what: `${drill}: planted`, expected: 'no data', found: found ?? 'data' };
}

const filled = ({ text }: Block, { labels }: Firing): string =>
  fillBlanks(text, 'promql', blankValuesOf(labels))
    .map((part) => (part.kind === 'text' ? part.text : (part.value ?? `{${part.name}}`)))
    .join('');

async function problemOf(url: string, query: string, { readAt }: Firing): Promise<string | null> {
  const body = new URLSearchParams({ query, time: String(readAt / 1000) });
  const answer = (await (await fetch(`${url}/api/v1/query`, { method: 'POST', body })).json()) as {
    readonly status: string;
    readonly error?: string;
    readonly data?: { readonly result: readonly { readonly value?: readonly [number, string] }[] };
  };
  if (answer.status !== 'success') return answer.error ?? answer.status;
  const values = (answer.data?.result ?? []).map(({ value }) => value?.[1] ?? 'NaN');
  if (values.length === 0) return 'no data';
  return values.every((value) => value === 'NaN') ? 'nothing but NaN' : null;
}
