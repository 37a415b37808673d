import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { lastingPort } from './free-port.ts';
import { type PeerProcess, startPeer } from './peer-process.ts';

export interface PrometheusOptions {
  /** For its configuration and its data. */
  readonly directory: string;
  readonly target: string;
  readonly ruleFile: string;
  /** host:port that it takes for its Alertmanager. */
  readonly alertmanager: string;
}

/** The system's Prometheus (Debian package `prometheus`): it scrapes, evaluates rules and tells of alerts. */
export interface Prometheus {
  readonly version: string;
  readonly url: string;
  /** Its own figure of that name, over all labels. */
  figure(name: string): Promise<number>;
  start(): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export const startPrometheus = (options: PrometheusOptions): Promise<Prometheus> =>
  startWith(options.directory, configOf(options));

/** One that only scrapes these paths of a target, each as a job of its own, every `intervalS` seconds. */
export const startScraper = (
  directory: string,
  target: string,
  jobs: Readonly<Record<string, string>>,
  intervalS: number,
): Promise<Prometheus> =>
  startWith(directory, {
    global: { scrape_interval: `${intervalS}s` },
    scrape_configs: Object.entries(jobs).map(([name, path]) => ({
      job_name: name,
      metrics_path: path,
      static_configs: [{ targets: [target] }],
    })),
  });

/** One over the blocks that lie in `directory/prometheus`, however old; it scrapes nothing. */
export const startOverBlocks = (directory: string): Promise<Prometheus> =>
  startWith(directory, {}, ['--storage.tsdb.retention.time=100y']);

async function startWith(directory: string, content: object, more: readonly string[] = []): Promise<Prometheus> {
  const config = join(directory, 'prometheus.yaml');
  await writeFile(config, stringify(content));
  const port = await lastingPort();
  const url = `http://127.0.0.1:${port}`;
  let peer: PeerProcess | null = null;
  let version = '';
  const prometheus: Prometheus = {
    url,
    get version() {
      return version;
    },
    async figure(name) {
      const text = await (await fetch(`${url}/metrics`)).text();
      const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
      return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
    },
    async start() {
      peer = await startPeer({
        command: 'prometheus',
        args: [
          `--config.file=${config}`,
          `--storage.tsdb.path=${join(directory, 'prometheus')}`,
          `--web.listen-address=127.0.0.1:${port}`,
          '--log.level=warn',
          ...more,
        ],
        isReady: async () => (await fetch(`${url}/-/ready`)).ok,
        readyWithinMs: 60_000,
      });
      const { data } = (await (await fetch(`${url}/api/v1/status/buildinfo`)).json()) as { data: { version: string } };
      version = data.version;
    },
    async stop(signal) {
      await peer?.stop(signal);
    },
  };
  await prometheus.start();
  return prometheus;
}

const configOf = ({ target, ruleFile, alertmanager }: PrometheusOptions) => ({
  global: { scrape_interval: '5s', external_labels: { replica: 'p0' } },
  rule_files: [ruleFile],
  scrape_configs: [{ job_name: 'edge', static_configs: [{ targets: [target] }] }],
  alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] },
});
