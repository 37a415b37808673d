import type { Prng } from '../../src/base/prng.ts';

const TOKEN = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null|[[\]{},:]/g;
const NUMBERS = [
  '0',
  '-0',
  '1',
  '-1',
  '1.5',
  '1e3',
  '1E400',
  '-1e-400',
  '01',
  '+1',
  '.5',
  '1.',
  '0x10',
  '4294967296',
].concat(
  [
    '18446744073709551615',
    '18446744073709551616',
    '-9223372036854775808',
    '9007199254740993',
    '1e19',
    '"1e3"',
    '"1.0"',
  ],
  [
    '"12"',
    '"-1"',
    '"NaN"',
    '"Infinity"',
    '"-Infinity"',
    '"inf"',
    'NaN',
    'Infinity',
    '1'.repeat(400),
    '"1000000000000000000"',
  ],
);
const STRINGS = [
  '""',
  '"\\u0000"',
  '"\\ud83d\\ude00"',
  '"\\ud83d"',
  '"\\udc00x"',
  '"\\x"',
  '"\\u12"',
  '"a\tb"',
  '"\u00e9\u{1f600}"',
].concat([
  '"__proto__"',
  '"constructor"',
  "'single'",
  '"open',
  '"asInt"',
  '"\\u0061sInt"',
  '"timeUnixNano"',
  '"AAA="',
  '"_-8"',
  '"zz"',
]);
const OTHERS = [
  'true',
  'false',
  'null',
  'tru',
  '{}',
  '[]',
  '[',
  '}',
  ',',
  ':',
  '{"a":1}',
  '/* */',
  ' ',
  '\ufeff',
  '[null]',
];
const DEPTHS = [2, 99, 101, 511, 513, 10_000];

/** Other text that is nearly the same JSON: one to three faults at the level of tokens, and now and then of bytes. */
export function mutateJson(bytes: Uint8Array, prng: Prng): Uint8Array {
  const tokens = new TextDecoder().decode(bytes).match(TOKEN) ?? [];
  const pick = <T>(values: readonly T[]): T => values[prng.below(values.length)] as T;
  for (let faults = 1 + prng.below(3); faults > 0; faults -= 1) {
    const at = prng.below(tokens.length);
    const token = tokens[at] ?? '';
    switch (prng.below(9)) {
      case 0:
        tokens.splice(at, 1);
        break;
      case 1:
        tokens.splice(at, 0, token);
        break;
      case 2:
      case 3:
        tokens[at] = pick(/^[-0-9]|^"[0-9]/.test(token) ? NUMBERS : token.startsWith('"') ? STRINGS : OTHERS);
        break;
      case 4:
        tokens[at] = pick([...NUMBERS, ...STRINGS, ...OTHERS]);
        break;
      case 5: {
        const depth = pick(DEPTHS);
        const [open, close] = pick([
          ['[', ']'],
          ['{"arrayValue":{"values":[', ']}}'],
          ['{"kvlistValue":{"values":[{"key":"a","value":', '}]}}'],
        ] as const);
        tokens[at] = open.repeat(depth) + (token === '' ? '1' : token) + close.repeat(depth);
        break;
      }
      case 6:
        tokens.splice(at, 0, `"unknown${prng.below(9)}"`, ':', pick([...NUMBERS, '{"a":[1,{"b":null}]}']), ',');
        break;
      case 7: {
        const other = prng.below(tokens.length);
        tokens[at] = tokens[other] ?? '';
        tokens[other] = token;
        break;
      }
      default:
        tokens.splice(at, 0, pick([' ', '\n\t', '\r', '\u00a0', '\u0001']));
    }
  }
  const text = new TextEncoder().encode(tokens.join(''));
  if (prng.below(8) === 0) return text.subarray(0, prng.below(text.length + 1));
  if (prng.below(8) === 0 && text.length > 0)
    text[prng.below(text.length)] = pick([0, 0x22, 0x5c, 0x80, 0xc0, 0xed, 0xff]);
  return text;
}
