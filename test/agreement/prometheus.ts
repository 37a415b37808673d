import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { TOTAL, toRuleFile } from '../../src/generate/prometheus-rules.ts';
import { isAlerting } from '../../src/generate/rule-file.ts';
import type { Slo } from '../../src/slo/slo.ts';
import { freePort } from '../support/free-port.ts';
import { type PeerProcess, startPeer } from '../support/peer-process.ts';
import { CLEAN_MINUTES, MINUTE_MS, MINUTES, T0 } from './history.ts';
import type { Counter } from './samples.ts';
import { emptyTruth, TIERS, type Truth } from './truth.ts';

const run = promisify(execFile);
const START_S = T0 / 1000;
const END_S = START_S + MINUTES * 60;

interface Matrix {
  readonly status: string;
  readonly data: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly values: readonly (readonly [time: number, value: string])[];
    }[];
  };
}

/**
 * Truth of every group as a real Prometheus finds it: raw samples become blocks, promtool evaluates the generated
 * recording rules over them minute by minute, and the generated alert expressions are asked for every minute.
 */
export async function runPrometheus(slo: Slo, counters: readonly Counter[]): Promise<ReadonlyMap<string, Truth>> {
  for (;;) {
    const truth = await runOnce(slo, counters);
    if (truth !== null) return truth;
  }
}

/**
 * Null where promtool happened to evaluate in the last second of each minute: it cuts blocks of two hours off to the
 * second, and leaves out what it would record behind. The moment follows from the name of the directory: another one
 * has another.
 */
async function runOnce(slo: Slo, counters: readonly Counter[]): Promise<ReadonlyMap<string, Truth> | null> {
  const directory = await mkdtemp(join(tmpdir(), 'slowburn-agreement-'));
  try {
    const { groups } = toRuleFile(slo, { engine: 'prometheus', externalUrl: 'http://slowburn' });
    const blocks = join(directory, 'data');
    await mkdir(blocks);
    const samples = join(directory, 'samples.om');
    await writeSamples(samples, counters);
    await run('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', samples, blocks]);
    const rules = join(directory, 'rules.yaml');
    const recordings = groups
      .slice(0, 1)
      .map((group) => ({ ...group, rules: group.rules.filter((rule) => !isAlerting(rule)) }));
    await writeFile(rules, stringify({ groups: recordings }, { lineWidth: 0 }));
    await serving(directory, async (url) => {
      const args = ['--start', String(START_S), '--end', String(END_S + 60), '--eval-interval', '60s', '--url', url];
      await run('promtool', ['tsdb', 'create-blocks-from', 'rules', ...args, '--output-dir', blocks, rules]);
    });
    const alerts = groups.flatMap((group) => group.rules).filter(isAlerting);
    return await serving(directory, async (url) => {
      const offset = await offsetOf(url);
      if (offset >= 59) return null;
      const truth = new Map(counters.map(({ group }) => [group, emptyTruth()] as const));
      for (const [index, { name }] of TIERS.entries()) {
        const alert = alerts.find(({ labels }) => labels['burn_tier'] === name);
        if (alert === undefined) throw new Error(`there is no alert of tier ${name}`);
        await read(url, alert.expr, offset, index, truth);
      }
      return truth;
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function writeSamples(file: string, counters: readonly Counter[]): Promise<void> {
  const out = createWriteStream(file);
  out.write('# TYPE lb_requests counter\n');
  for (const { group, balancer, isBad, values } of counters) {
    const labels = [
      `instance="edge-${balancer}"`,
      `lb_side="upstream"`,
      `lb_upstream_cluster="${group}"`,
      `lb_response_class="${isBad ? '5xx' : '2xx'}"`,
    ].join(',');
    const lines: string[] = [];
    values.forEach((value, minute) => {
      if (!Number.isNaN(value)) lines.push(`lb_requests_total{${labels}} ${value} ${START_S + minute * 60}`);
    });
    if (lines.length > 0) out.write(`${lines.join('\n')}\n`);
  }
  out.end('# EOF\n');
  await finished(out);
}

/** Serves the blocks of `directory`/data while `work` runs, and evaluates a file of rules if there is one. */
export async function serving<T>(directory: string, work: (url: string) => Promise<T>, ruleFile?: string): Promise<T> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const config = join(directory, 'prometheus.yaml');
  await writeFile(config, stringify({ rule_files: ruleFile === undefined ? [] : [ruleFile] }));
  const peer: PeerProcess = await startPeer({
    command: 'prometheus',
    args: [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      '--storage.tsdb.retention.time=100y',
      `--web.listen-address=127.0.0.1:${port}`,
      '--query.max-samples=500000000',
      '--log.level=error',
    ],
    isReady: async () => (await fetch(`${url}/-/ready`)).ok,
    readyWithinMs: 120_000,
  });
  try {
    return await work(url);
  } finally {
    await peer.stop();
  }
}

/**
 * Prometheus evaluates a group at a moment of its own within each minute, records and alerts alike: seconds after the
 * full minute.
 */
async function offsetOf(url: string): Promise<number> {
  const body = new URLSearchParams({ query: `max(timestamp(${TOTAL}))`, time: String(END_S + 60) });
  const answer = await fetch(`${url}/api/v1/query`, { method: 'POST', body });
  const { data } = (await answer.json()) as { data: { result: { value: [number, string] }[] } };
  const recordedAt = Number(data.result[0]?.value[1]);
  if (!Number.isFinite(recordedAt)) throw new Error('promtool recorded nothing');
  return (((recordedAt - START_S) % 60) + 60) % 60;
}

async function read(
  url: string,
  query: string,
  offset: number,
  tier: number,
  truth: ReadonlyMap<string, Truth>,
): Promise<void> {
  const from = START_S + CLEAN_MINUTES * 60 + offset;
  const body = new URLSearchParams({ query, start: String(from), end: String(END_S + offset), step: '60' });
  const answer = await fetch(`${url}/api/v1/query_range`, { method: 'POST', body });
  const { status, data } = (await answer.json()) as Matrix;
  if (status !== 'success') throw new Error(`Prometheus answered ${answer.status}`);
  for (const { metric, values } of data.result) {
    const found = truth.get(metric['lb_upstream_cluster'] ?? '')?.[tier];
    if (found === undefined) throw new Error(`Prometheus found an unknown group ${JSON.stringify(metric)}`);
    for (const [time] of values) found[Math.floor((time * 1000 - T0) / MINUTE_MS)] = 1;
  }
}
