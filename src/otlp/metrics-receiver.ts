import type { MetricsConsumer, MetricsOutcome, MetricsRequest, ReceiverMetrics, Refusal } from './consumer.ts';
import { createInflightBytes, type InflightBytes } from './inflight-bytes.ts';

/** The specification's default: 64 MiB as received, and 64 MiB inflated. */
export const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;
const DEFAULT_PATH = '/v1/metrics';
const DEFAULT_MAX_INFLIGHT_BYTES = 256 * 1024 * 1024;

export interface ReceiverLimits {
  /** Body as received. */
  readonly wireBytes: number;
  /** Body after inflation. */
  readonly inflatedBytes: number;
  /** Bodies of all requests being read and applied, received and inflated bytes together. */
  readonly inflightBytes: number;
  /** From the first byte of a request to its last. */
  readonly requestTimeoutMs: number;
  /** How long `close` waits for requests in flight before it cuts them. */
  readonly closeGraceMs: number;
}

export interface ReceiverOptions {
  readonly consumer: MetricsConsumer;
  readonly metrics: ReceiverMetrics;
  /** Push tokens; none = anyone may push. */
  readonly tokens: readonly { readonly name: string; readonly value: string }[];
  /** Header that names a balancer when its resource does not. */
  readonly identityHeader: string;
  readonly limits?: Partial<ReceiverLimits>;
  /** Path of OTLP over HTTP; /v1/metrics by default. gRPC names its method instead. */
  readonly path?: string;
  /** Share one of these between receivers to bound them together. */
  readonly inflight?: InflightBytes;
  /** Told when the consumer throws, which is a bug; the sender is told to retry. */
  readonly onError?: (error: unknown) => void;
  /** From 0 up to 1; spreads Retry-After. */
  readonly random?: () => number;
}

/** A listening port. */
export interface MetricsReceiver {
  /** Starts to listen; port 0 takes a free one. Rejects when the address cannot be bound. */
  listen(address: { readonly host: string; readonly port: number }): Promise<{ host: string; port: number }>;
  /** Stops accepting, finishes requests in flight, closes connections. Safe to call twice. */
  close(): Promise<void>;
}

/** Options with every default filled in. */
export interface ReceiverSettings {
  readonly limits: ReceiverLimits;
  readonly inflight: InflightBytes;
  readonly identityHeader: string;
  readonly path: string;
  readonly random: () => number;
}

export function toSettings(options: ReceiverOptions): ReceiverSettings {
  const limits: ReceiverLimits = {
    wireBytes: DEFAULT_MAX_BYTES,
    inflatedBytes: DEFAULT_MAX_BYTES,
    inflightBytes: DEFAULT_MAX_INFLIGHT_BYTES,
    requestTimeoutMs: 60_000,
    closeGraceMs: 5000,
    ...options.limits,
  };
  return {
    limits,
    inflight: options.inflight ?? createInflightBytes(limits.inflightBytes),
    identityHeader: options.identityHeader.toLowerCase(),
    path: options.path ?? DEFAULT_PATH,
    random: options.random ?? Math.random,
  };
}

/** Hands a request on. A consumer that throws becomes a refusal that the sender retries. */
export async function consumeSafely(options: ReceiverOptions, request: MetricsRequest): Promise<MetricsOutcome> {
  try {
    return await options.consumer.consume(request);
  } catch (error) {
    options.onError?.(error);
    return { kind: 'refused', refusal: INTERNAL };
  }
}

const INTERNAL: Refusal = {
  kind: 'unavailable',
  code: 'OTLP_INTERNAL',
  message: 'the request could not be applied because of a fault in slowburn; send it again',
};

export const UNAUTHENTICATED: Refusal = {
  kind: 'unauthenticated',
  code: 'OTLP_UNAUTHENTICATED',
  message: 'send "Authorization: Bearer <token>" with a token of the role push',
};

export const SHUTTING_DOWN: Refusal = {
  kind: 'unavailable',
  code: 'OTLP_SHUTTING_DOWN',
  message: 'slowburn is stopping; send again',
};

export const OVERLOADED: Refusal = {
  kind: 'unavailable',
  code: 'OTLP_OVERLOADED',
  message: 'too many bytes are being read and applied at once; send again later',
};

export function tooLarge(what: 'as received' | 'after decompression', limitBytes: number): Refusal {
  const message = `the request is larger than ${limitBytes} bytes ${what}; send smaller batches`;
  return { kind: 'too_large', code: 'OTLP_PAYLOAD_TOO_LARGE', message };
}

/** Value of the identity header, trimmed; null when it is missing, blank or longer than 256 characters. */
export function toIdentity(value: string | readonly string[] | undefined): string | null {
  const text = (typeof value === 'string' ? value : value?.[0])?.trim() ?? '';
  return text === '' || text.length > 256 ? null : text;
}

/** An address without port; IPv4 that arrives over an IPv6 socket is written as IPv4. */
export function toPeer(remoteAddress: string | undefined): string {
  return (remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '');
}
