import { crc32 as zlibCrc32 } from 'node:zlib';

/** CRC-32 (IEEE 802.3) of `bytes`, continuing from `previous` (0 to start). `crc32("123456789") = 0xcbf43926`. */
export const crc32 = (bytes: Uint8Array, previous = 0): number => zlibCrc32(bytes, previous);
