import { once } from 'node:events';
import { type ClientHttp2Session, connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import type { TestContext } from 'node:test';
import { Client, compressionAlgorithms, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';

/** Path of MetricsService/Export. */
export const GRPC_PATH = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';
const asIs = (bytes: Buffer): Buffer => bytes;

export interface CallAnswer {
  readonly code: number;
  readonly message: string;
  readonly body: Buffer;
  readonly details: Buffer | undefined;
}

/** One unary call through the official client; an error status is an answer too. */
export function createCaller(context: TestContext, port: number, options: { readonly gzip?: boolean } = {}) {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.max_send_message_length': -1,
    ...(options.gzip === true ? { 'grpc.default_compression_algorithm': compressionAlgorithms.gzip } : {}),
  });
  context.after(() => client.close());
  return (body: Uint8Array, headers: Readonly<Record<string, string>> = {}, path = GRPC_PATH): Promise<CallAnswer> =>
    new Promise((resolve) => {
      const metadata = new Metadata();
      for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
      client.makeUnaryRequest(path, asIs, asIs, Buffer.from(body), metadata, (error: ServiceError | null, value) => {
        const details = error?.metadata.get('grpc-status-details-bin')[0];
        resolve({
          code: error?.code ?? 0,
          message: error?.details ?? '',
          body: value ?? Buffer.alloc(0),
          details: Buffer.isBuffer(details) ? details : undefined,
        });
      });
    });
}

/** Speaks HTTP/2 by hand, for what the official client would not send. */
export function createRaw(context: TestContext, port: number) {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => undefined);
  context.after(() => session.destroy());
  const call = (headers: OutgoingHttpHeaders, body: Uint8Array) => callRaw(session, headers, body);
  return { session, call };
}

/** Headers of a call. */
export const GRPC_HEADERS = {
  ':method': 'POST',
  ':path': GRPC_PATH,
  'content-type': 'application/grpc',
  te: 'trailers',
};

async function callRaw(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body: Uint8Array) {
  const stream = session.request({ ...GRPC_HEADERS, ...headers });
  let trailers: IncomingHttpHeaders = {};
  stream.on('trailers', (received: IncomingHttpHeaders) => {
    trailers = received;
  });
  stream.on('error', () => undefined);
  const responded = once(stream, 'response');
  stream.end(body);
  const [answer] = (await responded) as [IncomingHttpHeaders & { ':status'?: number }];
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  if (!stream.closed) await once(stream, 'close');
  return { headers: answer, trailers, body: Buffer.concat(chunks) };
}

/** A gRPC message frame; `flag` and `declared` may lie. */
export function frame(message: Uint8Array, flag = 0, declared = message.length): Buffer {
  const header = Buffer.alloc(5);
  header[0] = flag;
  header.writeUInt32BE(declared, 1);
  return Buffer.concat([header, message]);
}
