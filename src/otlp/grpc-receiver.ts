import {
  constants,
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { inflateGzip } from './body-inflate.ts';
import type { MetricsOutcome, Refusal } from './consumer.ts';
import { encodeFrame, readFrame } from './grpc-frame.ts';
import { createBearerCheck } from './http-bearer.ts';
import type { ByteLease } from './inflight-bytes.ts';
import {
  consumeSafely,
  type MetricsReceiver,
  type ReceiverOptions,
  type ReceiverSettings,
  SHUTTING_DOWN,
  toIdentity,
  tooLarge,
  toPeer,
  toSettings,
  UNAUTHENTICATED,
} from './metrics-receiver.ts';
import {
  encodeExportResponse,
  encodeGrpcMessage,
  encodeStatus,
  GRPC_OK,
  GRPC_UNIMPLEMENTED,
  jitteredSeconds,
  type Status,
  toStatus,
} from './response.ts';

const PATH = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';
const DEFAULT_RETRY_SECONDS = 5;
/** Trailers carry the message twice, once percent-encoded; many clients take 8 KiB of headers at most. */
const MAX_TRAILER_MESSAGE_BYTES = 1024;
const SESSION_IDLE_MS = 600_000;
const ACCEPTED_ENCODINGS = 'identity,gzip';

/**
 * Bounds on what one HTTP/2 connection may ask for. Windows are large enough for a batch without waiting for updates.
 */
const STREAM_WINDOW_BYTES = 1024 * 1024;
const CONNECTION_WINDOW_BYTES = 4 * 1024 * 1024;
const SERVER_OPTIONS = {
  settings: { maxConcurrentStreams: 128, maxHeaderListSize: 16 * 1024, initialWindowSize: STREAM_WINDOW_BYTES },
  maxHeaderListPairs: 64,
  /** Megabytes, as Node counts them. */
  maxSessionMemory: 16,
  maxSessionRejectedStreams: 100,
  maxSessionInvalidFrames: 100,
};

/**
 * OTLP/gRPC for metrics: the unary call MetricsService/Export over HTTP/2 without TLS, written on node:http2 since a
 * general gRPC stack costs more than twice the work per request and does not bound inflated messages the way OTLP
 * asks.
 */
export function createGrpcReceiver(options: ReceiverOptions): MetricsReceiver {
  const settings = toSettings(options);
  const isAllowed = createBearerCheck(options.tokens);
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer(SERVER_OPTIONS);
  let closing: Promise<void> | undefined;

  server.on('error', (error) => options.onError?.(error));
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.setTimeout(SESSION_IDLE_MS, () => session.close());
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
  });

  const receive = async (stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> => {
    stream.on('error', ignore);
    if (headers[':method'] !== 'POST' || !isGrpc(headers['content-type'])) {
      stream.respond({ ':status': headers[':method'] === 'POST' ? 415 : 405 }, { endStream: true });
      abandonUpload(stream);
      return;
    }
    const misdirected = checkRoute(headers);
    if (misdirected !== undefined) {
      sendStatus(stream, misdirected);
      return;
    }
    const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), settings.limits.requestTimeoutMs);
    const lease = settings.inflight.open();
    try {
      const refusal =
        closing !== undefined ? SHUTTING_DOWN : isAllowed(headers.authorization) ? undefined : UNAUTHENTICATED;
      const result =
        refusal === undefined
          ? await receiveMessage(options, settings, stream, headers, lease)
          : { outcome: { kind: 'refused' as const, refusal }, wireBytes: 0 };
      if (result === undefined) return;
      const { outcome, wireBytes } = result;
      options.metrics.request('grpc', outcome.kind === 'accepted' ? 'accepted' : outcome.refusal.kind, wireBytes);
      if (outcome.kind === 'accepted') sendResponse(stream, encodeExportResponse('protobuf', outcome));
      else sendStatus(stream, toRefusalStatus(outcome.refusal, settings));
    } finally {
      clearTimeout(timer);
      lease.release();
    }
  };

  server.on('stream', (stream, headers) => {
    receive(stream, headers).catch((error: unknown) => {
      options.onError?.(error);
      // CANCELLED is retryable; INTERNAL would make the sender drop its batch, which may be sound.
      stream.close(constants.NGHTTP2_CANCEL);
    });
  });

  return {
    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          const address = server.address() as AddressInfo;
          resolve({ host: address.address, port: address.port });
        });
      }),
    close() {
      closing ??= new Promise((resolve) => {
        const cut = setTimeout(() => {
          for (const session of sessions) session.destroy();
        }, settings.limits.closeGraceMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        for (const session of sessions) session.close();
      });
      return closing;
    },
  };
}

/** Reads, inflates, hands on. Undefined when the sender went away. */
async function receiveMessage(
  options: ReceiverOptions,
  settings: ReceiverSettings,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  lease: ByteLease,
): Promise<{ outcome: MetricsOutcome; wireBytes: number } | undefined> {
  const { limits } = settings;
  const read = await readFrame(stream, limits.wireBytes, lease);
  if (read.kind === 'aborted') return undefined;
  if (read.kind === 'refused') return { outcome: read, wireBytes: 0 };
  const received = read.message;
  const wireBytes = received.length;
  const refuse = (refusal: Refusal) => ({ outcome: { kind: 'refused' as const, refusal }, wireBytes });
  let body: Uint8Array = received;
  if (read.isCompressed) {
    if (headers['grpc-encoding'] !== 'gzip') return refuse(UNEXPECTED_COMPRESSION);
    const inflated = await inflateGzip(received, limits.inflatedBytes, lease);
    if (inflated.kind === 'refused') return refuse(inflated.refusal);
    body = inflated.body;
  } else if (wireBytes > limits.inflatedBytes) {
    return refuse(tooLarge('after decompression', limits.inflatedBytes));
  }
  const outcome = await consumeSafely(options, {
    transport: 'grpc',
    encoding: 'protobuf',
    compression: read.isCompressed ? 'gzip' : 'none',
    body,
    received,
    peer: toPeer(stream.session?.socket.remoteAddress),
    identityHeader: toIdentity(headers[settings.identityHeader]),
  });
  return { outcome, wireBytes };
}

const UNEXPECTED_COMPRESSION: Refusal = {
  kind: 'malformed',
  code: 'OTLP_MALFORMED',
  message: 'the message is marked as compressed but grpc-encoding does not say how',
};

const ignore = (): void => undefined;

const isGrpc = (contentType: string | undefined): boolean =>
  /^application\/grpc(\+proto)?\s*(;|$)/i.test(contentType ?? '');

interface GrpcStatus extends Status {
  readonly headers?: OutgoingHttpHeaders;
}

/** The status of a call that this service does not have, or cannot decompress. */
function checkRoute(headers: IncomingHttpHeaders): GrpcStatus | undefined {
  const code = GRPC_UNIMPLEMENTED;
  if (headers[':path'] !== PATH) return { code, message: `OTLP_NOT_FOUND: only ${PATH} is served here` };
  const encoding = headers['grpc-encoding'];
  if (encoding === undefined || encoding === 'identity' || encoding === 'gzip') return undefined;
  const message = 'OTLP_UNSUPPORTED_ENCODING: the grpc-encoding is not supported; send gzip or identity';
  return { code, message, headers: { 'grpc-accept-encoding': ACCEPTED_ENCODINGS } };
}

function toRefusalStatus(refusal: Refusal, settings: ReceiverSettings): GrpcStatus {
  const retryAfterSeconds = jitteredSeconds(refusal.retryAfterSeconds ?? DEFAULT_RETRY_SECONDS, settings.random());
  return toStatus(refusal, retryAfterSeconds, MAX_TRAILER_MESSAGE_BYTES);
}

function sendResponse(stream: ServerHttp2Stream, message: Uint8Array): void {
  if (stream.destroyed) return;
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(GRPC_OK) }));
  stream.respond(
    { ':status': 200, 'content-type': 'application/grpc', 'grpc-accept-encoding': ACCEPTED_ENCODINGS },
    { waitForTrailers: true },
  );
  stream.end(encodeFrame(message));
}

/** A "trailers-only" answer. Bytes of metadata whose name ends in -bin are base64 without padding. */
function sendStatus(stream: ServerHttp2Stream, status: GrpcStatus): void {
  if (stream.destroyed) return;
  const details = Buffer.from(encodeStatus('protobuf', status)).toString('base64').replace(/=+$/, '');
  stream.respond(
    {
      ':status': 200,
      'content-type': 'application/grpc',
      'grpc-status': String(status.code),
      'grpc-message': encodeGrpcMessage(status.message),
      'grpc-status-details-bin': details,
      ...status.headers,
    },
    { endStream: true },
  );
  abandonUpload(stream);
}

/** After a complete answer, tells a sender that is still writing to stop (RFC 9113, 8.1: RST_STREAM with NO_ERROR). */
function abandonUpload(stream: ServerHttp2Stream): void {
  stream.resume();
  if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
}
