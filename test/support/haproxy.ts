import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { startPeer } from './peer-process.ts';

export interface HaproxyOptions {
  readonly backend: string;
  readonly hostPorts: readonly number[];
  /** Where the statistics and the Prometheus exporter listen: the same over a restart, since a scraper knows it. */
  readonly metricsPort: number;
}

/** One row of HAProxy's own statistics: what its CSV calls `pxname`, `svname` and so on. */
export type HaproxyRow = ReadonlyMap<string, string>;

export interface Haproxy {
  readonly version: string;
  readonly listenerPort: number;
  /** Its own statistics, as it prints them as CSV. */
  rows(): Promise<readonly HaproxyRow[]>;
  stop(): Promise<void>;
}

/** Starts the system's HAProxy (Debian package `haproxy`, or SLOWBURN_TEST_HAPROXY) on free ports of loopback. */
export async function startHaproxy(options: HaproxyOptions): Promise<Haproxy> {
  const directory = await mkdtemp(join(tmpdir(), 'slowburn-haproxy-'));
  const file = join(directory, 'haproxy.cfg');
  const listenerPort = await freePort();
  await writeFile(file, configOf(options, listenerPort));
  const statistics = `http://127.0.0.1:${options.metricsPort}/stats;csv`;
  const read = async (): Promise<readonly HaproxyRow[]> => toRows(await (await fetch(statistics)).text());
  try {
    const peer = await startPeer({
      command: process.env['SLOWBURN_TEST_HAPROXY'] ?? 'haproxy',
      args: ['-f', file, '-db'],
      isReady: async () => (await fetch(statistics)).ok,
    });
    const page = await (await fetch(`http://127.0.0.1:${options.metricsPort}/stats`)).text();
    return {
      version: /HAProxy version ([\d.]+)/.exec(page)?.[1] ?? 'of unknown version',
      listenerPort,
      rows: read,
      async stop() {
        await peer.stop();
        await rm(directory, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

const configOf = ({ backend, hostPorts, metricsPort }: HaproxyOptions, listenerPort: number): string => `defaults
  mode http
  timeout connect 1s
  timeout client 10s
  timeout server 10s
frontend edge
  bind 127.0.0.1:${listenerPort}
  default_backend ${backend}
backend ${backend}
${hostPorts.map((port, index) => `  server host-${index + 1} 127.0.0.1:${port}`).join('\n')}
frontend stats
  bind 127.0.0.1:${metricsPort}
  http-request use-service prometheus-exporter if { path /metrics }
  stats enable
  stats uri /stats
`;

function toRows(csv: string): readonly HaproxyRow[] {
  const [head = '', ...lines] = csv.trim().split('\n');
  const names = head.replace(/^# /, '').split(',');
  return lines.map((line) => {
    const values = line.split(',');
    return new Map(names.map((name, index) => [name, values[index] ?? '']));
  });
}
