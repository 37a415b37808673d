import type { OtlpEncoding, Refusal, RefusalKind } from './consumer.ts';
import { WIRE_LENGTH, WireWriter } from './wire-writer.ts';

/** Longest message in an answer, in bytes of UTF-8. Answers may be read by clients that cap them. */
export const MAX_MESSAGE_BYTES = 4096;

const TYPE_PREFIX = 'type.googleapis.com/google.rpc.';

/** Codes of google.rpc.Code that slowburn answers with. */
export const GRPC_OK = 0;
export const GRPC_INVALID_ARGUMENT = 3;
export const GRPC_NOT_FOUND = 5;
export const GRPC_RESOURCE_EXHAUSTED = 8;
export const GRPC_UNIMPLEMENTED = 12;
export const GRPC_UNAVAILABLE = 14;
export const GRPC_UNAUTHENTICATED = 16;

const HTTP_STATUS: Readonly<Record<RefusalKind, number>> = {
  malformed: 400,
  unauthenticated: 401,
  too_large: 413,
  unsupported: 415,
  unavailable: 503,
};

const GRPC_CODE: Readonly<Record<RefusalKind, number>> = {
  malformed: GRPC_INVALID_ARGUMENT,
  unauthenticated: GRPC_UNAUTHENTICATED,
  too_large: GRPC_RESOURCE_EXHAUSTED,
  unsupported: GRPC_INVALID_ARGUMENT,
  unavailable: GRPC_UNAVAILABLE,
};

export const toHttpStatus = (kind: RefusalKind): number => HTTP_STATUS[kind];

export const toGrpcCode = (kind: RefusalKind): number => GRPC_CODE[kind];

/** google.rpc.Status with the details that slowburn sends. */
export interface Status {
  readonly code: number;
  readonly message: string;
  /** RetryInfo: whole seconds until a retry makes sense. */
  readonly retryAfterSeconds?: number;
  /** BadRequest with one violation: the part of the request that is wrong. */
  readonly badField?: string;
}

/**
 * The status of a refusal. Its message starts with the stable code. Bad data names the body as the wrong field; only
 * `retryAfterSeconds` makes RESOURCE_EXHAUSTED and UNAVAILABLE retryable by contract, and only `unavailable` carries
 * it.
 */
export function toStatus(refusal: Refusal, retryAfterSeconds: number, maxMessageBytes = MAX_MESSAGE_BYTES): Status {
  const status = {
    code: toGrpcCode(refusal.kind),
    message: truncateUtf8(`${refusal.code}: ${refusal.message}`, maxMessageBytes),
  };
  if (refusal.kind === 'unavailable') return { ...status, retryAfterSeconds };
  return refusal.kind === 'malformed' ? { ...status, badField: 'body' } : status;
}

/**
 * ExportMetricsServiceResponse. Without rejected points and message it is empty (0 bytes, or `{}`): the specification
 * wants partial_success unset then.
 */
export function encodeExportResponse(
  encoding: OtlpEncoding,
  outcome: { readonly rejectedPoints: number; readonly message: string },
): Uint8Array {
  const { rejectedPoints } = outcome;
  const errorMessage = truncateUtf8(outcome.message, MAX_MESSAGE_BYTES);
  const isEmpty = rejectedPoints === 0 && errorMessage === '';
  if (encoding === 'json') {
    const partialSuccess = {
      ...(rejectedPoints === 0 ? {} : { rejectedDataPoints: String(rejectedPoints) }),
      ...(errorMessage === '' ? {} : { errorMessage }),
    };
    return encodeText(JSON.stringify(isEmpty ? {} : { partialSuccess }));
  }
  const writer = new WireWriter(64);
  if (!isEmpty) {
    writer.tag(1, WIRE_LENGTH);
    const mark = writer.begin();
    if (rejectedPoints > 0) writer.varintField(1, rejectedPoints);
    if (errorMessage !== '') writer.stringField(2, errorMessage);
    writer.end(mark);
  }
  return writer.finish();
}

/** google.rpc.Status with its details, in either encoding. */
export function encodeStatus(encoding: OtlpEncoding, status: Status): Uint8Array {
  return encoding === 'json' ? encodeText(JSON.stringify(toStatusJson(status))) : encodeStatusProtobuf(status);
}

function encodeStatusProtobuf(status: Status): Uint8Array {
  const writer = new WireWriter(256);
  if (status.code !== 0) writer.varintField(1, status.code);
  if (status.message !== '') writer.stringField(2, status.message);
  const { badField, retryAfterSeconds } = status;
  if (badField !== undefined) {
    writeDetail(writer, 'BadRequest', () => {
      writer.tag(1, WIRE_LENGTH);
      const mark = writer.begin();
      writer.stringField(1, badField);
      writer.stringField(2, status.message);
      writer.end(mark);
    });
  }
  if (retryAfterSeconds !== undefined) {
    writeDetail(writer, 'RetryInfo', () => {
      writer.tag(1, WIRE_LENGTH);
      const mark = writer.begin();
      if (retryAfterSeconds > 0) writer.varintField(1, retryAfterSeconds);
      writer.end(mark);
    });
  }
  return writer.finish();
}

/** Appends a google.protobuf.Any to `details`. */
function writeDetail(writer: WireWriter, type: string, writeBody: () => void): void {
  writer.tag(3, WIRE_LENGTH);
  const any = writer.begin();
  writer.stringField(1, `${TYPE_PREFIX}${type}`);
  writer.tag(2, WIRE_LENGTH);
  const body = writer.begin();
  writeBody();
  writer.end(body);
  writer.end(any);
}

function toStatusJson(status: Status): unknown {
  const { badField, retryAfterSeconds, message } = status;
  const details: unknown[] = [];
  if (badField !== undefined) {
    const fieldViolations = [{ field: badField, description: message }];
    details.push({ '@type': `${TYPE_PREFIX}BadRequest`, fieldViolations });
  }
  if (retryAfterSeconds !== undefined) {
    details.push({ '@type': `${TYPE_PREFIX}RetryInfo`, retryDelay: `${retryAfterSeconds}s` });
  }
  return { code: status.code, message, ...(details.length === 0 ? {} : { details }) };
}

/** Whole seconds to wait, from `base` to twice that and never below 1, so that senders do not come back in step. */
export function jitteredSeconds(baseSeconds: number, random: number): number {
  const base = Math.max(1, Math.ceil(baseSeconds));
  return base + Math.floor(random * (base + 1));
}

/** Percent-encodes a message for `grpc-message`: everything but printable ASCII, and the percent sign itself. */
export function encodeGrpcMessage(message: string): string {
  let encoded = '';
  for (const byte of encodeText(message)) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    encoded += isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}

/** Cuts a text to at most `maxBytes` of UTF-8 without cutting a character; what was cut is marked by an ellipsis. */
export function truncateUtf8(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = encodeText(text);
  if (bytes.length <= maxBytes) return text;
  const ellipsis = '…';
  let to = maxBytes - encodeText(ellipsis).length;
  while (to > 0 && ((bytes[to] as number) & 0xc0) === 0x80) to -= 1;
  return `${new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, to))}${ellipsis}`;
}

const encodeText = (text: string): Uint8Array => new TextEncoder().encode(text);
