import { assert } from '../base/assert.ts';
import { epochMs } from '../base/units.ts';
import { crc32 } from './crc32.ts';
import type { IngestRecord } from './ingest-log.ts';

/**
 * A record on disk: `SBR1`, payload length (uint32 LE), CRC-32 of the payload (uint32 LE), payload.
 * Payload: received time (float64), flags (1 byte: 1 gRPC, 2 JSON, 4 gzip, 8 identity header present), peer and
 * identity header (each uint16 length + UTF-8), body.
 */
export const HEADER_BYTES = 12;
export const MAGIC_BYTES = Buffer.from('SBR1');
const MAGIC = MAGIC_BYTES.readUInt32LE();
/** Time, flags and the lengths of the two texts: no payload is shorter. */
const PAYLOAD_BYTES_MIN = 13;
/** No request is larger than 64 MiB on the wire; a longer length is a broken header. */
export const PAYLOAD_BYTES_MAX = 80 * 1024 * 1024;

export function encodeRecord(record: IngestRecord): Buffer {
  const peer = Buffer.from(record.peer);
  const identity = Buffer.from(record.identityHeader ?? '');
  const payloadBytes = PAYLOAD_BYTES_MIN + peer.length + identity.length + record.body.length;
  assert(payloadBytes <= PAYLOAD_BYTES_MAX, `a log record of ${payloadBytes} bytes could not be read back`);
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + payloadBytes);
  let at = HEADER_BYTES;
  at = bytes.writeDoubleLE(record.receivedAt, at);
  const flags =
    (record.transport === 'grpc' ? 1 : 0) |
    (record.encoding === 'json' ? 2 : 0) |
    (record.compression === 'gzip' ? 4 : 0) |
    (record.identityHeader === null ? 0 : 8);
  at = bytes.writeUInt8(flags, at);
  for (const text of [peer, identity]) {
    at = bytes.writeUInt16LE(text.length, at);
    at += text.copy(bytes, at);
  }
  bytes.set(record.body, at);
  const payload = bytes.subarray(HEADER_BYTES);
  bytes.writeUInt32LE(MAGIC, 0);
  bytes.writeUInt32LE(payload.length, 4);
  bytes.writeUInt32LE(crc32(payload), 8);
  return bytes;
}

/** The payload length of a header, or null when it is not one. */
export function payloadLength(header: Buffer): number | null {
  if (header.length < HEADER_BYTES || header.readUInt32LE(0) !== MAGIC) return null;
  const length = header.readUInt32LE(4);
  return length < PAYLOAD_BYTES_MIN || length > PAYLOAD_BYTES_MAX ? null : length;
}

/** The record, or null when the checksum does not fit. The body is a view into `payload`. */
export function decodeRecord(header: Buffer, payload: Buffer): IngestRecord | null {
  if (crc32(payload) !== header.readUInt32LE(8)) return null;
  const flags = payload.readUInt8(8);
  const peerLength = payload.readUInt16LE(9);
  const identityAt = 11 + peerLength;
  const identityLength = payload.readUInt16LE(identityAt);
  const bodyAt = identityAt + 2 + identityLength;
  return {
    receivedAt: epochMs(payload.readDoubleLE(0)),
    transport: flags & 1 ? 'grpc' : 'http',
    encoding: flags & 2 ? 'json' : 'protobuf',
    compression: flags & 4 ? 'gzip' : 'none',
    peer: payload.toString('utf8', 11, identityAt),
    identityHeader: flags & 8 ? payload.toString('utf8', identityAt + 2, bodyAt) : null,
    body: payload.subarray(bodyAt),
  };
}
