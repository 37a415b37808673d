import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2';
import type { Prng } from '../../src/base/prng.ts';
import type { FuzzBody } from './fuzz-bodies.ts';
import { frame, GRPC_HEADERS } from './grpc-client.ts';

export interface FuzzAnswer {
  /** The HTTP status; for gRPC the HTTP status that its code stands for. */
  readonly status: number;
  readonly transport: 'http' | 'grpc';
  readonly text: string;
}

type Sent = Pick<FuzzBody, 'encoding' | 'isGzip' | 'wire'>;
/** The codes of docs/errors.md. UNAVAILABLE is 503. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = { 0: 200, 3: 400, 8: 413, 14: 503, 12: 415, 16: 401 };
const ANSWER_MS_MAX = 60_000;

/** Sends bodies over connections that are kept: HTTP with a length or in chunks, gRPC as one message. */
export class FuzzSenders {
  readonly #ports: { readonly otlpHttp: number; readonly otlpGrpc: number };
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 });
  #session: ClientHttp2Session | null = null;

  constructor(ports: { readonly otlpHttp: number; readonly otlpGrpc: number }) {
    this.#ports = ports;
  }

  send(body: Sent, prng: Prng): Promise<FuzzAnswer> {
    const timeout = AbortSignal.timeout(ANSWER_MS_MAX);
    return body.encoding === 'protobuf' && prng.below(3) === 0
      ? this.#sendGrpc(body, timeout)
      : this.#sendHttp(body, prng, timeout);
  }

  close(): void {
    this.#agent.destroy();
    this.#session?.destroy();
  }

  async #sendHttp({ encoding, isGzip, wire }: Sent, prng: Prng, signal: AbortSignal): Promise<FuzzAnswer> {
    const isChunked = prng.below(2) === 0;
    const outgoing = request({
      host: '127.0.0.1',
      port: this.#ports.otlpHttp,
      method: 'POST',
      path: '/v1/metrics',
      agent: this.#agent,
      signal,
      headers: {
        'content-type': encoding === 'json' ? 'application/json' : 'application/x-protobuf',
        ...(isGzip ? { 'content-encoding': 'gzip' } : {}),
        ...(isChunked ? {} : { 'content-length': wire.length }),
      },
    });
    const responded = once(outgoing, 'response', { signal });
    responded.catch(() => undefined);
    if (isChunked) {
      for (let at = 0; at < wire.length; ) {
        const size = Math.max(1, prng.below(Math.max(2, wire.length / 3)));
        outgoing.write(wire.subarray(at, at + size));
        at += size;
      }
      outgoing.end();
    } else outgoing.end(wire);
    const [incoming] = (await responded) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    return { status: incoming.statusCode ?? 0, transport: 'http', text: Buffer.concat(chunks).toString() };
  }

  async #sendGrpc({ isGzip, wire }: Sent, signal: AbortSignal): Promise<FuzzAnswer> {
    if (this.#session === null || this.#session.closed || this.#session.destroyed) {
      this.#session = connect(`http://127.0.0.1:${this.#ports.otlpGrpc}`);
      this.#session.on('error', () => undefined);
    }
    const stream = this.#session.request(
      { ...GRPC_HEADERS, ...(isGzip ? { 'grpc-encoding': 'gzip' } : {}) },
      { signal },
    );
    let status: IncomingHttpHeaders = {};
    stream.on('trailers', (trailers: IncomingHttpHeaders) => {
      status = { ...status, ...trailers };
    });
    stream.on('error', () => undefined);
    stream.resume();
    const responded = once(stream, 'response', { signal });
    const closed = once(stream, 'close', { signal });
    responded.catch(() => undefined);
    closed.catch(() => undefined);
    stream.end(frame(wire, isGzip ? 1 : 0));
    const [headers] = (await responded) as [IncomingHttpHeaders];
    status = { ...headers, ...status };
    await closed;
    const code = String(status['grpc-status'] ?? 'none');
    return { status: STATUS_OF_CODE[code] ?? 0, transport: 'grpc', text: `${code} ${status['grpc-message'] ?? ''}` };
  }
}
