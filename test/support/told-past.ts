import { join } from 'node:path';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import type { MetricsRequest } from '../../src/otlp/consumer.ts';
import { createGrpcReceiver } from '../../src/otlp/grpc-receiver.ts';
import { openIngestLog } from '../../src/store/segment-log.ts';
import { toTree } from './otlp-messages.ts';

const NANOS_PER_MS = 1_000_000n;
/** Starts of Envoy 1.40 are in microseconds, whatever their name says; as nanoseconds they would lie before 1973. */
const MICROS_MAX = 100_000_000_000_000_000n;
const REQUEST = 'ExportMetricsServiceRequest';

/** A push as it came. */
export interface Heard {
  readonly at: EpochMs;
  readonly request: MetricsRequest;
}

/** Listens in the place of the service and keeps what is pushed. */
export async function startListener(
  port: number,
): Promise<{ readonly heard: readonly Heard[]; close(): Promise<void> }> {
  const heard: Heard[] = [];
  const receiver = createGrpcReceiver({
    consumer: {
      async consume(request) {
        heard.push({ at: epochMs(Date.now()), request: { ...request, received: Buffer.from(request.received) } });
        return { kind: 'accepted', points: 0, rejectedPoints: 0, message: '' };
      },
    },
    metrics: { request: () => undefined },
    tokens: [],
    identityHeader: 'x-slowburn-balancer',
  });
  await receiver.listen({ host: '127.0.0.1', port });
  return { heard, close: () => receiver.close() };
}

/**
 * Writes the ingest log of a service that has been hearing the balancer for `lives` times as long as it really has: its
 * life from `startedAt` to its last push is told again and again, each time as a life of its own that ended when the
 * next began. What really came is last, untouched.
 */
export async function writePast(
  dataDirectory: string,
  heard: readonly Heard[],
  { startedAt, lives }: { readonly startedAt: EpochMs; readonly lives: number },
): Promise<void> {
  const last = heard.at(-1);
  if (last === undefined) throw new Error('nothing was pushed');
  const lifeMs = last.at - startedAt;
  const pushes = heard.map((push) => ({ ...push, times: timesIn(push.request.body) }));
  const log = await openIngestLog({ directory: join(dataDirectory, 'ingest') });
  for (let life = lives - 1; life >= 0; life -= 1) {
    for (const { at, request, times } of pushes) {
      const { transport, encoding, peer, identityHeader, body } = request;
      const record = { transport, encoding, compression: 'none', peer, identityHeader } as const;
      await log.append({ ...record, receivedAt: epochMs(at - life * lifeMs), body: moved(body, times, life * lifeMs) });
    }
  }
  await log.close();
}

type Tree = Record<string, unknown>;

/** A time in a body: where, and what. */
interface Time {
  readonly offset: number;
  readonly value: bigint;
}

/** The same request, its times so much earlier. */
function moved(body: Uint8Array, times: readonly Time[], byMs: number): Buffer {
  const copy = Buffer.from(body);
  for (const { offset, value } of times) {
    copy.writeBigUInt64LE(value - BigInt(byMs) * (value < MICROS_MAX ? 1000n : NANOS_PER_MS), offset);
  }
  return copy;
}

/** Times are eight bytes each, and there are few different ones in a push: they are found by their bytes. */
function timesIn(body: Uint8Array): readonly Time[] {
  const values = new Set<bigint>();
  const visit = (node: unknown): void => {
    if (node === null || typeof node !== 'object') return;
    for (const [key, value] of Object.entries(node as Tree)) {
      if (/^(startTime|time)UnixNano$/.test(key)) values.add(BigInt(String(value)));
      else visit(value);
    }
  };
  visit(toTree(REQUEST, body));
  values.delete(0n);
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const pattern = Buffer.alloc(8);
  const found: Time[] = [];
  for (const value of values) {
    pattern.writeBigUInt64LE(value);
    for (let at = bytes.indexOf(pattern); at !== -1; at = bytes.indexOf(pattern, at + 8)) {
      found.push({ offset: at, value });
    }
  }
  return found;
}
