import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { AppError } from '../base/app-error.ts';
import { parseInstant } from '../base/instant.ts';
import type { EpochMs } from '../base/units.ts';
import { decodeJsonMetrics } from '../otlp/decode-json.ts';

/** One line of a replay, understood. `where` names it in errors: `file:line`. */
export type ReplayLine = { readonly where: string } & (
  | { readonly kind: 'metrics'; readonly body: Uint8Array }
  | { readonly kind: 'alerts'; readonly at: EpochMs; readonly alerts: readonly unknown[] }
  | { readonly kind: 'action'; readonly at: EpochMs; readonly action: Readonly<Record<string, unknown>> }
  | { readonly kind: 'time'; readonly at: EpochMs }
  | { readonly kind: 'bad'; readonly message: string }
);

/** Reads files in the order given; `-` is stdin, `.gz` is read compressed, `.pb` holds length-delimited protobuf. */
export async function* readReplay(files: readonly string[], stdin: NodeJS.ReadableStream): AsyncGenerator<ReplayLine> {
  for (const file of files) {
    const plain = file.endsWith('.gz') ? file.slice(0, -3) : file;
    const stream = openStream(file, stdin);
    if (plain.endsWith('.pb')) yield* readDelimited(file, stream);
    else yield* readJsonLines(file === '-' ? 'stdin' : file, stream);
  }
}

function openStream(file: string, stdin: NodeJS.ReadableStream): NodeJS.ReadableStream {
  if (file === '-') return stdin;
  const raw = createReadStream(file);
  if (!file.endsWith('.gz')) return raw;
  const gunzip = createGunzip();
  raw.on('error', (error) => gunzip.destroy(error));
  return raw.pipe(gunzip);
}

async function* readJsonLines(name: string, stream: NodeJS.ReadableStream): AsyncGenerator<ReplayLine> {
  let number = 0;
  const failed = new Promise<never>((_, reject) => stream.once('error', reject));
  failed.catch(() => undefined);
  const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]();
  for (;;) {
    const next = await Promise.race([lines.next(), failed]);
    if (next.done === true) return;
    number += 1;
    if (next.value.trim() !== '') yield parseLine(`${name}:${number}`, next.value);
  }
}

function parseLine(where: string, text: string): ReplayLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { where, kind: 'bad', message: `not JSON: ${(error as Error).message}` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { where, kind: 'bad', message: 'a line is a JSON object' };
  }
  const line = value as Readonly<Record<string, unknown>>;
  if (line['at'] === undefined) return metricsLine(where, text, line);
  const at = typeof line['at'] === 'string' ? parseInstant(line['at']) : undefined;
  if (at === undefined) return { where, kind: 'bad', message: '"at" is not an RFC 3339 time' };
  if (line['action'] !== undefined) return { where, kind: 'action', at, action: line };
  if (line['alerts'] !== undefined) {
    if (!Array.isArray(line['alerts'])) return { where, kind: 'bad', message: '"alerts" is not an array' };
    return { where, kind: 'alerts', at, alerts: line['alerts'] as unknown[] };
  }
  return { where, kind: 'time', at };
}

function metricsLine(where: string, text: string, line: Readonly<Record<string, unknown>>): ReplayLine {
  if (line['resourceMetrics'] === undefined) {
    return { where, kind: 'bad', message: 'neither "resourceMetrics" nor "at": not a line of a replay' };
  }
  try {
    return { where, kind: 'metrics', body: decodeJsonMetrics(new TextEncoder().encode(text)) };
  } catch (error) {
    if (error instanceof AppError) return { where, kind: 'bad', message: `${error.code} ${error.message}` };
    throw error;
  }
}

/**
 * Messages with a length in front: a varint (protobuf's delimited form) or, when the file starts with a zero byte, four bytes
 * big-endian (the Collector's file exporter).
 */
async function* readDelimited(name: string, stream: NodeJS.ReadableStream): AsyncGenerator<ReplayLine> {
  let buffered: Buffer = Buffer.alloc(0);
  let fixed: boolean | undefined;
  let number = 0;
  for await (const chunk of stream) {
    buffered = Buffer.concat([buffered, chunk as Buffer]);
    fixed ??= buffered[0] === 0;
    for (;;) {
      const frame = readFrame(buffered, fixed);
      if (frame === undefined) break;
      number += 1;
      yield { where: `${name}:message ${number}`, kind: 'metrics', body: frame.body };
      buffered = frame.rest;
    }
  }
  if (buffered.length > 0) {
    yield {
      where: `${name}:message ${number + 1}`,
      kind: 'bad',
      message: `the file ends inside a message (${buffered.length} bytes left)`,
    };
  }
}

function readFrame(bytes: Buffer, fixed: boolean): { body: Uint8Array; rest: Buffer } | undefined {
  let length = 0;
  let from = 0;
  if (fixed) {
    if (bytes.length < 4) return undefined;
    length = bytes.readUInt32BE(0);
    from = 4;
  } else {
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[from];
      if (byte === undefined || from > 5) return undefined;
      from += 1;
      length += (byte & 0x7f) * shift;
      if (byte < 0x80) break;
    }
  }
  if (bytes.length < from + length) return undefined;
  // A copy: the decoder keeps the bytes while the buffer moves on.
  return { body: new Uint8Array(bytes.subarray(from, from + length)), rest: bytes.subarray(from + length) };
}
