import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');
const START_MS_MAX = 30_000;

export interface Ports {
  readonly http: number;
  readonly otlpHttp: number;
  readonly otlpGrpc: number;
}

/** A directory with a configuration, rules and data, in which `serve` can be started, killed and started again. */
export class ServiceDirectory {
  readonly path = mkdtempSync(join(tmpdir(), 'slowburn-live-'));

  constructor(options: { readonly rules: Readonly<Record<string, string>>; readonly config?: string }) {
    for (const [name, text] of Object.entries(options.rules)) this.write(join('rules', name), text);
    const listen = '{ http: 127.0.0.1:0, otlpHttp: 127.0.0.1:0, otlpGrpc: 127.0.0.1:0 }';
    this.write('slowburn.yaml', `listen: ${listen}\nrules: ./rules\ndata: ./data\n${options.config ?? ''}`);
  }

  write(name: string, text: string): void {
    const file = join(this.path, name);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, text);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  spawn(): ChildProcess {
    const args = [MAIN, 'serve', '--print-ports', '--config', join(this.path, 'slowburn.yaml')];
    return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: this.path });
  }

  /** Starts the service and waits until it says its ports. */
  async start(): Promise<LiveService> {
    const child = this.spawn();
    const service = new LiveService(child);
    await service.ready();
    return service;
  }
}

export class LiveService {
  readonly child: ChildProcess;
  stderr = '';
  #ports: Ports | null = null;

  constructor(child: ChildProcess) {
    this.child = child;
    child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
  }

  get ports(): Ports {
    if (this.#ports === null) throw new Error('the service is not ready');
    return this.#ports;
  }

  async ready(): Promise<void> {
    const { stdout } = this.child;
    if (stdout === null) throw new Error('no stdout');
    const lines = createInterface({ input: stdout });
    const exited = once(this.child, 'exit').then(([code]) => {
      throw new Error(`the service ended with ${String(code)}:\n${this.stderr}`);
    });
    const line = await Promise.race([once(lines, 'line', { signal: AbortSignal.timeout(START_MS_MAX) }), exited]);
    exited.catch(() => undefined);
    this.#ports = JSON.parse(String(line[0])) as Ports;
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.ports.http}${path}`;
  }

  async json<T>(path: string): Promise<T> {
    const answer = await fetch(this.url(path));
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  /** POSTs an OTLP body; JSON unless another content type is given. */
  push(body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.ports.otlpHttp}/v1/metrics`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: body as string,
    });
  }

  async kill(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }

  async stop(): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    const exited = once(this.child, 'exit') as Promise<[number | null]>;
    this.child.kill('SIGTERM');
    const [code] = await exited;
    return code;
  }
}

/** Waits until `probe` gives something other than null or undefined, at most `forMs`. */
export async function eventually<T>(
  what: string,
  forMs: number,
  probe: () => Promise<T | null | undefined>,
): Promise<T> {
  const end = Date.now() + forMs;
  for (;;) {
    const found = await probe();
    if (found !== null && found !== undefined) return found;
    if (Date.now() > end) throw new Error(`${what} did not happen within ${forMs} ms`);
    await sleep(250);
  }
}

export interface Hook {
  readonly url: string;
  /** Bodies received, in order. */
  readonly bodies: Readonly<Record<string, unknown>>[];
  close(): Promise<void>;
}

/** A webhook receiver on a free port of loopback. `answer` decides the status of each call. */
export async function startHook(answer: (call: number) => number = () => 200): Promise<Hook> {
  const bodies: Record<string, unknown>[] = [];
  let calls = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      calls += 1;
      const status = answer(calls);
      if (status < 300) bodies.push(JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>);
      response.writeHead(status).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${port}/hook`, bodies, close };
}

/** Cumulative counters of one balancer, pushed as one OTLP/JSON request per call. */
export class Pusher {
  readonly #startMs: number;
  readonly #instance: string;
  readonly #side: string;
  readonly #totals = new Map<string, number>();

  constructor(options: { readonly startMs?: number; readonly instance?: string; readonly side?: string } = {}) {
    this.#startMs = options.startMs ?? Date.now();
    this.#instance = options.instance ?? 'edge-1';
    this.#side = options.side ?? 'downstream';
  }

  body(increments: Readonly<Record<string, number>>, cluster = 'checkout', at = Date.now()): string {
    for (const [name, by] of Object.entries(increments)) this.#totals.set(name, (this.#totals.get(name) ?? 0) + by);
    const attribute = (key: string, value: string) => ({ key, value: { stringValue: value } });
    const dataPoints = [...this.#totals].map(([name, total]) => ({
      startTimeUnixNano: `${this.#startMs}000000`,
      timeUnixNano: `${at}000000`,
      asInt: String(total),
      attributes: [
        attribute('lb.side', this.#side),
        attribute('lb.upstream.cluster', cluster),
        attribute('lb.response.class', name),
      ],
    }));
    const sum = { aggregationTemporality: 2, isMonotonic: true, dataPoints };
    const resource = { attributes: [attribute('service.instance.id', this.#instance)] };
    return JSON.stringify({
      resourceMetrics: [{ resource, scopeMetrics: [{ metrics: [{ name: 'lb.requests', sum }] }] }],
    });
  }
}
