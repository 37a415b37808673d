import { AppError } from '../base/app-error.ts';
import { jsonPath } from './json-path.ts';
import { utf8SequenceLength } from './utf8.ts';

const MAX_UNKNOWN_DEPTH = 512;

/** Bytes that JSON gives a meaning to. */
export const JSON_QUOTE = 0x22;
export const JSON_COMMA = 0x2c;
export const JSON_COLON = 0x3a;
export const JSON_OPEN_ARRAY = 0x5b;
export const JSON_CLOSE_ARRAY = 0x5d;
export const JSON_OPEN_OBJECT = 0x7b;
export const JSON_CLOSE_OBJECT = 0x7d;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;

const LITERALS = ['true', 'false', 'null'] as const;
const encoder = new TextEncoder();
// A byte order mark inside a string belongs to the string.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const LITERAL_BYTES = LITERALS.map((literal) => encoder.encode(literal));

/** Byte range [from, to) of a number, and whether it has neither fraction nor exponent. */
export interface NumberToken {
  to: number;
  isInteger: boolean;
}

/**
 * Reads JSON (RFC 8259, UTF-8) from bytes without building values. Every failure is an AppError OTLP_MALFORMED that
 * names the place as a JSON path.
 */
export class JsonScanner {
  readonly bytes: Uint8Array;
  /** The next byte to read. */
  at = 0;
  /** Content of the last string read, without its quotes, and whether it holds escapes. */
  stringFrom = 0;
  stringTo = 0;
  stringEscaped = false;
  readonly #number: NumberToken = { to: 0, isInteger: false };

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  fail(message: string, at = this.at): never {
    throw new AppError('OTLP_MALFORMED', `${message}, at ${jsonPath(this.bytes, at)} (byte ${at})`, {
      hint: 'the body must be an ExportMetricsServiceRequest in OTLP/JSON',
    });
  }

  /** Skips white space and returns the byte behind it without taking it; -1 at the end. */
  peek(): number {
    const { bytes } = this;
    let at = this.at;
    while (at < bytes.length) {
      const byte = bytes[at] as number;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) {
        this.at = at;
        return byte;
      }
      at += 1;
    }
    this.at = at;
    return -1;
  }

  /** Takes `byte` behind white space, or fails with what was awaited. */
  expect(byte: number, what: string): void {
    if (this.peek() !== byte) this.failExpecting(what);
    this.at += 1;
  }

  failExpecting(what: string): never {
    this.fail(this.at >= this.bytes.length ? `the JSON ends where ${what} should be` : `${what} expected`);
  }

  /** Takes the string that starts at `at`, checks it, and leaves its range in stringFrom, stringTo. */
  readString(): void {
    const { bytes } = this;
    const end = bytes.length;
    let at = this.at + 1;
    this.stringFrom = at;
    this.stringEscaped = false;
    while (at < end) {
      const byte = bytes[at] as number;
      if (byte === JSON_QUOTE) {
        this.stringTo = at;
        this.at = at + 1;
        return;
      }
      if (byte === BACKSLASH) {
        this.stringEscaped = true;
        at += this.#escapeLength(at);
      } else if (byte >= 0x80) {
        const length = utf8SequenceLength(bytes, at, end);
        if (length === 0) this.fail('the text is not UTF-8', at);
        at += length;
      } else if (byte < 0x20) {
        this.fail('a control character in a string must be escaped', at);
      } else {
        at += 1;
      }
    }
    this.fail('a string is not closed', this.at);
  }

  #escapeLength(at: number): number {
    const kind = this.bytes[at + 1] ?? 0;
    if (kind !== 0x75) {
      if ('"\\/bfnrt'.includes(String.fromCharCode(kind))) return 2;
      this.fail('a string holds an unknown escape', at);
    }
    const unit = this.hexUnit(at + 2);
    if (unit < 0xd800 || unit > 0xdfff) return 6;
    const isPair = unit < 0xdc00 && this.bytes[at + 6] === BACKSLASH && this.bytes[at + 7] === 0x75;
    const second = isPair ? this.hexUnit(at + 8) : 0;
    if (second < 0xdc00 || second > 0xdfff) this.fail('a string holds half of a surrogate pair', at);
    return 12;
  }

  /** The four hexadecimal digits at `at`. */
  hexUnit(at: number): number {
    let unit = 0;
    for (let offset = 0; offset < 4; offset++) {
      const digit = hexDigit(this.bytes[at + offset] ?? 0);
      if (digit < 0) this.fail('a \\u escape needs four hexadecimal digits', at);
      unit = unit * 16 + digit;
    }
    return unit;
  }

  /** The last string as text. For keys with escapes and for messages. */
  stringText(): string {
    const text = decoder.decode(this.bytes.subarray(this.stringFrom, this.stringTo));
    return this.stringEscaped ? (JSON.parse(`"${text}"`) as string) : text;
  }

  /** Whether the last string is exactly these bytes, written without escapes. */
  stringIs(expected: Uint8Array): boolean {
    const from = this.stringFrom;
    if (this.stringEscaped || this.stringTo - from !== expected.length) return false;
    for (let index = 0; index < expected.length; index++) {
      if (this.bytes[from + index] !== expected[index]) return false;
    }
    return true;
  }

  /**
   * Where the number that starts at `from` ends, by JSON's grammar; undefined when there is none. The answer is reused
   * by the next call.
   */
  numberAt(from: number, end: number): NumberToken | undefined {
    const { bytes } = this;
    let at = bytes[from] === MINUS ? from + 1 : from;
    const wholeFrom = at;
    at = skipDigits(bytes, at, end);
    if (at === wholeFrom || (bytes[wholeFrom] === 0x30 && at > wholeFrom + 1)) return undefined;
    this.#number.isInteger = true;
    if (at < end && bytes[at] === 0x2e) {
      const fractionFrom = at + 1;
      at = skipDigits(bytes, fractionFrom, end);
      if (at === fractionFrom) return undefined;
      this.#number.isInteger = false;
    }
    if (at < end && ((bytes[at] as number) | 0x20) === 0x65) {
      const sign = bytes[at + 1];
      const exponentFrom = sign === 0x2b || sign === MINUS ? at + 2 : at + 1;
      at = skipDigits(bytes, exponentFrom, end);
      if (at <= exponentFrom) return undefined;
      this.#number.isInteger = false;
    }
    this.#number.to = at;
    return this.#number;
  }

  /** Takes true, false or null if one stands at `at`. */
  readLiteral(): 'true' | 'false' | 'null' | undefined {
    for (let index = 0; index < LITERALS.length; index++) {
      const expected = LITERAL_BYTES[index] as Uint8Array;
      let matched = 0;
      while (matched < expected.length && this.bytes[this.at + matched] === expected[matched]) matched += 1;
      if (matched === expected.length) {
        this.at += matched;
        return LITERALS[index];
      }
    }
    return undefined;
  }

  /** Takes any value and checks its form. Never recurses, so that depth costs no stack. */
  skipValue(): void {
    const closers: number[] = [];
    for (;;) {
      const byte = this.peek();
      if (byte === JSON_OPEN_OBJECT || byte === JSON_OPEN_ARRAY) {
        if (closers.length === MAX_UNKNOWN_DEPTH) this.fail(`JSON is nested deeper than ${MAX_UNKNOWN_DEPTH} levels`);
        this.at += 1;
        const closer = byte + 2;
        closers.push(closer);
        if (this.peek() !== closer) {
          if (closer === JSON_CLOSE_OBJECT) this.readKey();
          continue;
        }
      } else {
        this.#skipScalar(byte);
      }
      if (this.#closeLevels(closers)) return;
    }
  }

  #skipScalar(byte: number): void {
    if (byte === JSON_QUOTE) {
      this.readString();
    } else if (byte === MINUS || (byte >= 0x30 && byte <= 0x39)) {
      const number = this.numberAt(this.at, this.bytes.length);
      if (number === undefined) this.fail('a number is not well formed');
      this.at = number.to;
    } else if (this.readLiteral() === undefined) {
      this.failExpecting('a value');
    }
  }

  /**
   * Behind a value: takes closing brackets, then a comma and the next key. True when the outermost value has ended.
   */
  #closeLevels(closers: number[]): boolean {
    for (;;) {
      const closer = closers.at(-1);
      if (closer === undefined) return true;
      const byte = this.peek();
      if (byte === JSON_COMMA) {
        this.at += 1;
        if (closer === JSON_CLOSE_OBJECT) this.readKey();
        return false;
      }
      if (byte !== closer) this.failExpecting(closer === JSON_CLOSE_OBJECT ? 'a comma or }' : 'a comma or ]');
      this.at += 1;
      closers.pop();
    }
  }

  /** Takes a key and its colon; the key is the last string then. */
  readKey(): void {
    if (this.peek() !== JSON_QUOTE) this.failExpecting('a key in double quotes');
    this.readString();
    this.expect(JSON_COLON, 'a colon');
  }
}

function skipDigits(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && (bytes[at] as number) >= 0x30 && (bytes[at] as number) <= 0x39) at += 1;
  return at;
}

/** Value of a hexadecimal digit in either case; -1 when the byte is none. */
export function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
