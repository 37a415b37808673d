import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { messageType } from '../support/otlp-messages.ts';
import { forkBuilt } from './built.ts';
import { KINDS, type Kind, make, PUSH_MS, requestOf, T0 } from './ingest-requests.ts';
import { medianOf, print } from './rounds.ts';

const CHILD = join(import.meta.dirname, 'ingest-server-child.ts');
/** Each with a connection of its own. */
const BALANCERS = 8;
const POINTS_PER_ROUND = 1_000_000;
const ROUNDS = 3;
const HOUR_MS = 3_600_000;

interface Used {
  readonly cpuSeconds: number;
  readonly longestBlockMs: number;
}

/** A server of the bench, its connections, and how far its balancers have got. */
class Server {
  readonly #child: ChildProcess;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: BALANCERS });
  readonly #port: number;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.#port = port;
  }

  static async start(directory: string, log: string): Promise<Server> {
    const child = await forkBuilt(CHILD, [directory, log]);
    const [message] = await once(child, 'message');
    return new Server(child, (message as { port: number }).port);
  }

  async used(): Promise<Used> {
    const answered = once(this.#child, 'message');
    this.#child.send('used');
    const [message] = await answered;
    return message as Used;
  }

  /** Milliseconds until the answer. */
  async post(body: Uint8Array): Promise<number> {
    const from = performance.now();
    const headers = {
      'content-type': 'application/x-protobuf',
      'content-encoding': 'gzip',
      'content-length': body.length,
    };
    const options = { host: '127.0.0.1', port: this.#port, path: '/v1/metrics', method: 'POST', agent: this.#agent };
    const sent = request({ ...options, headers });
    sent.end(body);
    const [answer] = await once(sent, 'response');
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    // A partial success has a body: some points were not counted.
    if (answer.statusCode !== 200 || chunks.length > 0)
      throw new Error(`${answer.statusCode} ${Buffer.concat(chunks)}`);
    return performance.now() - from;
  }

  async stop(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#agent.destroy();
    this.#child.disconnect();
    await exited;
  }
}

/** Puts other bytes for each of a pattern's places. */
function replaced(bytes: Buffer, pattern: Uint8Array, by: Uint8Array): void {
  for (let at = bytes.indexOf(pattern); at >= 0; at = bytes.indexOf(pattern, at + pattern.length)) bytes.set(by, at);
}

function fixed64(at: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(at) * 1_000_000n);
  return bytes;
}

/** Bodies of one round in the order of their pushes; each round is a later run of the same balancers. */
function bodiesOf(plain: readonly Uint8Array[], round: number): Buffer[] {
  const newT0 = Date.now() - 30 * HOUR_MS + round * HOUR_MS;
  return plain.flatMap((bytes, index) => {
    const body = Buffer.from(bytes);
    replaced(body, fixed64(T0), fixed64(newT0));
    replaced(body, fixed64(T0 + (index + 1) * PUSH_MS), fixed64(newT0 + (index + 1) * PUSH_MS));
    const name = body.indexOf('edge-0');
    return make(BALANCERS, (balancer) => {
      body.write(`edge-${balancer}`, name);
      return gzipSync(body, { level: 1 });
    });
  });
}

/** Each balancer as fast as it is answered, but none more than a push ahead of another, as clocks have it in a fleet. */
async function atTopRate(server: Server, bodies: readonly Buffer[]): Promise<number> {
  const from = performance.now();
  let before: Promise<unknown> = Promise.resolve();
  let last: Promise<void>[] = make(BALANCERS, () => Promise.resolve());
  for (let at = 0; at < bodies.length; at += BALANCERS) {
    await before;
    before = Promise.all(last);
    last = last.map(async (own, balancer) => {
      await own;
      await server.post(bodies[at + balancer] as Buffer);
    });
  }
  await Promise.all(last);
  return (performance.now() - from) / 1000;
}

/** At a steady pace; the answer times. */
async function atPace(server: Server, bodies: readonly Buffer[], perSecond: number): Promise<number[]> {
  const from = performance.now();
  const answers: Promise<number>[] = [];
  for (const [index, body] of bodies.entries()) {
    const waitMs = from + (index * 1000) / perSecond - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    // A push follows the balancer's last one.
    const last = answers[index - BALANCERS] ?? Promise.resolve();
    answers.push(last.then(() => server.post(body)));
  }
  return (await Promise.all(answers)).sort((a, b) => a - b);
}

function protobufjsRate(plain: readonly Uint8Array[], points: number): number {
  const type = messageType('ExportMetricsServiceRequest');
  const from = performance.now();
  let done = 0;
  for (; performance.now() - from < 500; done += 1) type.decode(plain[done % plain.length] as Uint8Array);
  return (done * points * 1000) / (performance.now() - from);
}

async function benchOne(kind: Kind, points: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'slowburn-bench-'));
  const logs = ['disk', 'memory'] as const;
  const servers = new Map<(typeof logs)[number], Server>();
  for (const log of logs) servers.set(log, await Server.start(join(directory, log), log));
  const pushes = Math.min(Math.ceil(POINTS_PER_ROUND / points / BALANCERS), 120);
  const plain = make(pushes, (index) => requestOf({ kind, points, push: index + 1, balancer: 'edge-0' }));
  const rates = new Map(logs.map((log) => [log, { perSecond: [] as number[], perCpuSecond: [] as number[] }]));
  const library: number[] = [];
  let bytes = 0;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const bodies = bodiesOf(plain, round);
    bytes = bodies.reduce((sum, { length }) => sum + length, 0) / bodies.length / points;
    library.push(protobufjsRate(plain, points));
    for (const [log, server] of servers) {
      await server.used();
      const seconds = await atTopRate(server, bodies);
      const { cpuSeconds } = await server.used();
      // The first round makes the series and warms up.
      if (round === 0) continue;
      rates.get(log)?.perSecond.push((bodies.length * points) / seconds);
      rates.get(log)?.perCpuSecond.push((bodies.length * points) / cpuSeconds);
    }
  }
  const half = bodiesOf(plain, ROUNDS + 1);
  for (const [log, server] of servers) {
    const { perSecond, perCpuSecond } = rates.get(log) ?? { perSecond: [], perCpuSecond: [] };
    const top = medianOf(perSecond);
    await server.used();
    const answers = await atPace(server, half, top / points / 2);
    const { longestBlockMs } = await server.used();
    print({
      bench: 'server',
      kind,
      pointsPerRequest: points,
      log,
      pointsPerSecond: Math.round(top),
      gzipBytesPerSecond: Math.round(top * bytes),
      pointsPerCpuSecond: Math.round(medianOf(perCpuSecond)),
      protobufjsDecode: Math.round(medianOf(library)),
      atHalfRate: {
        p50Ms: round1(answers[answers.length >> 1]),
        p99Ms: round1(answers[Math.floor(answers.length * 0.99)]),
        longestBlockMs: round1(longestBlockMs),
      },
    });
  }
  for (const server of servers.values()) await server.stop();
  rmSync(directory, { recursive: true, force: true });
}

const round1 = (value = Number.NaN): number => Number(value.toFixed(1));

/** The whole server over loopback with gzip, with its log on disk and without a log, in turns. */
export async function benchServer(): Promise<void> {
  for (const kind of KINDS) for (const points of [1400, 8192]) await benchOne(kind, points);
}
