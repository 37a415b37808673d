import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Queries } from '../../src/model/views.ts';
import { registerPages } from '../../src/ui/register.ts';
import { startApi } from '../support/api-server.ts';
import { FAKE_STAGES } from '../support/fake-history.ts';
import { createFakeCommands, createFakeQueries, FAKE_TREND_SERIES } from '../support/fake-queries.ts';

type Context = Parameters<typeof startApi>[0];

async function open(t: Context, path: string, over: Partial<Queries> = {}): Promise<string> {
  const queries = createFakeQueries(over);
  const { commands } = createFakeCommands();
  const app = await startApi(t, {
    queries,
    registerPages: (server) => registerPages(server, { queries, commands }),
  });
  const { statusCode, body } = await app.inject(path);
  assert.equal(statusCode, 200, path);
  assert.doesNotMatch(body, /NaN|undefined|Infinity|\[object/);
  assert.doesNotMatch(body, / style=| on[a-z]+="/, 'the policy allows neither');
  return body;
}

describe('pages of what was', () => {
  test('one SLO: thresholds beside burns, the course with its band, and where it went', async (t) => {
    const body = await open(t, '/slos/checkout-availability');
    assert.match(body, /14\.4x<\/td><td>18x over 1h<\/td><td>21\.4x over 5m<\/td><td><strong>▲ holds/);
    assert.match(body, /class="area band"/);
    assert.match(body, /gone in 31 h \(27 to 36 h\)/);
    assert.match(body, /41 Budget of &lt;checkout&gt;<\/a>/);
    assert.match(body, /75 % of these/);
    assert.match(body, /14,835\.25/);
  });

  test('the figures of the chart are those of its table', async (t) => {
    const body = await open(t, '/slos/checkout-availability');
    assert.match(body, /aria-label="Budget left from 50 % to 21\.66 %; lowest 21\.66 %/);
    assert.match(body, /<td>14,835\.25<\/td><td>70,000<\/td><td>21\.66 %<\/td>/);
  });

  test('a group that is not there is said, and the ways to the others', async (t) => {
    assert.match(await open(t, '/slos/checkout-availability?group=nowhere'), /No data: no balancer has pushed/);
  });

  test('stages: what nobody reports is said to be missing, never drawn', async (t) => {
    const body = await open(t, '/stages');
    assert.match(body, /Not reported here by any balancer: write\. That is no zero\./);
    assert.equal(body.match(/<figure/g)?.length, 4);
    assert.match(body, /<th scope="row">write<\/th><td><span class="state no_data">not reported/);
    assert.match(body, /37 %/);
    assert.match(body, /500 ms/);
  });

  test('stages of a zone say what they cannot', async (t) => {
    assert.match(await open(t, '/stages?zone=a'), /Stages of one zone or balancer are kept for 3 h/);
  });

  test('traffic: requests, resumption, and skew with every figure in its cell', async (t) => {
    const body = await open(t, '/traffic?by=host&skew=host&cluster=checkout');
    assert.match(body, /<td>36 of 3,600<\/td><td>1 %<\/td><td>2 ms<\/td>/);
    assert.match(body, /<td class="cell h5">2\.1<\/td>/);
    assert.match(body, /<td class="cell ">–<\/td>/);
    assert.match(body, /10\.0\.3\.7 carries 2\.10x the mean/);
    assert.match(body, /&lt;www&gt;\.example\.com/);
    assert.match(body, /<option value="host" selected>/);
  });

  test('skew over weeks is asked for by its own link, drawn by day, and told in a table', async (t) => {
    const plain = await open(t, '/traffic?skew=zone');
    assert.match(plain, /href="\/traffic\?by=cluster&amp;skew=zone&amp;range=1h&amp;weeks=13&amp;cluster=checkout#weeks">13<\/a>/);
    assert.doesNotMatch(plain, /class="strips"/);
    const asked: unknown[] = [];
    const trendSeries: Queries['trendSeries'] = (given) => {
      asked.push(given);
      return { ...FAKE_TREND_SERIES, ...given, until: FAKE_TREND_SERIES.until };
    };
    const zones = await open(t, '/traffic?skew=zone&cluster=checkout&weeks=5', { trendSeries });
    assert.match(zones, /aria-label="cluster checkout, zone b &lt;&amp;&gt;: 1\.01 at first, 1\.31 at last, 1\.31 at most"/);
    assert.match(zones, /<rect class="h5" x="8"[^>]*><title>2026-03-01: 1\.31<\/title>/);
    assert.match(zones, /<td>1\.01<\/td><td>–<\/td><td>1\.31<\/td>/);
    assert.doesNotMatch(zones, /cluster search/);
    const hosts = await open(t, '/traffic?skew=host&weeks=5', { trendSeries });
    assert.match(hosts, /<td>1\.00 \(10\.0\.3\.7\)<\/td>/);
    await open(t, '/traffic?weeks=9', { trendSeries });
    assert.deepEqual(asked, [
      { measure: 'zone_skew', until: null, weeks: 5 },
      { measure: 'host_skew', until: null, weeks: 5 },
    ]);
    const none = await open(t, '/traffic?weeks=5', { trendSeries: () => ({ ...FAKE_TREND_SERIES, rows: [] }) });
    assert.match(none, /No hour of that time is stored/);
  });

  test('in the first minute stages say that it is too early, and since when they listen', async (t) => {
    const [from, to] = ['2026-03-01T03:42:00.000Z', '2026-03-01T03:42:00.000Z'];
    const body = await open(t, '/stages', { stages: () => ({ ...FAKE_STAGES, from, to }) });
    assert.match(body, /Not yet: 2 balancers have been heard since <time datetime="2026-03-01T03:42:00\.000Z">/);
    assert.doesNotMatch(body, /not reported|<figure/);
  });

  test('before any balancer is heard they say so', async (t) => {
    const none = { stages: () => null, red: () => null, tls: () => null, skew: () => null };
    for (const path of ['/stages', '/traffic']) assert.match(await open(t, path, none), /No balancer has pushed yet/);
  });

  test('what an address asks for wrongly is as if it had not been asked', async (t) => {
    await open(t, '/traffic?by=__proto__&skew=x&range=9y&cluster=');
    await open(t, '/stages?range=9y&range=1h');
    await open(t, '/slos/checkout-availability?range=9y');
  });
});
