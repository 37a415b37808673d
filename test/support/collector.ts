import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from './free-port.ts';
import { type PeerProcess, startPeer } from './peer-process.ts';

const VERSION = '0.165.0';
const CORE = 'go.opentelemetry.io/collector';
const CONTRIB = 'github.com/open-telemetry/opentelemetry-collector-contrib';
const HOME = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'slowburn-peers', `otelcol-${VERSION}`);

const gomod = (module: string): { readonly gomod: string } => ({ gomod: `${module} v${VERSION}` });
/** What the Collector's own builder is asked for. */
const MANIFEST = {
  dist: { name: 'otelcol', description: 'the parts that slowburn is tested with', output_path: './build' },
  receivers: [gomod(`${CORE}/receiver/otlpreceiver`), gomod(`${CONTRIB}/receiver/prometheusreceiver`)],
  processors: [gomod(`${CORE}/processor/batchprocessor`), gomod(`${CONTRIB}/processor/cumulativetodeltaprocessor`)],
  exporters: [gomod(`${CORE}/exporter/otlpexporter`), gomod(`${CORE}/exporter/otlphttpexporter`)],
};

/**
 * Path of an OpenTelemetry Collector, built from its Go modules at the first call: that takes Go and some twenty
 * minutes on two cores. `SLOWBURN_TEST_COLLECTOR` names another one.
 */
export async function collectorBinary(): Promise<string> {
  const given = process.env['SLOWBURN_TEST_COLLECTOR'];
  if (given !== undefined && given !== '') return given;
  const binary = join(HOME, 'otelcol');
  if (existsSync(binary)) return binary;
  process.stdout.write(`building the OpenTelemetry Collector ${VERSION} in ${HOME}; this takes a while\n`);
  await mkdir(HOME, { recursive: true });
  await writeFile(join(HOME, 'builder.yaml'), stringify(MANIFEST));
  await call('go', ['install', `${CORE}/cmd/builder@v${VERSION}`], { GOBIN: join(HOME, 'bin') });
  await call(join(HOME, 'bin', 'builder'), ['--config', 'builder.yaml'], { CGO_ENABLED: '0' });
  await rename(join(HOME, 'build', 'otelcol'), binary);
  return binary;
}

async function call(command: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  const child = spawn(command, args, { cwd: HOME, stdio: 'inherit', env: { ...process.env, ...env } });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`);
}

/** What the Collector itself says against a configuration; empty when it takes it. */
export async function collectorRefusal(config: string): Promise<string> {
  const binary = await collectorBinary();
  const directory = await mkdtemp(join(tmpdir(), 'slowburn-otelcol-'));
  try {
    const file = join(directory, 'config.yaml');
    await writeFile(file, config);
    const child = spawn(binary, ['validate', '--config', file], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk));
    const [code] = (await once(child, 'close')) as [number | null];
    return code === 0 ? '' : `${code}: ${said}`;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export interface Collector extends PeerProcess {
  /** Where it takes OTLP over gRPC. */
  readonly otlpGrpcPort: number;
}

/** Starts a Collector with an OTLP receiver, named `otlp`, and the given parts. */
export async function startCollector(parts: {
  readonly receivers?: Readonly<Record<string, unknown>>;
  readonly processors?: Readonly<Record<string, unknown>>;
  readonly exporters: Readonly<Record<string, unknown>>;
  readonly pipelines: Readonly<Record<string, unknown>>;
}): Promise<Collector> {
  const binary = await collectorBinary();
  const directory = await mkdtemp(join(tmpdir(), 'slowburn-otelcol-'));
  const otlpGrpcPort = await freePort();
  const config = {
    receivers: { otlp: { protocols: { grpc: { endpoint: `127.0.0.1:${otlpGrpcPort}` } } }, ...parts.receivers },
    processors: parts.processors ?? {},
    exporters: parts.exporters,
    service: { telemetry: { metrics: { level: 'none' } }, pipelines: parts.pipelines },
  };
  const file = join(directory, 'config.yaml');
  await writeFile(file, stringify(config));
  try {
    const peer = await startPeer({
      command: binary,
      args: ['--config', file],
      isReady: async (log) => log.includes('Everything is ready'),
    });
    const stop = async (signal?: NodeJS.Signals): Promise<void> => {
      await peer.stop(signal);
      await rm(directory, { recursive: true, force: true });
    };
    return { ...peer, otlpGrpcPort, stop };
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}
