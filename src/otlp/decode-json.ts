import { present } from '../base/assert.ts';
import { decodeBase64, decodeHex } from './json-bytes.ts';
import { ANY_VALUE, EXPORT_METRICS_REQUEST, type JsonField, type JsonMessage } from './json-fields.ts';
import { JsonNumbers } from './json-numbers.ts';
import {
  JSON_CLOSE_ARRAY,
  JSON_CLOSE_OBJECT,
  JSON_COMMA,
  JSON_OPEN_ARRAY,
  JSON_OPEN_OBJECT,
  JSON_QUOTE,
  JsonScanner,
} from './json-scanner.ts';
import { WIRE_FIXED64, WIRE_LENGTH, WIRE_VARINT, WireWriter, zigzag32 } from './wire-writer.ts';

const MAX_VALUE_DEPTH = 100;

/**
 * Turns an ExportMetricsServiceRequest in OTLP/JSON into the same request in protobuf, so that both encodings meet as
 * bytes. One pass from bytes to bytes; no JavaScript value is built, so that int64 is exact and no key can reach a
 * prototype.
 *
 * Rules where the specification leaves a choice: a UTF-8 byte order mark in front is skipped; anything behind the
 * object, a known key twice in one object, two members of a oneof, null inside an array, text that is not UTF-8 and
 * half of a surrogate pair are malformed; attribute values nest 100 deep, unknown keys 512.
 * Throws AppError OTLP_MALFORMED with the JSON path.
 */
export function decodeJsonMetrics(bytes: Uint8Array): Uint8Array {
  const scanner = new JsonScanner(bytes);
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) scanner.at = 3;
  const decoder = new JsonDecoder(scanner, new WireWriter(Math.max(1024, bytes.length >>> 1)));
  decoder.writeMessage(EXPORT_METRICS_REQUEST, 0);
  if (scanner.peek() !== -1) scanner.fail('the JSON object is followed by something else');
  return decoder.writer.finish();
}

class JsonDecoder {
  readonly writer: WireWriter;
  readonly #scanner: JsonScanner;
  readonly #numbers: JsonNumbers;

  constructor(scanner: JsonScanner, writer: WireWriter) {
    this.#scanner = scanner;
    this.#numbers = new JsonNumbers(scanner);
    this.writer = writer;
  }

  /** Takes an object and writes the body of a message. `depth` counts the attribute values around it. */
  writeMessage(message: JsonMessage, depth: number): void {
    const scanner = this.#scanner;
    scanner.expect(JSON_OPEN_OBJECT, `an object (${message.name})`);
    let seen = 0;
    let oneof: JsonField | undefined;
    if (scanner.peek() === JSON_CLOSE_OBJECT) {
      scanner.at += 1;
      return;
    }
    for (;;) {
      const keyAt = scanner.at;
      scanner.readKey();
      const field = this.#findField(message);
      if (field === undefined) {
        scanner.skipValue();
      } else if (scanner.peek() !== 0x6e || scanner.readLiteral() !== 'null') {
        if ((seen & field.bit) !== 0) scanner.fail(`"${field.name}" is given twice`, keyAt);
        seen |= field.bit;
        if (field.oneof) {
          if (oneof !== undefined) scanner.fail(`only one of "${oneof.name}" and "${field.name}" may be given`, keyAt);
          oneof = field;
        }
        if (field.repeated) this.#writeRepeated(field, depth);
        else this.#writeField(field, depth, !field.presence);
      }
      if (scanner.peek() === JSON_COMMA) {
        scanner.at += 1;
        scanner.peek();
      } else {
        scanner.expect(JSON_CLOSE_OBJECT, 'a comma or }');
        return;
      }
    }
  }

  #findField(message: JsonMessage): JsonField | undefined {
    const scanner = this.#scanner;
    const { fields } = message;
    if (scanner.stringEscaped) {
      const name = scanner.stringText();
      return fields.find((field) => field.name === name);
    }
    for (let index = 0; index < fields.length; index++) {
      const field = fields[index] as JsonField;
      if (scanner.stringIs(field.nameBytes)) return field;
    }
    return undefined;
  }

  #writeRepeated(field: JsonField, depth: number): void {
    const { writer } = this;
    const scanner = this.#scanner;
    scanner.expect(JSON_OPEN_ARRAY, `an array ("${field.name}")`);
    if (scanner.peek() === JSON_CLOSE_ARRAY) {
      scanner.at += 1;
      return;
    }
    const isPacked = field.kind === 'fixed64' || field.kind === 'double' || field.kind === 'uint64';
    if (isPacked) writer.tag(field.number, WIRE_LENGTH);
    const mark = isPacked ? writer.begin() : 0;
    for (;;) {
      if (isPacked) this.#writePackedNumber(field);
      else this.#writeField(field, depth, false);
      if (scanner.peek() !== JSON_COMMA) break;
      scanner.at += 1;
    }
    scanner.expect(JSON_CLOSE_ARRAY, 'a comma or ]');
    if (isPacked) writer.end(mark);
  }

  #writePackedNumber(field: JsonField): void {
    const numbers = this.#numbers;
    if (field.kind === 'double') {
      this.writer.double(numbers.readDouble(field.name));
      return;
    }
    numbers.readInteger64(false, field.name);
    if (field.kind === 'fixed64') this.writer.fixed64(numbers.high, numbers.low);
    else this.writer.varint64(numbers.high, numbers.low);
  }

  /** Takes one value and writes it with its tag. With `omitDefault` the zero of the kind is not written. */
  #writeField(field: JsonField, depth: number, omitDefault: boolean): void {
    switch (field.kind) {
      case 'message':
        this.#writeNested(field, depth);
        return;
      case 'string':
      case 'bytes':
      case 'hex':
        this.#writeText(field, omitDefault);
        return;
      case 'bool':
        this.#writeVarint(field, this.#readBool(field) ? 1 : 0, omitDefault);
        return;
      case 'enum':
        this.#writeEnum(field);
        return;
      case 'uint32':
        this.#writeVarint(field, this.#numbers.readUint32(field.name), omitDefault);
        return;
      case 'sint32':
        this.#writeVarint(field, zigzag32(this.#numbers.readInt32(field.name)), omitDefault);
        return;
      case 'double': {
        const value = this.#numbers.readDouble(field.name);
        if (!omitDefault || !Object.is(value, 0)) this.writer.doubleField(field.number, value);
        return;
      }
      case 'int64':
      case 'uint64':
      case 'fixed64':
      case 'sfixed64':
        this.#writeInteger64(field, omitDefault);
        return;
    }
  }

  #writeNested(field: JsonField, depth: number): void {
    const message = present(field.message, field.name);
    const inner = message === ANY_VALUE ? depth + 1 : depth;
    if (inner > MAX_VALUE_DEPTH)
      this.#scanner.fail(`attribute values are nested deeper than ${MAX_VALUE_DEPTH} levels`);
    this.writer.tag(field.number, WIRE_LENGTH);
    const mark = this.writer.begin();
    this.writeMessage(message, inner);
    this.writer.end(mark);
  }

  #writeVarint(field: JsonField, value: number, omitDefault: boolean): void {
    if (!omitDefault || value !== 0) this.writer.varintField(field.number, value);
  }

  #writeInteger64(field: JsonField, omitDefault: boolean): void {
    const { writer } = this;
    const numbers = this.#numbers;
    numbers.readInteger64(field.kind === 'int64' || field.kind === 'sfixed64', field.name);
    if (omitDefault && numbers.high === 0 && numbers.low === 0) return;
    const isVarint = field.kind === 'int64' || field.kind === 'uint64';
    writer.tag(field.number, isVarint ? WIRE_VARINT : WIRE_FIXED64);
    if (isVarint) writer.varint64(numbers.high, numbers.low);
    else writer.fixed64(numbers.high, numbers.low);
  }

  #writeEnum(field: JsonField): void {
    const scanner = this.#scanner;
    if (scanner.peek() === JSON_QUOTE) {
      scanner.fail(`${field.name} must be a number: OTLP/JSON allows no names of enum values, nor numbers in quotes`);
    }
    const value = this.#numbers.readInt32(field.name);
    if (value === 0) return;
    this.writer.tag(field.number, WIRE_VARINT);
    this.writer.varint64(this.#numbers.high, this.#numbers.low);
  }

  #readBool(field: JsonField): boolean {
    const scanner = this.#scanner;
    scanner.peek();
    const at = scanner.at;
    const literal = scanner.readLiteral();
    if (literal === undefined || literal === 'null') scanner.fail(`${field.name} must be true or false`, at);
    return literal === 'true';
  }

  #writeText(field: JsonField, omitDefault: boolean): void {
    const { writer } = this;
    const scanner: JsonScanner = this.#scanner;
    if (scanner.peek() !== JSON_QUOTE) scanner.fail(`${field.name} must be a string`);
    const at = scanner.at;
    scanner.readString();
    if (omitDefault && scanner.stringFrom === scanner.stringTo) return;
    if (field.kind === 'string') {
      writer.tag(field.number, WIRE_LENGTH);
      const mark = writer.begin();
      if (scanner.stringEscaped) writer.text(scanner.stringText());
      else writer.copy(scanner.bytes, scanner.stringFrom, scanner.stringTo);
      writer.end(mark);
      return;
    }
    const text = scanner.stringText();
    const bytes = field.kind === 'hex' ? decodeHex(text) : decodeBase64(text);
    if (bytes === undefined)
      scanner.fail(`${field.name} must be ${field.kind === 'hex' ? 'hexadecimal' : 'base64'}`, at);
    writer.bytesField(field.number, bytes);
  }
}
