import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { lastingPort } from './free-port.ts';
import { type PeerProcess, startPeer } from './peer-process.ts';

/** A single VictoriaMetrics (Debian package `victoria-metrics`) that scrapes one target. */
export interface VictoriaMetrics {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startVictoriaMetrics(directory: string, target: string): Promise<VictoriaMetrics> {
  const scrape = join(directory, 'scrape.yaml');
  const job = { job_name: 'edge', scrape_interval: '5s', static_configs: [{ targets: [target] }] };
  await writeFile(scrape, stringify({ scrape_configs: [job] }));
  const port = await lastingPort();
  const url = `http://127.0.0.1:${port}`;
  const peer = await startPeer({
    command: 'victoria-metrics',
    args: [
      `-httpListenAddr=127.0.0.1:${port}`,
      `-storageDataPath=${join(directory, 'victoria')}`,
      `-promscrape.config=${scrape}`,
      // Both of a pair record the same samples at the same times.
      '-dedup.minScrapeInterval=1s',
      '-memory.allowedPercent=5',
    ],
    isReady: async () => (await fetch(`${url}/health`)).ok,
  });
  return { url, stop: () => peer.stop() };
}

export interface VmalertOptions {
  readonly directory: string;
  readonly victoria: string;
  readonly ruleFile: string;
  /** host:port of all that it takes for Alertmanagers. */
  readonly alertmanagers: readonly string[];
  /** Which of a pair it is: label `replica` of the alerts that it sends. */
  readonly replica: string;
}

/** A vmalert that reads from and records to one VictoriaMetrics; it finds its alerts there when it starts again. */
export interface Vmalert {
  start(): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export async function startVmalert(options: VmalertOptions): Promise<Vmalert> {
  const { directory, victoria, ruleFile, replica } = options;
  const notifiers = join(directory, `notifiers-${replica}.yaml`);
  await writeFile(
    notifiers,
    stringify({
      static_configs: [{ targets: options.alertmanagers }],
      // A label of the sender's, not of the series that it records: those must be the same for both.
      alert_relabel_configs: [{ target_label: 'replica', replacement: replica }],
    }),
  );
  const port = await lastingPort();
  let peer: PeerProcess | null = null;
  const vmalert: Vmalert = {
    async start() {
      peer = await startPeer({
        command: 'vmalert',
        args: [
          `-httpListenAddr=127.0.0.1:${port}`,
          `-rule=${ruleFile}`,
          `-datasource.url=${victoria}`,
          `-remoteWrite.url=${victoria}`,
          `-remoteRead.url=${victoria}`,
          `-notifier.config=${notifiers}`,
        ],
        isReady: async () => (await fetch(`http://127.0.0.1:${port}/health`)).ok,
      });
    },
    async stop(signal) {
      await peer?.stop(signal);
    },
  };
  await vmalert.start();
  return vmalert;
}
