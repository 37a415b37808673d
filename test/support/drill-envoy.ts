import { execFile } from 'node:child_process';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ClusterSpec } from '../../src/sim/fleet-spec.ts';
import { type Bootstrap, type Cluster, type Envoy, type Listening, loopback, served, startEnvoy } from './envoy.ts';

const LEAST_REQUEST = 'envoy.load_balancing_policies.least_request';
const LEAST_REQUEST_TYPE = 'type.googleapis.com/envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest';
const LISTENER_TYPE = 'type.googleapis.com/envoy.config.listener.v3.Listener';
const TLS_TYPE = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext';

export interface DrillEnvoyOptions {
  /** Simulated clusters, whose settings the real ones get, and the hosts of each. */
  readonly clusters: readonly { readonly spec: ClusterSpec; readonly ports: readonly number[] }[];
  readonly otlpGrpcPort: number;
  readonly identity: string;
  /** Set: clients come by TLS, to a listener whose configuration is read from a file. */
  readonly tlsPort: number | null;
}

/** An Envoy set up as a simulated fleet is. */
export interface DrillEnvoy {
  readonly envoy: Envoy;
  /** Writes the listener anew, without or with session tickets; the running Envoy reads it. */
  setTickets(enabled: boolean): Promise<void>;
}

/** The path that leads to a cluster. */
export const pathOf = ({ name }: ClusterSpec): string => `/${name}/`;

/**
 * The bootstrap of docs/balancers/envoy.md with the flush interval that it has there, and the clusters, policies, checks
 * and ejection of the simulated fleet.
 */
export async function startDrillEnvoy(options: DrillEnvoyOptions): Promise<DrillEnvoy> {
  const { clusters, otlpGrpcPort, identity, tlsPort } = options;
  let setTickets: DrillEnvoy['setTickets'] = async () => undefined;
  const envoy = await startEnvoy({
    cluster: 'checkout',
    hostPorts: [],
    otlpGrpcPort,
    identity,
    async shape(bootstrap, directory) {
      bootstrap.stats_flush_interval = '10s';
      replaceClusters(bootstrap, clusters);
      routesOf(bootstrap.static_resources.listeners[0] as Listener).splice(
        0,
        1,
        ...clusters.map(({ spec }) => ({
          match: { prefix: pathOf(spec) },
          route: { cluster: spec.name, timeout: '15s' },
        })),
      );
      if (tlsPort !== null) setTickets = await toFileListener(bootstrap, directory, tlsPort);
    },
  });
  return { envoy, setTickets };
}

interface Listener extends Listening {
  readonly filter_chains: {
    readonly filters: { typed_config: { route_config: { virtual_hosts: { routes: object[] }[] } } }[];
    transport_socket?: object;
  }[];
}

function routesOf({ filter_chains: [chain] }: Listener): object[] {
  const routes = chain?.filters[0]?.typed_config.route_config.virtual_hosts[0]?.routes;
  if (routes === undefined) throw new Error('the page has a listener without routes');
  return routes;
}

function replaceClusters(bootstrap: Bootstrap, clusters: DrillEnvoyOptions['clusters']): void {
  const all = bootstrap.static_resources.clusters;
  const at = all.findIndex(({ name }) => name === 'checkout');
  const [page] = all.splice(at, 1);
  if (page === undefined) throw new Error('the page has no cluster checkout');
  for (const { spec, ports } of clusters) all.push(clusterOf(page, spec, ports));
}

function clusterOf(page: Cluster, spec: ClusterSpec, ports: readonly number[]): Cluster {
  const cluster = structuredClone(page);
  cluster.name = spec.name;
  cluster.load_assignment.cluster_name = spec.name;
  served(cluster, ports);
  cluster['common_lb_config'] = { healthy_panic_threshold: { value: spec.panicBelow * 100 } };
  if (spec.policy === 'least-connections') cluster['load_balancing_policy'] = leastRequest('FULL_SCAN');
  if (spec.policy === 'two-choices') cluster['load_balancing_policy'] = leastRequest('N_CHOICES');
  if (spec.checks !== null) cluster['health_checks'] = [checkOf(spec, spec.checks)];
  // What ejects is the page's own, where the simulated cluster ejects at all.
  if (spec.outliers === null) delete cluster.outlier_detection;
  else cluster.outlier_detection = configuredOutliers(page);
  return cluster;
}

const leastRequest = (selection: string): object => ({
  policies: [
    {
      typed_extension_config: {
        name: LEAST_REQUEST,
        typed_config: { '@type': LEAST_REQUEST_TYPE, selection_method: selection },
      },
    },
  ],
});

const seconds = (ms: number): string => `${ms / 1000}s`;

const checkOf = ({ checkTimeoutMs }: ClusterSpec, checks: NonNullable<ClusterSpec['checks']>): object => ({
  timeout: seconds(checkTimeoutMs),
  interval: seconds(checks.intervalMs),
  no_traffic_interval: seconds(checks.intervalMs),
  unhealthy_threshold: checks.failuresToDown,
  healthy_threshold: checks.passesToUp,
  http_health_check: { path: '/healthz' },
});

/** `bootstrapOf` of envoy.ts ejects for seconds only, for other checks. */
const configuredOutliers = (page: Cluster): object => ({
  ...page.outlier_detection,
  interval: '10s',
  base_ejection_time: '30s',
  max_ejection_time: '300s',
});

/** Moves the listener into a file that Envoy watches, behind TLS. */
async function toFileListener(
  bootstrap: Bootstrap,
  directory: string,
  port: number,
): Promise<DrillEnvoy['setTickets']> {
  const [listener] = bootstrap.static_resources.listeners.splice(0, 1) as Listener[];
  if (listener === undefined) throw new Error('the page has no listener');
  const file = join(directory, 'listeners.json');
  const certificate = await selfSigned(directory);
  listener.address = loopback(port);
  bootstrap.node = { id: 'edge', cluster: 'edge' };
  bootstrap.dynamic_resources = {
    lds_config: {
      resource_api_version: 'V3',
      path_config_source: { path: file, watched_directory: { path: directory } },
    },
  };
  const setTickets = async (enabled: boolean): Promise<void> => {
    const [chain] = listener.filter_chains;
    if (chain === undefined) throw new Error('the page has a listener without a filter chain');
    chain.transport_socket = {
      name: 'envoy.transport_sockets.tls',
      typed_config: {
        '@type': TLS_TYPE,
        disable_stateless_session_resumption: !enabled,
        common_tls_context: { tls_certificates: [certificate] },
      },
    };
    // Envoy reads what is moved into the folder, not what is written there.
    await writeFile(`${file}.new`, JSON.stringify({ resources: [{ '@type': LISTENER_TYPE, ...listener }] }));
    await rename(`${file}.new`, file);
  };
  await setTickets(true);
  return setTickets;
}

/** A key and a certificate for it, made by openssl. */
async function selfSigned(directory: string): Promise<object> {
  const [key, certificate] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')];
  const made = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '90'];
  await promisify(execFile)('openssl', ['req', ...made, '-subj', '/CN=localhost', '-keyout', key, '-out', certificate]);
  return {
    certificate_chain: { inline_string: await readFile(certificate, 'utf8') },
    private_key: { inline_string: await readFile(key, 'utf8') },
  };
}
