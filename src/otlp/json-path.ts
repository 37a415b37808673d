const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MAX_KEY_BYTES = 64;
const MAX_PATH_LENGTH = 300;

/** One open array (its index) or object (its current key). */
interface Level {
  isArray: boolean;
  index: number;
  key: string;
}

/**
 * Names the place of byte `at` in a JSON document, as `$.resourceMetrics[0].resource`. Only for error messages: it
 * walks the document again, which is well formed up to `at`. Long keys are cut, and so is the middle of a long path.
 */
export function jsonPath(bytes: Uint8Array, at: number): string {
  const levels: Level[] = [];
  let keyAwaited = false;
  let position = 0;
  while (position < at) {
    const byte = bytes[position];
    const level = levels.at(-1);
    if (byte === QUOTE) {
      const to = endOfString(bytes, position + 1);
      if (to >= at) break;
      if (keyAwaited && level !== undefined) level.key = keyText(bytes.subarray(position + 1, to));
      keyAwaited = false;
      position = to;
    } else if (byte === 0x7b || byte === 0x5b) {
      levels.push({ isArray: byte === 0x5b, index: 0, key: '' });
      keyAwaited = byte === 0x7b;
    } else if (byte === 0x7d || byte === 0x5d) {
      levels.pop();
    } else if (byte === 0x2c && level !== undefined) {
      level.index += 1;
      level.key = '';
      keyAwaited = !level.isArray;
    }
    position += 1;
  }
  return shortened(`$${levels.map(levelText).join('')}`);
}

function endOfString(bytes: Uint8Array, from: number): number {
  let position = from;
  while (position < bytes.length && bytes[position] !== QUOTE) position += bytes[position] === BACKSLASH ? 2 : 1;
  return position;
}

function keyText(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes.subarray(0, MAX_KEY_BYTES));
  return bytes.length > MAX_KEY_BYTES ? `${text}…` : text;
}

function levelText(level: Level): string {
  if (level.isArray) return `[${level.index}]`;
  if (level.key === '') return '';
  return /^[A-Za-z_]\w*$/.test(level.key) ? `.${level.key}` : `["${level.key}"]`;
}

function shortened(path: string): string {
  if (path.length <= MAX_PATH_LENGTH) return path;
  const half = MAX_PATH_LENGTH / 2;
  return `${path.slice(0, half)}…${path.slice(-half)}`;
}
