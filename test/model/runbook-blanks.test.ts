import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type BlankContext, type BlankValues, blankValuesOf, fillBlanks } from '../../src/model/runbook-blanks.ts';
import { shippedRunbooks } from '../support/runbooks.ts';

/** The text with what was filled in; blanks that stay as they were. */
const filled = (text: string, context: BlankContext, values: BlankValues): string =>
  fillBlanks(text, context, values)
    .map((part) => (part.kind === 'text' ? part.text : (part.value ?? `{${part.name}}`)))
    .join('');

const HOSTILE = [
  'a; touch /tmp/pwned',
  '$(reboot)',
  '`reboot`',
  "x'; reboot; '",
  '"; reboot; "',
  'a && b | c > d',
  'outbound|80||reviews.default.svc.cluster.local',
  '-oProxyCommand=reboot',
  '--output=/etc/passwd',
  '~root',
  '*',
  '\\',
  "'",
  'a b',
  '!!',
  '#x',
  '{host}',
  '"} or up{job="x',
  'x" or vector(1) or y{z="',
  'umlaut ü',
];
const UNPRINTABLE = [
  'a\nreboot',
  'a\rb',
  'a\u0003b',
  'a\u001b[2Jb',
  '\u202egnp',
  'a\u2028b',
  '\ud800',
  'x'.repeat(501),
  '\0',
];

describe('a value in a command', () => {
  const words = (command: string): string => execFileSync('/bin/sh', ['-c', command], { encoding: 'utf8' });

  test('reaches the shell as that value, whatever it says', () => {
    const safe = HOSTILE.filter((value) => !value.startsWith('-'));
    const script = safe.map((host) => filled('printf "%s\\n" {host}', 'shell', { host })).join('\n');
    assert.deepEqual(words(script).trimEnd().split('\n'), safe);
  });

  test('of any characters is one word, or stays blank', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', maxLength: 12 }), { minLength: 100, maxLength: 100 }),
        (hosts) => {
          const kept = hosts.filter((host) => !filled('{host}', 'shell', { host }).includes('{host}') && host !== '');
          const script = kept.map((host) => filled('printf "%s\\n" x={host}', 'shell', { host })).join('\n');
          assert.deepEqual(
            words(script).split('\n').slice(0, -1),
            kept.map((host) => `x=${host}`),
          );
        },
      ),
      { numRuns: 5 },
    );
  });

  test('that would be an option, or that a terminal obeys, stays blank', () => {
    for (const host of UNPRINTABLE) assert.equal(filled('curl {host}', 'shell', { host }), 'curl {host}');
    for (const host of ['-x', '--output=/etc/passwd']) {
      assert.equal(filled('curl {host}', 'shell', { host }), 'curl {host}');
      assert.equal(
        filled('curl --data-urlencode host={host}', 'shell', { host }),
        `curl --data-urlencode host='${host}'`,
      );
    }
  });

  test('is encoded in an address, so that it neither changes host nor query', () => {
    const values = { slowburn: 'http://127.0.0.1:8080', slo: "a/../b?c=d&e'f", host: 'evil.example/x@y' };
    assert.equal(
      filled('curl -s {slowburn}/api/v1/slos/{slo}', 'shell', values),
      'curl -s http://127.0.0.1:8080/api/v1/slos/a%2F..%2Fb%3Fc%3Dd%26e%27f',
    );
    assert.equal(filled('curl http://{host}/', 'shell', values), 'curl http://evil.example/x@y/');
    assert.equal(filled('curl http://{host}/', 'shell', { host: '10.0.3.7:8080' }), 'curl http://10.0.3.7:8080/');
  });

  test('goes plain or not at all where something reads it as commands once more', () => {
    for (const line of [
      'echo disable server {cluster}/h | socat stdio /run/admin.sock',
      'ssh {cluster} uptime',
      "sh -c 'echo {cluster}'",
      'echo "{cluster}"',
      'jq \'.x == "{cluster}"\'',
      'x | xargs curl {cluster}',
    ]) {
      assert.equal(filled(line, 'shell', { cluster: 'app-1' }), line.replace('{cluster}', 'app-1'));
      for (const cluster of HOSTILE) assert.equal(filled(line, 'shell', { cluster }), line, cluster);
    }
  });

  test('in every command of every runbook leaves it one command of as many words', () => {
    let commands = 0;
    for (const { blocks } of shippedRunbooks()) {
      for (const { language, text } of blocks) {
        if (language !== 'sh') continue;
        for (const value of HOSTILE) commands += checkCommand(text, value);
      }
    }
    assert.ok(commands > 300, `${commands}`);
  });
});

/** What is written for a value is a plain word, a quoted one, an encoded one, or nothing. */
function checkCommand(text: string, value: string): number {
  let count = 0;
  const values = {
    slo: value,
    cluster: value,
    host: value,
    balancer: value,
    certificate: value,
    config_version: value,
  };
  for (const part of fillBlanks(text, 'shell', values)) {
    if (part.kind === 'text' || part.value === null) continue;
    count += 1;
    assert.match(part.value, /^(?:'(?:[^']|'\\'')*'|[A-Za-z0-9._~:%/@+-]+)$/);
  }
  return count;
}

describe('a value in a query', () => {
  test('is that string, whatever it says', () => {
    for (const cluster of HOSTILE) {
      const query = filled('sum(lb_requests_total{lb_upstream_cluster="{cluster}"})', 'promql', { cluster });
      const [, literal = ''] =
        /^sum\(lb_requests_total\{lb_upstream_cluster=("(?:[^"\\]|\\.)*")\}\)$/.exec(query) ?? [];
      assert.equal(JSON.parse(literal), cluster);
    }
  });

  test('stays blank where it would be obeyed', () => {
    for (const query of [
      'x{a=~"{cluster}"}',
      'x{a!~"{cluster}"}',
      'x{a="b{cluster}"}',
      'topk({cluster}, x)',
      "x{a='{cluster}'}",
    ]) {
      assert.equal(filled(query, 'promql', { cluster: 'app' }), query);
    }
    for (const cluster of UNPRINTABLE) {
      assert.equal(filled('x{a="{cluster}"}', 'promql', { cluster }), 'x{a="{cluster}"}');
    }
  });
});

describe('blanks', () => {
  test('are filled once: what a value says is no blank', () => {
    assert.equal(filled('x {host}', 'prose', { host: '{cluster}', cluster: 'c' }), 'x {cluster}');
  });

  test('other braces are left alone', () => {
    const text = '{unknown} {labels, state} %{http_code} {constructor}';
    assert.deepEqual(fillBlanks(text, 'shell', {}), [{ kind: 'text', text }]);
  });

  test('come from labels and place of an alert', () => {
    const labels = {
      configVersion: 'v2',
      configKind: 'routes',
      cluster: 'app',
      zone: '',
      alertname: 'X',
      constructor: 'y',
    };
    assert.deepEqual(blankValuesOf(labels), { config_version: 'v2', config_kind: 'routes', cluster: 'app' });
  });

  test('in code of another kind are filled with plain values only', () => {
    assert.equal(filled('server {host}', 'code', { host: '10.0.0.1:80' }), 'server 10.0.0.1:80');
    assert.equal(filled('server {host}', 'code', { host: 'a; b' }), 'server {host}');
  });
});
