import { hexDigit } from './json-scanner.ts';

/**
 * Decodes base64, standard or URL-safe alphabet, with or without padding. Undefined when it is neither.
 */
export function decodeBase64(text: string): Uint8Array | undefined {
  const match = /^([A-Za-z0-9+/_-]*)(={0,2})$/.exec(text);
  if (match === null) return undefined;
  const digits = match[1] as string;
  const padding = match[2] as string;
  if (digits.length % 4 === 1 || (padding !== '' && (digits.length + padding.length) % 4 !== 0)) return undefined;
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let bits = 0;
  let bitCount = 0;
  let length = 0;
  for (let index = 0; index < digits.length; index++) {
    bits = ((bits << 6) | base64Digit(digits.charCodeAt(index))) & 0xffff;
    bitCount += 6;
    if (bitCount >= 8) {
      bitCount -= 8;
      bytes[length++] = bits >> bitCount;
    }
  }
  return bytes;
}

function base64Digit(unit: number): number {
  if (unit >= 0x61) return unit - 0x61 + 26;
  if (unit === 0x5f) return 63;
  if (unit >= 0x41) return unit - 0x41;
  if (unit >= 0x30) return unit - 0x30 + 52;
  return unit === 0x2b || unit === 0x2d ? 62 : 63;
}

/** Decodes hexadecimal digits of either case. Undefined when there are others or their number is odd. */
export function decodeHex(text: string): Uint8Array | undefined {
  if (text.length % 2 !== 0) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  for (let index = 0; index < bytes.length; index++) {
    const high = hexDigit(text.charCodeAt(index * 2));
    const low = hexDigit(text.charCodeAt(index * 2 + 1));
    if (high < 0 || low < 0) return undefined;
    bytes[index] = high * 16 + low;
  }
  return bytes;
}
