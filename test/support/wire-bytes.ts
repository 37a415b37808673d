/** Protobuf bytes by hand, for messages that no encoder writes. */

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}

export function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 128) | 0x80);
    rest = Math.floor(rest / 128);
  }
  return Uint8Array.from([...bytes, rest]);
}

export const tagOf = (field: number, wireType: number): Uint8Array => varint(field * 8 + wireType);

export const bytesField = (field: number, body: Uint8Array): Uint8Array =>
  concat(tagOf(field, 2), varint(body.length), body);

export function fixed64Field(field: number, value: bigint): Uint8Array {
  const body = new Uint8Array(8);
  new DataView(body.buffer).setBigUint64(0, value, true);
  return concat(tagOf(field, 1), body);
}
