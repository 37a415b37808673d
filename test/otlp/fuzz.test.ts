import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPrng } from '../../src/base/prng.ts';
import { compareDecoders, type Verdict } from '../support/fuzz-agreement.ts';
import { randomBody } from '../support/fuzz-bodies.ts';

const SEEDS = [1, 2, 3];
const BODIES_PER_SEED = 400;
const NOW = 1_800_000_000_000;

/** `npm run fuzz -- otlp` sends more of the same to the running service. */
describe('mutated bodies', () => {
  test('every one is refused as malformed, or read as protobufjs reads it', () => {
    const verdicts: Record<string, number> = {};
    for (const seed of SEEDS) {
      const prng = createPrng(seed);
      for (let index = 0; index < BODIES_PER_SEED; index += 1) {
        const body = randomBody(prng, NOW);
        const verdict: Verdict = compareDecoders(body);
        verdicts[`${body.encoding} ${verdict.kind}`] = (verdicts[`${body.encoding} ${verdict.kind}`] ?? 0) + 1;
        const hex = Buffer.from(body.body ?? body.wire).toString('hex');
        assert.notEqual(verdict.kind, 'differ', `seed ${seed}, body ${index}: ${JSON.stringify(verdict)}\n${hex}`);
      }
    }
    // A generator that makes nothing but rubbish, or nothing but sound bodies, tests nothing.
    for (const kind of ['protobuf agree', 'protobuf refused', 'json agree', 'json refused']) {
      assert.equal((verdicts[kind] ?? 0) >= 50, true, `${kind}: ${verdicts[kind]}`);
    }
    const bodies = SEEDS.length * BODIES_PER_SEED;
    const lenient = (verdicts['protobuf lenient'] ?? 0) + (verdicts['json lenient'] ?? 0);
    assert.equal(lenient <= bodies / 100, true, `${lenient} of ${bodies} bodies are read that protobufjs refuses`);
  });
});
