import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { inflateGzip } from './body-inflate.ts';
import type { MetricsOutcome, OtlpEncoding, Refusal } from './consumer.ts';
import { createBearerCheck } from './http-bearer.ts';
import { declaredLength, endLingering, isCheapToDrain, readBody } from './http-body.ts';
import { answerBrokenHttp } from './http-broken.ts';
import type { ByteLease } from './inflight-bytes.ts';
import {
  consumeSafely,
  type MetricsReceiver,
  OVERLOADED,
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
  encodeStatus,
  GRPC_INVALID_ARGUMENT,
  GRPC_NOT_FOUND,
  GRPC_UNIMPLEMENTED,
  jitteredSeconds,
  type Status,
  toHttpStatus,
  toStatus,
} from './response.ts';

const DEFAULT_RETRY_SECONDS = 5;
/** Longer than the usual push interval of a minute, so that a sender's next push finds its connection open. */
const KEEP_ALIVE_MS = 120_000;
const HEADERS_TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 16 * 1024;

const MEDIA_TYPES: Readonly<Record<OtlpEncoding, string>> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
};

/** What the headers say, once they are accepted. */
interface Envelope {
  readonly encoding: OtlpEncoding;
  readonly compression: 'none' | 'gzip';
}

/**
 * OTLP/HTTP for metrics: POST /v1/metrics in protobuf or JSON, plain or gzip (OTLP 1.11). Tokens, types and declared
 * sizes are checked before a byte of the body is read; limits hold while it streams. Errors are google.rpc.Status in
 * the encoding of the request; a request whose type is unknown is answered in JSON.
 */
export function createHttpReceiver(options: ReceiverOptions): MetricsReceiver {
  const settings = toSettings(options);
  const isAllowed = createBearerCheck(options.tokens);
  let closing: Promise<void> | undefined;
  /** Connections whose answer is out while their request still comes in. */
  const answered = new WeakSet<Duplex>();

  const server = createServer({
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, settings.limits.requestTimeoutMs),
    requestTimeout: settings.limits.requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: 2000,
    maxHeaderSize: MAX_HEADER_BYTES,
    // A request without Host is refused below, with a status that says so.
    requireHostHeader: false,
    noDelay: true,
  });

  const respond = (request: IncomingMessage, response: ServerResponse, answer: Answer): void => {
    const mustClose = closing !== undefined || !isCheapToDrain(request);
    response.writeHead(answer.status, {
      'content-type': MEDIA_TYPES[answer.encoding],
      'content-length': answer.body.length,
      ...answer.headers,
      ...(mustClose ? { connection: 'close' } : {}),
    });
    if (mustClose && !request.complete) {
      answered.add(request.socket);
      endLingering(request, response, answer.body);
    } else response.end(answer.body);
  };

  const receive = async (
    request: IncomingMessage,
    response: ServerResponse,
    awaitsContinue: boolean,
  ): Promise<void> => {
    response.on('error', ignore);
    const misdirected = checkRoute(request, settings);
    if (misdirected !== undefined) {
      respond(request, response, misdirected);
      return;
    }
    const lease = settings.inflight.open();
    try {
      const encoding = encodingOf(request) ?? 'json';
      const envelope = closing === undefined ? checkHeaders(request, settings, isAllowed) : refused(SHUTTING_DOWN);
      if ('kind' in envelope) {
        options.metrics.request('http', envelope.refusal.kind, 0);
        respond(request, response, toAnswer(envelope, encoding, settings));
        return;
      }
      if (awaitsContinue) response.writeContinue();
      const result = await receiveBody(options, settings, request, envelope, lease);
      if (result === undefined) return;
      const { outcome, wireBytes } = result;
      const outcomeName = outcome.kind === 'accepted' ? 'accepted' : outcome.refusal.kind;
      options.metrics.request('http', outcomeName, wireBytes);
      respond(request, response, toAnswer(outcome, encoding, settings));
    } finally {
      lease.release();
    }
  };

  const start = (request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): void => {
    receive(request, response, awaitsContinue).catch((error: unknown) => {
      options.onError?.(error);
      response.destroy();
    });
  };
  server.on('error', (error) => options.onError?.(error));
  server.on('request', (request, response) => start(request, response, false));
  server.on('checkContinue', (request, response) => start(request, response, true));
  // An expectation that HTTP does not know may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', (request, response) => start(request, response, false));
  server.on('clientError', (error, socket) => {
    if (answered.has(socket)) {
      socket.destroy();
      return;
    }
    const outcome = answerBrokenHttp(error, socket, settings);
    if (outcome !== undefined) options.metrics.request('http', outcome, 0);
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
        const cut = setTimeout(() => server.closeAllConnections(), settings.limits.closeGraceMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
      });
      return closing;
    },
  };
}

/** Reads, inflates, hands on. Undefined when the sender went away. */
async function receiveBody(
  options: ReceiverOptions,
  settings: ReceiverSettings,
  request: IncomingMessage,
  envelope: Envelope,
  lease: ByteLease,
): Promise<{ outcome: MetricsOutcome; wireBytes: number } | undefined> {
  const read = await readBody(request, settings.limits.wireBytes, lease);
  if (read.kind === 'aborted') return undefined;
  if (read.kind === 'refused') return { outcome: read, wireBytes: settings.limits.wireBytes };
  const received = read.body;
  const wireBytes = received.length;
  let body = received;
  if (envelope.compression === 'gzip') {
    const inflated = await inflateGzip(received, settings.limits.inflatedBytes, lease);
    if (inflated.kind === 'refused') return { outcome: inflated, wireBytes };
    body = inflated.body;
  } else if (wireBytes > settings.limits.inflatedBytes) {
    return { outcome: refused(tooLarge('after decompression', settings.limits.inflatedBytes)), wireBytes };
  }
  const outcome = await consumeSafely(options, {
    transport: 'http',
    encoding: envelope.encoding,
    compression: envelope.compression,
    body,
    received,
    peer: toPeer(request.socket.remoteAddress),
    identityHeader: toIdentity(request.headers[settings.identityHeader]),
  });
  return { outcome, wireBytes };
}

interface Answer {
  readonly status: number;
  readonly encoding: OtlpEncoding;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const refused = (refusal: Refusal): { kind: 'refused'; refusal: Refusal } => ({ kind: 'refused', refusal });
const ignore = (): void => undefined;

/** The answer to a request for something else than POST to the path. */
function checkRoute(request: IncomingMessage, settings: ReceiverSettings): Answer | undefined {
  const path = (request.url ?? '').split('?', 1)[0];
  const encoding = encodingOf(request) ?? 'json';
  const answer = (
    status: number,
    code: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ): Answer => {
    const body: Status = { code, message };
    return { status, encoding, headers, body: encodeStatus(encoding, body) };
  };
  if (request.httpVersion === '1.1' && request.headers.host === undefined) {
    return answer(400, GRPC_INVALID_ARGUMENT, 'OTLP_BAD_HTTP: a request of HTTP/1.1 must have a Host header');
  }
  if (path !== settings.path) {
    return answer(404, GRPC_NOT_FOUND, `OTLP_NOT_FOUND: only ${settings.path} is served here`);
  }
  if (request.method === 'POST') return undefined;
  return answer(405, GRPC_UNIMPLEMENTED, `OTLP_METHOD_NOT_ALLOWED: ${settings.path} takes POST only`, {
    allow: 'POST',
  });
}

function checkHeaders(
  request: IncomingMessage,
  settings: ReceiverSettings,
  isAllowed: (authorization: string | undefined) => boolean,
): Envelope | { readonly kind: 'refused'; readonly refusal: Refusal } {
  if (!isAllowed(request.headers.authorization)) return refused(UNAUTHENTICATED);
  const encoding = encodingOf(request);
  if (encoding === undefined) {
    const code = 'OTLP_UNSUPPORTED_MEDIA_TYPE';
    return refused({ kind: 'unsupported', code, message: `send ${MEDIA_TYPES.protobuf} or ${MEDIA_TYPES.json}` });
  }
  const contentEncoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const isGzip = contentEncoding === 'gzip' || contentEncoding === 'x-gzip';
  if (!isGzip && contentEncoding !== 'identity' && contentEncoding !== '') {
    return refused({
      kind: 'unsupported',
      code: 'OTLP_UNSUPPORTED_ENCODING',
      message: 'the Content-Encoding is not supported; send gzip or none',
    });
  }
  const declaredBytes = declaredLength(request) ?? 0;
  if (declaredBytes > settings.limits.wireBytes) return refused(tooLarge('as received', settings.limits.wireBytes));
  if (settings.inflight.heldBytes() + declaredBytes > settings.limits.inflightBytes) return refused(OVERLOADED);
  return { encoding, compression: isGzip ? 'gzip' : 'none' };
}

/** Reads Content-Type without regard to case and parameters. */
function encodingOf(request: IncomingMessage): OtlpEncoding | undefined {
  const mediaType = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType === MEDIA_TYPES.protobuf) return 'protobuf';
  return mediaType === MEDIA_TYPES.json ? 'json' : undefined;
}

function toAnswer(outcome: MetricsOutcome, encoding: OtlpEncoding, settings: ReceiverSettings): Answer {
  if (outcome.kind === 'accepted') {
    return { status: 200, encoding, headers: {}, body: encodeExportResponse(encoding, outcome) };
  }
  const { refusal } = outcome;
  const retryAfterSeconds = jitteredSeconds(refusal.retryAfterSeconds ?? DEFAULT_RETRY_SECONDS, settings.random());
  const headers: Record<string, string> = {};
  if (refusal.kind === 'unavailable') headers['retry-after'] = String(retryAfterSeconds);
  if (refusal.kind === 'unauthenticated') headers['www-authenticate'] = 'Bearer';
  if (refusal.code === 'OTLP_UNSUPPORTED_ENCODING') headers['accept-encoding'] = 'gzip, identity';
  const body = encodeStatus(encoding, toStatus(refusal, retryAfterSeconds));
  return { status: toHttpStatus(refusal.kind), encoding, headers, body };
}
