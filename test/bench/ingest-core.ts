import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { forkBuilt } from './built.ts';
import { KINDS, type Kind } from './ingest-requests.ts';
import { medianOf, print } from './rounds.ts';

const CHILD = join(import.meta.dirname, 'ingest-core-child.ts');
const CANDIDATES = ['protobufjs', 'decode', 'decodeSeries', 'decodeSeriesCells'] as const;
const WARM_UP = 4;
const ROUNDS = 7;

class Candidate {
  readonly rates: number[] = [];
  /** Of a request. */
  readonly bytes: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, bytes: number) {
    this.#child = child;
    this.bytes = bytes;
  }

  static async start(kind: Kind, points: number, name: string): Promise<Candidate> {
    const child = await forkBuilt(CHILD, [kind, String(points), name]);
    const [bytes] = await once(child, 'message');
    return new Candidate(child, bytes as number);
  }

  /** Points per second of one round. */
  async round(): Promise<number> {
    const answered = once(this.#child, 'message');
    this.#child.send('round');
    const [rate] = await answered;
    return rate as number;
  }

  stop(): void {
    this.#child.disconnect();
  }
}

/** Decoding alone, with series, with series and cells, and protobufjs' decoding of the same bytes, in turns. */
async function benchOne(kind: Kind, points: number): Promise<void> {
  const candidates = new Map<string, Candidate>();
  for (const name of CANDIDATES) candidates.set(name, await Candidate.start(kind, points, name));
  const bytes = candidates.get('decode')?.bytes ?? 0;
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    for (const candidate of candidates.values()) {
      const rate = await candidate.round();
      // What the engine has not compiled yet is no figure of a service that runs for weeks.
      if (round >= 0) candidate.rates.push(rate);
    }
  }
  for (const candidate of candidates.values()) candidate.stop();
  const ratesOf = (name: (typeof CANDIDATES)[number]): number[] => candidates.get(name)?.rates ?? [];
  const all = ratesOf('decodeSeriesCells');
  const library = ratesOf('protobufjs');
  print({
    bench: 'ingest',
    kind,
    pointsPerRequest: points,
    bytesPerPoint: Math.round(bytes / points),
    pointsPerSecond: Object.fromEntries(CANDIDATES.map((name) => [name, Math.round(medianOf(ratesOf(name)))])),
    bytesPerSecond: Math.round((medianOf(all) * bytes) / points),
    timesProtobufjs: Number(medianOf(all.map((rate, round) => rate / (library[round] as number))).toFixed(1)),
  });
}

export async function benchCore(): Promise<void> {
  for (const kind of KINDS) for (const points of [1400, 8192]) await benchOne(kind, points);
}
