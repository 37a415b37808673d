import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costPage } from '../../src/ui/pages/cost.ts';
import { headroomWords, scorecardSection } from '../../src/ui/pages/scorecard.ts';
import { registerPages } from '../../src/ui/register.ts';
import { startApi } from '../support/api-server.ts';
import { createFakeCommands, createFakeQueries } from '../support/fake-queries.ts';
import { FAKE_COST, FAKE_SCORECARD } from '../support/fake-scorecard.ts';

const NEIGHBOURS = ['2026-W07', '2026-W09'] as const;

test('the cost page gives each service its share and amount, and a dash where nobody tells it', () => {
  const { markup } = costPage(FAKE_COST, NEIGHBOURS);
  assert.match(
    markup,
    /shop &lt;&amp;&gt;<\/th><td>75 % \(3,000\)<\/td><td>81 % \(1,000,000\)<\/td><td>100 % \(2\.5 GB\)/,
  );
  assert.match(markup, /search <small>cluster<\/small><\/th>.*<td>–<\/td><td>–<\/td><\/tr>/);
  assert.match(markup, /<td>not known<\/td>/);
  assert.match(markup, /no balancer tells its open connections/);
  assert.match(markup, /href="\/cost\/2026-W07".*href="\/cost\/2026-W09"/s);
});

test('a week of which nothing is known says so, and shows no zeros', () => {
  const { markup } = costPage({ ...FAKE_COST, services: [], versions: [], complete: false }, NEIGHBOURS);
  assert.match(markup, /Of this week nothing is known/);
  assert.match(markup, /No balancer tells its config version/);
  assert.match(markup, /the week is not over/);
});

test('the scorecard says in words what was met, missed and not known', () => {
  const { markup } = scorecardSection(FAKE_SCORECARD);
  assert.match(markup, /✓ met<\/span><\/td><td>3\.1 ms<\/td><td>below 5 ms/);
  assert.match(markup, /▲ missed<\/span><\/td><td>42 %<\/td><td>above 50 %<\/td><td>zone &lt;b&gt;/);
  assert.match(markup, /\? not known<\/span><\/td><td>–<\/td><td>below 25 %<\/td><td>no balancer tells/);
  assert.match(markup, /Headroom .*: 15 % \(lb-3, of 6/);
});

test('headroom below 0 is none, and unknown headroom says why', () => {
  const { headroom } = FAKE_SCORECARD;
  assert.match(headroomWords({ ...headroom, headroom: -0.2 }), /^none \(/);
  assert.equal(headroomWords({ ...headroom, headroom: null, detail: 'why' }), 'not known: why.');
});

test('a week has its page, no week has none, and /cost leads to the last whole one', async (t) => {
  const [queries, { commands }] = [createFakeQueries(), createFakeCommands()];
  const app = await startApi(t, { queries, registerPages: (server) => registerPages(server, { queries, commands }) });
  const page = await app.inject('/cost/2026-W08');
  assert.equal(page.statusCode, 200);
  assert.match(page.body, /<h1>Cost of services, 2026-W08<\/h1>/);
  assert.match(page.body, /<h2 id="scorecard">.*✓ met/s);
  assert.equal((await app.inject('/cost/2026-W54')).statusCode, 404);
  const latest = await app.inject('/cost');
  assert.equal(latest.statusCode, 303);
  assert.equal(latest.headers['location'], '/cost/2026-W08');
  const refused = await app.inject('/api/v1/cost?week=2026-48');
  assert.equal(refused.statusCode, 400);
  assert.match(refused.body, /ISO week/);
});
