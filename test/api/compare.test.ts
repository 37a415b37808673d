import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ComparisonAsked } from '../../src/model/views.ts';
import { registerPages } from '../../src/ui/register.ts';
import { startApi } from '../support/api-server.ts';
import { runCommand } from '../support/command.ts';
import { createFakeCommands, createFakeQueries, FAKE_COMPARISON } from '../support/fake-queries.ts';

const A = encodeURIComponent(FAKE_COMPARISON.a);

describe('GET /api/v1/compare', () => {
  test('asks for what was written, 1 in 1,000 with 95 % unless told otherwise', async (t) => {
    const asked: ComparisonAsked[] = [];
    const queries = createFakeQueries({
      compare: (given) => {
        asked.push(given);
        return FAKE_COMPARISON;
      },
    });
    const app = await startApi(t, { queries });
    assert.equal((await app.inject(`/api/v1/compare?attribute=configVersion&a=${A}`)).statusCode, 200);
    const full = 'attribute=zone&a=a&b=b&cluster=shop&shadow=true&window=30m&fault=0.01&confidence=0.99';
    assert.equal((await app.inject(`/api/v1/compare?${full}`)).statusCode, 200);
    const common = { configKind: null, b: null, cluster: null, shadow: null, windowSeconds: null };
    assert.deepEqual(asked, [
      { ...common, attribute: 'configVersion', a: 'v 2/b', fault: 0.001, confidence: 0.95 },
      {
        attribute: 'zone',
        a: 'a',
        b: 'b',
        configKind: null,
        cluster: 'shop',
        shadow: true,
        windowSeconds: 1800,
        fault: 0.01,
        confidence: 0.99,
      },
    ]);
  });

  test('says what does not fit, and what is not there', async (t) => {
    const app = await startApi(t);
    const cases: readonly [query: string, status: number, says: RegExp][] = [
      ['attribute=configVersion', 400, /"a"|'a'|required/],
      ['attribute=colour&a=x', 400, /attribute/],
      ['attribute=configVersion&a=v2&cluster=shop', 400, /goes with attribute=zone/],
      ['attribute=zone&a=a&kind=cds', 400, /goes with attribute=configVersion/],
      ['attribute=zone&a=a&b=a', 400, /the same as a/],
      ['attribute=zone&a=a&window=7d', 400, /no duration from 1m to 6h/],
      ['attribute=zone&a=a&fault=0', 400, /fault/],
      ['attribute=zone&a=nowhere', 404, /nothing to compare: nobody runs nowhere/],
    ];
    for (const [query, status, says] of cases) {
      const answer = await app.inject(`/api/v1/compare?${query}`);
      assert.equal(answer.statusCode, status, query);
      assert.match(answer.body, says, query);
    }
  });
});

test('the page shows verdict, sample and exposure without a script, and the fleet page leads there', async (t) => {
  const queries = createFakeQueries();
  const { commands } = createFakeCommands();
  const app = await startApi(t, { queries, registerPages: (server) => registerPages(server, { queries, commands }) });
  const fleet = (await app.inject('/fleet')).body;
  assert.ok(fleet.includes(`href="/compare?attribute=configVersion&amp;a=${A}"`), fleet);
  const page = (await app.inject(`/compare?attribute=configVersion&a=${A}`)).body;
  assert.match(page, /a fault of 1 in 1,000 needs 2,995 to be seen with 95 %/);
  assert.match(page, /needs 2,995 requests/);
  assert.match(page, /1 of 20 balancers \(5 %\)/);
  assert.doesNotMatch(page, /<script(?! src="\/assets\/)/);
  assert.match((await app.inject('/compare?a=nothing')).body, /There is nothing to compare: nobody runs nothing\./);
  assert.equal((await app.inject('/compare')).statusCode, 200);
});

test('slowburn compare prints it, and exits 1 unless a is no worse', async (t) => {
  let verdict = FAKE_COMPARISON.verdict;
  const queries = createFakeQueries({ compare: () => ({ ...FAKE_COMPARISON, verdict }) });
  const app = await startApi(t, { queries });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const run = (...args: readonly string[]) => runCommand('/', ['compare', ...args], { SLOWBURN_URL: url });
  const held = await run('--a', 'v 2/b');
  assert.equal(held.code, 1);
  assert.match(held.stdout, /^hold: 1,200 requests.*\n/);
  assert.match(held.stdout, /exposed: 1 of 20 balancers \(5 %\) in 1 batches/);
  verdict = 'no_worse';
  const fine = await run('--a', 'v 2/b', '--json');
  assert.equal(fine.code, 0);
  assert.equal(JSON.parse(fine.stdout).verdict, 'no_worse');
  assert.equal((await run()).code, 2);
});
