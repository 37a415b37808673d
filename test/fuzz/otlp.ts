import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPrng, type Prng } from '../../src/base/prng.ts';
import { compareDecoders } from '../support/fuzz-agreement.ts';
import { type FuzzBody, randomBody } from '../support/fuzz-bodies.ts';
import { type HeavyBody, heavyBodies, newSeriesBodies } from '../support/fuzz-heavy.ts';
import { FuzzSenders } from '../support/fuzz-senders.ts';
import { type LiveService, ServiceDirectory } from '../support/live-service.ts';
import { availabilitySlo } from '../support/replay-file.ts';

const BLOCK_MS_MAX = 50;
/** The monitor fires every 10 ms; what it reports above that is delay. */
const MONITOR_MS = 10;
const TRIES = 5;
const LANES = 4;
const RANDOM_PER_ROUND = 400;
/** One body of 64 MiB: wire, inflated, copy for the thread, 2^21 rows of 150 bytes; and as much again until it is freed. */
const RSS_MIB_MAX = 1536;
const WHOLE_MS_MAX = 500;
const RULES = { 'slos/checkout.yaml': availabilitySlo('workbook').replaceAll('downstream', 'upstream') };
const MIB = 1024 * 1024;

type AnyBody = FuzzBody | HeavyBody;

/**
 * Sends mutated and made-up bodies to a service of its own until the time is over, and judges: every body is answered as
 * documented and as our decoder in this process says, what is accepted reads as protobufjs reads it, the event loop of
 * the service is never blocked for more than 50 ms, its memory stays below a bound, and it lives.
 *
 * How long the loop was blocked is what the service measures itself (nodejs_eventloop_delay_max of /metrics/runtime, read
 * after each lot) less the monitor's own 10 ms, times the share of its ready time for which the system let it run (from
 * /proc; 1 elsewhere), so that a machine with more to do than cores does not pass for a block of ours. One reading above the limit may be a machine that is busy with
 * something else: it counts when each of five tries of the same bodies shows it again. Readings that did not show again
 * are counted, and the largest is printed.
 */
export async function run({ seconds, seed }: { seconds: number; seed: number }): Promise<boolean> {
  const directory = new ServiceDirectory({ rules: RULES });
  const service = await directory.start();
  const fuzz = new Fuzz(service, createPrng(seed));
  try {
    await fuzz.warmUp();
    const end = performance.now() + seconds * 1000;
    for (let round = 0; round === 0 || performance.now() < end; round += 1) await fuzz.round(round, end);
    await fuzz.wholeBody();
    return await fuzz.report();
  } finally {
    fuzz.close();
    const code = await service.stop();
    process.stdout.write(`the service ended with ${code}\n`);
    directory.remove();
  }
}

class Fuzz {
  readonly #service: LiveService;
  readonly #prng: Prng;
  readonly #senders: FuzzSenders;
  readonly #heavy = heavyBodies(Date.now());
  readonly #failures: string[] = [];
  readonly #counts = new Map<string, number>();
  #files: string | null = null;
  #blockMs = 0;
  #blockedBy = '';
  #rawBlockMs = 0;
  #unconfirmed = 0;
  #rssAtStart = 0;
  #rssMax = 0;
  #lastScheduled: readonly [number, number] = [0, 0];

  constructor(service: LiveService, prng: Prng) {
    this.#service = service;
    this.#prng = prng;
    this.#senders = new FuzzSenders(service.ports);
  }

  /** Code that has not run yet is slow; what a service does in its first second is not the question. */
  async warmUp(): Promise<void> {
    for (let index = 0; index < 300; index += 1) await this.#send(randomBody(this.#prng, Date.now()));
    for (const body of newSeriesBodies(Date.now(), -1)) await this.#send(body);
    await this.#readBlockMs();
    this.#rssAtStart = this.#rss();
  }

  async round(round: number, end: number): Promise<void> {
    for (const body of [...newSeriesBodies(Date.now(), round), ...this.#heavy]) {
      if (round > 0 && performance.now() > end) return;
      await this.#sendMeasured([body]);
    }
    for (let sent = 0; sent < RANDOM_PER_ROUND && (round === 0 || performance.now() < end); sent += 4 * LANES) {
      await this.#sendMeasured(Array.from({ length: 4 * LANES }, () => randomBody(this.#prng, Date.now())));
    }
  }

  /** 64 MiB as received, plain: apart, since reading and keeping so much is work of its own. */
  async wholeBody(): Promise<void> {
    // Fields that nobody knows: a tag of two bytes and a number.
    const wire = Buffer.alloc(64 * MIB - ((64 * MIB) % 3), Buffer.of(0xc0, 0x3e, 0x01));
    await this.#send({ name: '64 MiB plain', encoding: 'protobuf', isGzip: false, wire, statuses: [200, 400] });
    const { blockMs } = await this.#readBlockMs();
    process.stdout.write(`64 MiB plain: loop blocked ${blockMs.toFixed(0)} ms (bound ${WHOLE_MS_MAX})\n`);
    if (blockMs > WHOLE_MS_MAX) this.#failures.push(`64 MiB plain blocked the loop for ${blockMs.toFixed(0)} ms`);
  }

  async report(): Promise<boolean> {
    const { child } = this.#service;
    if (child.exitCode !== null || child.signalCode !== null) this.#failures.push(`it died:\n${this.#service.stderr}`);
    if (/"level":(50|60)/.test(this.#service.stderr)) this.#failures.push(`it logged errors:\n${this.#service.stderr}`);
    if (this.#rssMax > RSS_MIB_MAX) this.#failures.push(`it took ${this.#rssMax} MiB`);
    const counts = Object.fromEntries([...this.#counts].sort());
    const memory = { rssMibAtStart: this.#rssAtStart, rssMibAtEnd: this.#rss(), rssMibMost: this.#rssMax };
    const loop = {
      blockMs: this.#blockMs,
      blockedBy: this.#blockedBy,
      readMs: this.#rawBlockMs,
      notShownAgain: this.#unconfirmed,
    };
    const figures = { fuzz: 'otlp', counts, ...loop, blockMsMax: BLOCK_MS_MAX, ...memory, rssMibMax: RSS_MIB_MAX };
    process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
    for (const failure of this.#failures) process.stdout.write(`MISS ${failure.slice(0, 2000)}\n`);
    return this.#failures.length === 0;
  }

  close(): void {
    this.#senders.close();
  }

  async #sendMeasured(bodies: readonly AnyBody[]): Promise<void> {
    const queue = [...bodies];
    const lane = async (): Promise<void> => {
      for (let body = queue.shift(); body !== undefined; body = queue.shift()) await this.#send(body);
    };
    await Promise.all(Array.from({ length: Math.min(LANES, bodies.length) }, lane));
    const first = await this.#readBlockMs();
    this.#rawBlockMs = Math.max(this.#rawBlockMs, first.readMs);
    let least = first.blockMs;
    for (let again = 1; again < TRIES && least > BLOCK_MS_MAX; again += 1) {
      for (const body of bodies) await this.#send(body);
      least = Math.min(least, (await this.#readBlockMs()).blockMs);
    }
    if (least > this.#blockMs) {
      this.#blockMs = least;
      this.#blockedBy = bodies.map(({ name }) => name).join(', ');
    }
    if (first.blockMs > BLOCK_MS_MAX && least <= BLOCK_MS_MAX) this.#unconfirmed += 1;
    if (least > BLOCK_MS_MAX) this.#fail(`blocked the loop for ${least.toFixed(0)} ms`, bodies);
  }

  async #send(body: AnyBody): Promise<void> {
    let answer: Awaited<ReturnType<FuzzSenders['send']>>;
    try {
      answer = await this.#senders.send(body, this.#prng);
    } catch (error) {
      this.#fail(`got no answer: ${String(error)}`, [body]);
      return;
    }
    const { status, transport, text } = answer;
    this.#count(`${transport} ${body.encoding} ${status}`);
    this.#rssMax = Math.max(this.#rssMax, this.#rss());
    if ('statuses' in body) {
      if (!body.statuses.includes(status)) this.#fail(`was answered ${transport} ${status}: ${text}`, [body]);
      return;
    }
    const expected = this.#expectedStatus(body);
    if (status !== expected) this.#fail(`was answered ${transport} ${status}, not ${expected}: ${text}`, [body]);
  }

  /** Also compares the decoders. */
  #expectedStatus(body: FuzzBody): number {
    if (body.body === null) return 400;
    const verdict = compareDecoders(body);
    this.#count(`decoders: ${verdict.kind}`);
    if (verdict.kind === 'differ') this.#fail(`is read otherwise by protobufjs: ${verdict.what}`, [body]);
    return verdict.kind === 'refused' ? 400 : 200;
  }

  async #readBlockMs(): Promise<{ blockMs: number; readMs: number }> {
    const text = await (await fetch(this.#service.url('/metrics/runtime'))).text();
    const readMs =
      1000 * Number(/^nodejs_eventloop_delay_max(?:_seconds)?(?:\{[^}]*\})? (\S+)/m.exec(text)?.[1] ?? Number.NaN);
    const [ranMs, waitedMs] = this.#scheduled();
    const ran = ranMs - this.#lastScheduled[0];
    const waited = waitedMs - this.#lastScheduled[1];
    this.#lastScheduled = [ranMs, waitedMs];
    const share = ran + waited > 0 ? ran / (ran + waited) : 1;
    return { readMs, blockMs: Math.max(0, readMs - MONITOR_MS) * share };
  }

  /** Milliseconds for which the main thread of the service ran, and was ready but not run; zeros where nobody says. */
  #scheduled(): readonly [number, number] {
    try {
      const [ran, waited] = readFileSync(`/proc/${this.#service.child.pid}/schedstat`, 'utf8').split(' ').map(Number);
      return [(ran ?? 0) / 1e6, (waited ?? 0) / 1e6];
    } catch {
      return [0, 0];
    }
  }

  #rss(): number {
    try {
      const status = readFileSync(`/proc/${this.#service.child.pid}/status`, 'utf8');
      return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024);
    } catch {
      return 0;
    }
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  #fail(what: string, bodies: readonly AnyBody[]): void {
    this.#files ??= mkdtempSync(join(tmpdir(), 'slowburn-fuzz-'));
    const paths = bodies.map(({ encoding, isGzip, wire }, index) => {
      const path = join(this.#files ?? '', `${this.#failures.length}-${index}.${encoding}${isGzip ? '.gz' : ''}`);
      writeFileSync(path, wire);
      return path;
    });
    const names = [...new Set(bodies.map(({ name }) => name))].join('; ');
    this.#failures.push(`${names}: ${what}\n  ${paths.join('\n  ')}`);
    process.stdout.write(`MISS ${this.#failures.at(-1)?.slice(0, 600)}\n`);
  }
}
