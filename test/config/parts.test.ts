import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decimalText, parseDecimal } from '../../src/base/decimal.ts';
import type { Problem } from '../../src/config/config.ts';
import { digest } from '../../src/config/digest.ts';
import { formatProblem, sortProblems } from '../../src/config/report.ts';
import { isHttpUrl } from '../../src/config/resolve-receivers.ts';
import { child, type SourceNode, textOf, toPlain } from '../../src/config/source.ts';
import { chooseFrom, editDistance, nearest } from '../../src/config/suggest.ts';
import { parseYaml } from '../../src/config/yaml-source.ts';

function parse(text: string): { readonly roots: readonly SourceNode[]; readonly codes: readonly string[] } {
  const problems: Problem[] = [];
  const documents = parseYaml('x.yaml', text, problems);
  return { roots: documents.map(({ root }) => root), codes: problems.map((problem) => problem.code) };
}

describe('parseYaml', () => {
  it('keeps the characters of a number and the place of every key and value', () => {
    const [root] = parse('a:\n  target: 0.9990\n').roots;
    assert.deepEqual(textOf(child(child(root, 'a'), 'target')), '0.9990');
    assert.deepEqual(child(child(root, 'a'), 'target')?.at, { line: 2, column: 11 });
  });

  it('reads several documents and skips empty ones', () => {
    assert.equal(parse('---\n---\na: 1\n---\n# only a comment\n---\nb: 2\n').roots.length, 2);
  });

  it('expands aliases, and stops those that never end', () => {
    assert.deepEqual(
      JSON.stringify(toPlain(parse('a: &x { q: 1 }\nb: *x\n').roots[0] as SourceNode)),
      '{"a":{"q":1},"b":{"q":1}}',
    );
    const levels = Array.from(
      { length: 12 },
      (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level},`.repeat(9)}]`,
    );
    assert.deepEqual(parse(`l0: &l0 x\n${levels.join('\n')}\n`).codes, ['CONFIG_YAML_TOO_LARGE']);
    assert.deepEqual(parse('a: &a [ *a ]\n').codes, ['CONFIG_YAML_TOO_LARGE']);
  });

  it('keeps a key called __proto__ an ordinary key', () => {
    const plain = toPlain(parse('__proto__: { polluted: true }\n').roots[0] as SourceNode);
    assert.deepEqual(Object.keys(plain as object), ['__proto__']);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });

  it('never throws, whatever the text', () => {
    const piece = fc.constantFrom(
      'a',
      ':',
      ' ',
      '\n',
      '- ',
      '{',
      '}',
      '[',
      ']',
      '"',
      "'",
      '&a',
      '*a',
      '!t',
      '|',
      '#',
      '~',
      '---',
      '\t',
      '?',
      '0.9',
      '<<',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        for (const root of parse(pieces.join('')).roots) toPlain(root);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('suggestions', () => {
  it('finds the name that was meant and nothing far away', () => {
    assert.equal(nearest('lb.request', ['lb.requests', 'lb.retries']), 'lb.requests');
    assert.equal(nearest('HOSTEJECTIONS', ['HostEjections']), 'HostEjections');
    assert.equal(nearest('zzz', ['lb.requests', 'lb.retries']), undefined);
    assert.equal(chooseFrom('zzz', ['aa', 'bb']), 'use one of aa, bb');
  });

  it('measures a distance: symmetric, 0 only between equals, at most the longer text', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
        const distance = editDistance(a, b);
        assert.equal(distance, editDistance(b, a));
        assert.equal(distance === 0, a === b);
        assert.ok(distance <= Math.max(a.length, b.length) && distance >= Math.abs(a.length - b.length));
      }),
    );
  });
});

describe('small parts', () => {
  it('digests texts to 14 hexadecimal digits that stay the same over releases', () => {
    // FNV-1a 64 of the empty text is cbf29ce484222325 and of `a` af63dc4c8601ec8c; the low 53 bits are kept.
    assert.equal(digest(''), '129ce484222325');
    assert.equal(digest('a'), '03dc4c8601ec8c');
    assert.notEqual(digest('ab'), digest('ba'));
  });

  it('writes decimals without needless zeros', () => {
    for (const [text, expected] of [
      ['0.9990', '0.999'],
      ['12', '12'],
      ['0.05', '0.05'],
      ['100.00', '100'],
      ['0.0', '0'],
    ]) {
      const decimal = parseDecimal(text ?? '');
      assert.ok(decimal !== undefined);
      assert.equal(decimalText(decimal), expected);
    }
  });

  it('tells absolute URLs from the rest', () => {
    for (const url of ['http://a', 'https://a.b:8443/c?d#e', 'http://[::1]:9000/x', 'https://user:pw@a/b']) {
      assert.ok(isHttpUrl(url), url);
    }
    for (const url of ['', 'a/b', 'ftp://a', 'http://', 'http:///x', 'http://a:99999', 'http://a b', 'https://:80']) {
      assert.ok(!isHttpUrl(url), url);
    }
  });

  it('sorts findings by place and drops repetitions', () => {
    const at = (file: string, line: number, column: number, code = 'CONFIG_A'): Problem => ({
      severity: 'error',
      file,
      line,
      column,
      code,
      message: 'm',
      fix: 'f',
    });
    const sorted = sortProblems([at('b', 1, 1), at('a', 10, 2), at('a', 9, 30), at('a', 10, 2), at('a', 9, 4)]);
    assert.deepEqual(sorted.map(formatProblem), [
      'a:9:4 CONFIG_A m, f',
      'a:9:30 CONFIG_A m, f',
      'a:10:2 CONFIG_A m, f',
      'b:1:1 CONFIG_A m, f',
    ]);
  });
});
