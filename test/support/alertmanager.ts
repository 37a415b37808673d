import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { lastingPort } from './free-port.ts';
import { type PeerProcess, startPeer } from './peer-process.ts';

const run = promisify(execFile);

export interface AlertmanagerOptions {
  /** For its configuration and what it keeps. */
  readonly directory: string;
  /** Where its webhook goes. */
  readonly hookUrl: string;
  /** After this time it ends an alert whose sender named no end, in Prometheus' notation. */
  readonly resolveTimeout: string;
}

/** The system's Alertmanager (Debian package `prometheus-alertmanager`) on a free port, each alert a group. */
export interface Alertmanager {
  readonly url: string;
  readonly version: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export async function startAlertmanager(options: AlertmanagerOptions): Promise<Alertmanager> {
  const config = join(options.directory, 'alertmanager.yaml');
  await writeFile(config, stringify(configOf(options)));
  const port = await lastingPort();
  const url = `http://127.0.0.1:${port}`;
  let peer: PeerProcess | null = null;
  let version = '';
  const alertmanager: Alertmanager = {
    url,
    get version() {
      return version;
    },
    async start() {
      peer = await startPeer({
        command: 'prometheus-alertmanager',
        args: [
          `--config.file=${config}`,
          `--storage.path=${join(options.directory, 'alertmanager')}`,
          `--web.listen-address=127.0.0.1:${port}`,
          '--cluster.listen-address=',
        ],
        isReady: async () => (await fetch(`${url}/-/ready`)).ok,
      });
      const status = (await (await fetch(`${url}/api/v2/status`)).json()) as { versionInfo: { version: string } };
      version = status.versionInfo.version;
    },
    async stop() {
      await peer?.stop();
    },
  };
  await alertmanager.start();
  return alertmanager;
}

const configOf = ({ hookUrl, resolveTimeout }: AlertmanagerOptions) => ({
  global: { resolve_timeout: resolveTimeout },
  route: { receiver: 'hook', group_by: ['...'], group_wait: '1s', group_interval: '5s', repeat_interval: '4h' },
  receivers: [{ name: 'hook', webhook_configs: [{ url: hookUrl, send_resolved: true }] }],
});

/** What amtool writes to stdout when it speaks to `url`. Throws with its output when it fails. */
export async function amtool(url: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run('amtool', [`--alertmanager.url=${url}`, ...args]);
  return stdout.trim();
}

/** The same, of a command that can write JSON. */
export const amtoolJson = async <T>(url: string, ...args: readonly string[]): Promise<T> =>
  JSON.parse(await amtool(url, '--output=json', ...args)) as T;
