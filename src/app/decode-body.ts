import { type BodyThread, createBodyThread } from '../otlp/body-thread.ts';
import type { MetricsRequest } from '../otlp/consumer.ts';
import { decodeJsonMetrics } from '../otlp/decode-json.ts';
import { decodeMetrics } from '../otlp/decode-metrics.ts';
import { Staging, StagingFull, type StagingLimits } from '../otlp/staging.ts';
import type { Turns } from './turns.ts';

/**
 * Up to these sizes decoding on the event loop takes a few milliseconds, and 20 at worst: 5 ns a byte where a body is
 * nothing but fields of two bytes. Beyond, or where a body holds more rows than these, a thread decodes it.
 */
const PROTOBUF_BYTES_MAX = 4 * 1024 * 1024;
const JSON_BYTES_MAX = 256 * 1024;
const NORMALIZE_BYTES_MAX = 64 * 1024;
const INLINE: StagingLimits = { rowsMax: 16_384, numbersMax: 1 << 18 };
/** Stagings kept for later requests. */
const IDLE_MAX = 16;

export interface DecodedBody {
  readonly staging: Staging;
  /** To be called once the staging is not needed any more. */
  release(): void;
}

export interface BodyDecoder {
  /** Throws AppError OTLP_MALFORMED. */
  decode(request: Pick<MetricsRequest, 'encoding' | 'body'>): Promise<DecodedBody>;
  close(): Promise<void>;
}

/**
 * Bodies to points, here or in a thread. Of the large ones one at a time is decoded, and stays until it is applied: the
 * columns of one may take 300 MB.
 */
export function createBodyDecoder(turns: Turns, thread: BodyThread = createBodyThread()): BodyDecoder {
  const idle: Staging[] = [];
  let lastLarge: Promise<void> = Promise.resolve();

  const decodeHere = (encoding: MetricsRequest['encoding'], body: Uint8Array): DecodedBody | null => {
    const staging = idle.pop() ?? new Staging(INLINE);
    const release = (): void => {
      if (idle.length < IDLE_MAX) idle.push(staging);
    };
    try {
      decodeMetrics(encoding === 'json' ? decodeJsonMetrics(body) : body, staging, NORMALIZE_BYTES_MAX);
      return { staging, release };
    } catch (error) {
      release();
      if (error instanceof StagingFull) return null;
      throw error;
    }
  };

  const decodeThere = async (encoding: MetricsRequest['encoding'], body: Uint8Array): Promise<DecodedBody> => {
    const before = lastLarge;
    let release = (): void => undefined;
    lastLarge = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    try {
      return { staging: await thread.decode({ encoding, body }), release };
    } catch (error) {
      release();
      throw error;
    }
  };

  return {
    async decode({ encoding, body }) {
      const isSmall = body.length <= (encoding === 'json' ? JSON_BYTES_MAX : PROTOBUF_BYTES_MAX);
      const here = isSmall ? await turns.runOne(() => decodeHere(encoding, body)) : null;
      return here ?? decodeThere(encoding, body);
    },
    close: () => thread.close(),
  };
}
