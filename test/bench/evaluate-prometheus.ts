import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { createPrng } from '../../src/base/prng.ts';
import { BAD, TOTAL, toRuleFile } from '../../src/generate/prometheus-rules.ts';
import { isAlerting } from '../../src/generate/rule-file.ts';
import { serving } from '../agreement/prometheus.ts';
import { AGREEMENT_SLO } from '../agreement/slo.ts';
import { medianOf, print } from './rounds.ts';

/** As far as the longest tier looks for a few groups, and as many groups as ours with the history that can be written. */
const CASES = [
  { groups: 250, historyS: 3 * 86_400 + 3600 },
  { groups: 10_000, historyS: 3 * 3600 },
] as const;
const EVALUATIONS = 5;
const INTERVAL_S = 10;
const run = promisify(execFile);
type Case = (typeof CASES)[number];

/** What the generated recording rules would have written of each group, minute by minute up to some minutes ahead. */
async function writeRecordings(file: string, nowS: number, { groups, historyS }: Case): Promise<void> {
  const out = createWriteStream(file);
  const prng = createPrng(1);
  const to = Math.ceil(nowS / 60) * 60 + 600;
  for (const [name, most] of [
    [TOTAL, 6000],
    [BAD, 4],
  ] as const) {
    out.write(`# TYPE ${name} gauge\n`);
    for (let group = 0; group < groups; group += 1) {
      const series = `${name}{slo="${AGREEMENT_SLO.id}",lb_upstream_cluster="c-${group}"}`;
      const lines: string[] = [];
      for (let at = to - historyS; at <= to; at += 60) lines.push(`${series} ${prng.below(most)} ${at}\n`);
      if (!out.write(lines.join(''))) await new Promise<void>((done) => out.once('drain', done));
    }
  }
  out.end('# EOF\n');
  await finished(out);
}

async function evaluationSeconds(url: string): Promise<number> {
  const answer = await fetch(`${url}/api/v1/rules`);
  const { data } = (await answer.json()) as {
    data: { groups: { evaluationTime: number; rules: { lastError?: string }[] }[] };
  };
  const failed = data.groups.flatMap(({ rules }) => rules).find(({ lastError }) => (lastError ?? '') !== '');
  if (failed !== undefined) throw new Error(failed.lastError);
  return data.groups.reduce((sum, { evaluationTime }) => sum + evaluationTime, 0);
}

/**
 * The generated alert rules of one SLO, four tiers without confidence or time to exhaustion, evaluated by a real
 * Prometheus over recordings.
 */
export async function benchPrometheus(): Promise<void> {
  for (const one of CASES) await benchCase(one);
}

async function benchCase(one: Case): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'slowburn-bench-'));
  try {
    const samples = join(directory, 'samples.om');
    await mkdir(join(directory, 'data'));
    await writeRecordings(samples, Date.now() / 1000, one);
    await run('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', samples, join(directory, 'data')]);
    await rm(samples);
    const { groups } = toRuleFile(AGREEMENT_SLO, { engine: 'prometheus', externalUrl: 'http://slowburn' });
    const alerts = groups.map((group) => ({
      ...group,
      interval: `${INTERVAL_S}s`,
      rules: group.rules.filter(isAlerting),
    }));
    const rules = join(directory, 'rules.yaml');
    await writeFile(rules, stringify({ groups: alerts }, { lineWidth: 0 }));
    const { stdout } = await run('prometheus', ['--version']);
    const seconds: number[] = [];
    await serving(
      directory,
      async (url) => {
        while (seconds.length < EVALUATIONS) {
          await sleep(INTERVAL_S * 1000);
          const last = await evaluationSeconds(url);
          if (last > 0) seconds.push(last);
        }
      },
      rules,
    );
    const median = medianOf(seconds);
    print({
      bench: 'evaluate',
      by: stdout.split('\n', 1)[0]?.replace(/ \(.*/, ''),
      groups: one.groups,
      historyHours: Math.floor(one.historyS / 3600),
      rules: alerts.reduce((sum, group) => sum + group.rules.length, 0),
      medianEvaluationMs: Math.round(median * 1000),
      microsecondsPerGroup: Number(((median * 1e6) / one.groups).toFixed(1)),
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
