import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { sumOf } from './go-metrics.ts';
import { spawnPeer } from './peer-process.ts';
import { pythonPeer } from './python-peer.ts';
import { blockOf } from './setup-page.ts';

const START_MS_MAX = 20_000;

const caddyBinary = (): Promise<string> =>
  pythonPeer({ package: 'caddyserver', version: '2.11.7', binary: 'bin/caddy', override: 'SLOWBURN_TEST_CADDY' });

export interface CaddyOptions {
  readonly hostPorts: readonly number[];
  readonly otlpHttpPort: number;
  readonly identity: string;
}

/** A running Caddy with the configuration of docs/balancers/caddy.md; its site is called `localhost`. */
export interface Caddy {
  readonly listenerPort: number;
  /** Its own counters, from the Prometheus text of its admin interface. */
  counter(name: string, labels: Readonly<Record<string, string>>): Promise<number>;
  stop(): Promise<void>;
}

/** Starts Caddy on free ports of loopback and waits until its hosts are healthy. */
export async function startCaddy({ hostPorts, otlpHttpPort, identity }: CaddyOptions): Promise<Caddy> {
  const binary = await caddyBinary();
  const [listenerPort, adminPort] = [await freePort(), await freePort()];
  const directory = await mkdtemp(join(tmpdir(), 'slowburn-caddy-'));
  const file = join(directory, 'Caddyfile');
  const upstreams = hostPorts.map((port) => `127.0.0.1:${port}`).join(' ');
  const text = blockOf('caddy', 'caddy')
    .replace('{\n', `{\n\tadmin 127.0.0.1:${adminPort}\n`)
    .replace('example.com', `http://localhost:${listenerPort}`)
    .replace(/(reverse_proxy) [\d.: ]+/, `$1 ${upstreams} `)
    .replace('health_interval 10s', 'health_interval 1s');
  await writeFile(file, text);
  const peer = spawnPeer(binary, ['run', '--config', file], {
    ...environment({ otlpHttpPort, identity }),
    XDG_DATA_HOME: directory,
    XDG_CONFIG_HOME: directory,
  });
  const stop = async (): Promise<void> => {
    await peer.stop();
    await rm(directory, { recursive: true, force: true });
  };
  const admin = `http://127.0.0.1:${adminPort}`;
  const scrape = async (): Promise<string> => (await fetch(`${admin}/metrics`, { headers: { origin: admin } })).text();
  const until = Date.now() + START_MS_MAX;
  while (sumOf(await scrape().catch(() => ''), 'caddy_reverse_proxy_upstreams_healthy') < hostPorts.length) {
    if (peer.hasEnded() || Date.now() > until) {
      await stop();
      throw new Error(`Caddy did not serve its hosts within ${START_MS_MAX} ms:\n${peer.log()}`);
    }
    await sleep(100);
  }
  return { listenerPort, counter: async (name, labels) => sumOf(await scrape(), name, labels), stop };
}

/** The page's environment, with a push every second. */
function environment({ otlpHttpPort, identity }: Omit<CaddyOptions, 'hostPorts'>): Record<string, string> {
  const text = blockOf('caddy', 'caddy-environment')
    .replace(':4318', `:${otlpHttpPort}`)
    .replace('INTERVAL=10000', 'INTERVAL=1000')
    .replace('edge-1', identity);
  const pairs = text
    .trim()
    .split('\n')
    .map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)] as const;
    });
  return Object.fromEntries(pairs);
}
