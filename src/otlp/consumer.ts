/** What the receivers hand on, and what they get back. Both transports and both encodings meet here. */

export type OtlpEncoding = 'protobuf' | 'json';

export interface MetricsRequest {
  readonly transport: 'http' | 'grpc';
  readonly encoding: OtlpEncoding;
  /** The inflated body. */
  readonly body: Uint8Array;
  /** The body as received, and how it was compressed: what the ingest log keeps. */
  readonly received: Uint8Array;
  readonly compression: 'none' | 'gzip';
  /** Peer address without port. */
  readonly peer: string;
  /** Value of the configured identity header (`x-lb-instance` by default), if sent. */
  readonly identityHeader: string | null;
}

/** Why a request is refused; the receivers turn it into an HTTP status or a gRPC code. */
export type RefusalKind =
  /** 400 / INVALID_ARGUMENT */
  | 'malformed'
  /** 401 / UNAUTHENTICATED */
  | 'unauthenticated'
  /** 413 / RESOURCE_EXHAUSTED without RetryInfo */
  | 'too_large'
  /** 415 / INVALID_ARGUMENT */
  | 'unsupported'
  /** 503 with Retry-After / UNAVAILABLE with RetryInfo */
  | 'unavailable';

export interface Refusal {
  readonly kind: RefusalKind;
  /** Stable code, OTLP_... */
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

export type MetricsOutcome =
  | { readonly kind: 'accepted'; readonly points: number; readonly rejectedPoints: number; readonly message: string }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export interface MetricsConsumer {
  /**
   * Resolves once the points are durable and applied, or with the reason why they are not. Never rejects for bad
   * input.
   */
  consume(request: MetricsRequest): Promise<MetricsOutcome>;
}

/** Counts what receivers see; filled by telemetry. */
export interface ReceiverMetrics {
  request(transport: 'http' | 'grpc', outcome: 'accepted' | RefusalKind, bytes: number): void;
}
