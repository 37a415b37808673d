import type { JsonScanner } from './json-scanner.ts';
import { JSON_QUOTE } from './json-scanner.ts';

const TWO_32 = 4_294_967_296;
/** 10^0 to 10^22 are exact doubles. */
const POWERS_OF_TEN = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent);
const latin1 = new TextDecoder('latin1');

/** The range [from, to) of a number's digits and what they are; reused from one call to the next. */
interface Digits {
  from: number;
  to: number;
  isInteger: boolean;
  text: string | undefined;
}

/**
 * Reads the numbers of OTLP/JSON, bare or in quotes, exactly: 64-bit integers as two halves, doubles correctly
 * rounded.
 */
export class JsonNumbers {
  readonly #scanner: JsonScanner;
  readonly #digits: Digits = { from: 0, to: 0, isInteger: false, text: undefined };
  /** The integer read last, as two unsigned halves of its two's complement. */
  high = 0;
  low = 0;

  constructor(scanner: JsonScanner) {
    this.#scanner = scanner;
  }

  /** Takes an int64 (signed) or a uint64 into `high` and `low`. */
  readInteger64(signed: boolean, what: string): void {
    const { from, to, isInteger } = this.#take(what, false);
    const scanner = this.#scanner;
    if (!isInteger) {
      // 1.0 and 1e3 are whole numbers too.
      const value = Number(ascii(scanner.bytes, from, to));
      if (!Number.isSafeInteger(value)) scanner.fail(`${what} must be a whole number`, from);
      this.#set(value < 0, Math.floor(Math.abs(value) / TWO_32), Math.abs(value) % TWO_32);
    } else {
      this.#accumulate(from, to, what);
    }
    if (signed ? this.#overflowsSigned : this.#negative) scanner.fail(`${what} is out of range`, from);
  }

  #negative = false;
  #overflowsSigned = false;

  /** Six digits at a time: (2^32 - 1) * 10^6 + 999,999 is below 2^53. */
  #accumulate(from: number, to: number, what: string): void {
    const { bytes } = this.#scanner;
    const negative = bytes[from] === 0x2d;
    let high = 0;
    let low = 0;
    for (let at = negative ? from + 1 : from; at < to; ) {
      let chunk = 0;
      let scale = 1;
      for (; at < to && scale < 1_000_000; at++) {
        chunk = chunk * 10 + (bytes[at] as number) - 0x30;
        scale *= 10;
      }
      const product = low * scale + chunk;
      high = high * scale + Math.floor(product / TWO_32);
      low = product % TWO_32;
      if (high >= TWO_32) this.#scanner.fail(`${what} is out of range`, from);
    }
    this.#set(negative, high, low);
  }

  /** Stores sign and magnitude as two's complement. */
  #set(negative: boolean, high: number, low: number): void {
    const isZero = high === 0 && low === 0;
    this.#negative = negative && !isZero;
    this.#overflowsSigned = high > 0x7fff_ffff && !(negative && high === 0x8000_0000 && low === 0);
    this.high = this.#negative ? (~high + (low === 0 ? 1 : 0)) >>> 0 : high;
    this.low = this.#negative ? -low >>> 0 : low;
  }

  /** Takes a number from 0 to 2^32 - 1. */
  readUint32(what: string): number {
    const from = this.#scanner.at;
    this.readInteger64(false, what);
    if (this.high !== 0) this.#scanner.fail(`${what} is out of range`, from);
    return this.low;
  }

  /** Takes a number from -2^31 to 2^31 - 1. */
  readInt32(what: string): number {
    const from = this.#scanner.at;
    this.readInteger64(true, what);
    const value = this.low | 0;
    if (this.high !== (value < 0 ? 0xffff_ffff : 0)) this.#scanner.fail(`${what} is out of range`, from);
    return value;
  }

  /** Takes a double: a number, a number in quotes, or "NaN", "Infinity", "-Infinity". */
  readDouble(what: string): number {
    const digits = this.#take(what, true);
    if (digits.text !== undefined) return Number(digits.text);
    const { bytes } = this.#scanner;
    const quick = shortDecimal(bytes, digits.from, digits.to);
    if (quick !== undefined) return quick;
    const value = Number(ascii(bytes, digits.from, digits.to));
    if (!Number.isFinite(value)) this.#scanner.fail(`${what} is out of range`, digits.from);
    return value;
  }

  /** Takes a number, bare or in quotes, or one of the three names where they are allowed. */
  #take(what: string, namesAllowed: boolean): Digits {
    const scanner = this.#scanner;
    const digits = this.#digits;
    digits.text = undefined;
    const quoted = scanner.peek() === JSON_QUOTE;
    const start = scanner.at;
    if (quoted) scanner.readString();
    digits.from = quoted ? scanner.stringFrom : start;
    const end = quoted ? scanner.stringTo : scanner.bytes.length;
    const number = scanner.numberAt(digits.from, end);
    if (number !== undefined && (!quoted || number.to === end)) {
      digits.to = number.to;
      digits.isInteger = number.isInteger;
      if (!quoted) scanner.at = number.to;
      return digits;
    }
    const text = quoted && namesAllowed ? scanner.stringText() : '';
    if (text !== 'NaN' && text !== 'Infinity' && text !== '-Infinity') {
      scanner.fail(`${what} must be a number${quoted ? ' without blanks or other characters' : ''}`, start);
    }
    digits.text = text;
    return digits;
  }
}

/**
 * The value of a number with at most 15 digits and no exponent: digits and power of ten are exact doubles then, so
 * that one division rounds correctly (W. D. Clinger, How to read floating point numbers accurately, 1990). Undefined
 * for others.
 */
function shortDecimal(bytes: Uint8Array, from: number, to: number): number | undefined {
  if (to - from > 17) return undefined;
  const negative = bytes[from] === 0x2d;
  let digits = 0;
  let count = 0;
  let fraction = 0;
  let inFraction = false;
  for (let at = negative ? from + 1 : from; at < to; at++) {
    const byte = bytes[at] as number;
    if (byte === 0x2e) {
      inFraction = true;
    } else if (byte < 0x30 || byte > 0x39) {
      return undefined;
    } else {
      digits = digits * 10 + byte - 0x30;
      count += 1;
      if (inFraction) fraction += 1;
    }
  }
  if (count > 15) return undefined;
  const value = digits / (POWERS_OF_TEN[fraction] as number);
  return negative ? -value : value;
}

const ascii = (bytes: Uint8Array, from: number, to: number): string => latin1.decode(bytes.subarray(from, to));
