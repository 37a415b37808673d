import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { RefusalKind } from './consumer.ts';
import type { ReceiverSettings } from './metrics-receiver.ts';
import {
  encodeStatus,
  GRPC_INVALID_ARGUMENT,
  GRPC_RESOURCE_EXHAUSTED,
  GRPC_UNAVAILABLE,
  jitteredSeconds,
  type Status,
} from './response.ts';

const RETRY_SECONDS = 5;

interface Broken {
  readonly kind: RefusalKind;
  readonly line: string;
  readonly status: Status;
}

/**
 * Answers on a connection whose request Node gave up: no HTTP, headers too large, too slow. The encoding is not known
 * then, so the status is JSON. A sender that was too slow is told to try again (its batch is sound, and over gRPC it
 * would be told the same); the others are not. Undefined where there is no request to answer: the sender went away,
 * never said anything, or went on behind its last request, whose own answer is still to come.
 */
export function answerBrokenHttp(error: Error, socket: Duplex, settings: ReceiverSettings): RefusalKind | undefined {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (code === 'HPE_CLOSED_CONNECTION') return undefined;
  const isSilent = socket instanceof Socket && socket.bytesRead === 0;
  if (code === 'ECONNRESET' || code === 'HPE_INVALID_EOF_STATE' || isSilent || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  const { kind, line, status } = toBroken(code, settings);
  const body = encodeStatus('json', status);
  const retry = status.retryAfterSeconds === undefined ? '' : `Retry-After: ${status.retryAfterSeconds}\r\n`;
  const head = `HTTP/1.1 ${line}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${retry}`;
  socket.end(Buffer.concat([Buffer.from(`${head}Connection: close\r\n\r\n`), body]), () => socket.destroy());
  return kind;
}

function toBroken(code: string, settings: ReceiverSettings): Broken {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const retryAfterSeconds = jitteredSeconds(RETRY_SECONDS, settings.random());
    const message = 'OTLP_TIMEOUT: the request did not arrive in time; send it again';
    return {
      kind: 'unavailable',
      line: '503 Service Unavailable',
      status: { code: GRPC_UNAVAILABLE, message, retryAfterSeconds },
    };
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = 'OTLP_HEADERS_TOO_LARGE: the headers are larger than 16 KiB';
    return {
      kind: 'too_large',
      line: '431 Request Header Fields Too Large',
      status: { code: GRPC_RESOURCE_EXHAUSTED, message },
    };
  }
  const message = 'OTLP_BAD_HTTP: this is not a well-formed request of HTTP/1.1';
  return { kind: 'malformed', line: '400 Bad Request', status: { code: GRPC_INVALID_ARGUMENT, message } };
}
