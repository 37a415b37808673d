import { join } from 'node:path';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import type { MetricsRequest } from '../../src/otlp/consumer.ts';
import { createGrpcReceiver } from '../../src/otlp/grpc-receiver.ts';
import { openIngestLog } from '../../src/store/segment-log.ts';
import { messageType } from './otlp-messages.ts';

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
 * Writes the ingest log of a service that has been hearing the balancer for `times` times as long as it really has: its
 * life from `startedAt` to its last push is told again and again, each time as a life of its own that ended when the
 * next began. What really came is last, untouched.
 */
export async function writePast(
  dataDirectory: string,
  heard: readonly Heard[],
  { startedAt, times }: { readonly startedAt: EpochMs; readonly times: number },
): Promise<void> {
  const last = heard.at(-1);
  if (last === undefined) throw new Error('nothing was pushed');
  const lifeMs = last.at - startedAt;
  const log = await openIngestLog({ directory: join(dataDirectory, 'ingest') });
  for (let life = times - 1; life >= 0; life -= 1) {
    for (const { at, request } of heard) {
      const { transport, encoding, peer, identityHeader, body } = request;
      const record = { transport, encoding, compression: 'none', peer, identityHeader } as const;
      await log.append({ ...record, receivedAt: epochMs(at - life * lifeMs), body: moved(body, life * lifeMs) });
    }
  }
  await log.close();
}

type Tree = Record<string, unknown>;

/** The same request, its times so much earlier. */
function moved(body: Uint8Array, byMs: number): Uint8Array {
  const type = messageType(REQUEST);
  const tree = type.toObject(type.decode(body), { longs: String }) as Tree;
  const shift = (written: unknown): string => {
    const time = BigInt(String(written));
    return String(time - BigInt(byMs) * (time < MICROS_MAX ? 1000n : NANOS_PER_MS));
  };
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const item of node) visit(item);
    else if (node !== null && typeof node === 'object' && !(node instanceof Uint8Array)) {
      const fields = node as Tree;
      for (const [key, value] of Object.entries(fields)) {
        if (!/^(startTime|time)UnixNano$/.test(key)) visit(value);
        else if (String(value) !== '0') fields[key] = shift(value);
      }
    }
  };
  visit(tree);
  return type.encode(type.fromObject(tree)).finish();
}
