import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { registerPages } from '../../src/ui/register.ts';
import { startApi } from '../support/api-server.ts';
import { createFakeCommands, createFakeQueries } from '../support/fake-queries.ts';

async function start(t: TestContext) {
  const queries = createFakeQueries();
  const fake = createFakeCommands();
  const app = await startApi(t, {
    queries,
    commands: fake.commands,
    registerPages: (server) => registerPages(server, { queries, commands: fake.commands }),
  });
  const post = (url: string, fields: Readonly<Record<string, string>>) =>
    app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(fields).toString(),
    });
  const get = async (url: string): Promise<string> => {
    const { statusCode, body } = await app.inject(url);
    assert.equal(statusCode, 200, url);
    assert.doesNotMatch(body, /NaN|undefined|Infinity|\[object| style=| on[a-z]+=["']/);
    return body;
  };
  return { app, post, get, ...fake };
}

const FIELDS = {
  kind: 'bad_data',
  slo: 'checkout-availability',
  matchers: 'lb.upstream.cluster=checkout\r\n',
  from: '2026-03-01T02:00',
  to: '2026-03-01T03:00',
  reason: 'the collector lied',
  by: 'ada',
};

describe('/corrections', () => {
  test('lists what runs, what repeats and what was undone, and shows text as text', async (t) => {
    const { get } = await start(t);
    const page = await get('/corrections');
    assert.match(page, /<a href="\/corrections\/3">3 database &lt;upgrade&gt;<\/a>/);
    assert.match(page, /tue, thu at 02:00 Europe\/Berlin for 90 min, from 2026-01-01; next <time/);
    assert.match(page, /<summary>1 undone<\/summary>/);
    assert.match(page, /<option value="checkout-latency:p99 \/ 300 ms">/);
  });

  test('the address fills in the form, so that a link can ask for one', async (t) => {
    const { get } = await start(t);
    const page = await get('/corrections?slo=checkout-availability&from=2026-03-01T02:00&on-tue=tue');
    assert.match(page, /<option value="checkout-availability" selected>/);
    assert.match(page, /name="from" type="datetime-local" value="2026-03-01T02:00"/);
    assert.match(page, /value="tue" checked/);
  });

  test('previews what it would do to budgets, keeps what was typed and makes nothing', async (t) => {
    const { post, corrected } = await start(t);
    const page = await post('/corrections/preview', FIELDS);
    assert.equal(page.statusCode, 200);
    assert.match(page.body, /It would do this/);
    assert.match(page.body, /<td>80<\/td><td>1,200<\/td><td>-50 %<\/td><td>21\.66 %<\/td>/);
    assert.match(page.body, /value="the collector lied"/);
    assert.deepEqual(corrected, []);
  });

  test('makes one, once or again and again', async (t) => {
    const { post, corrected } = await start(t);
    const made = await post('/corrections', FIELDS);
    assert.equal(made.statusCode, 303);
    assert.match(String(made.headers.location), /^\/corrections\/3\?message=Done/);
    const { from: _from, to: _to, ...rest } = FIELDS;
    const weekly = { ...rest, slo: '', 'on-mon': 'mon', start: '02:00', duration: '1h30m', zone: 'Europe/Berlin' };
    await post('/corrections', { ...weekly, firstDate: '2026-03-02', lastDate: '' });
    assert.deepEqual(corrected, [
      {
        kind: 'bad_data',
        reason: 'the collector lied',
        by: 'ada',
        slos: ['checkout-availability'],
        matchers: ['lb.upstream.cluster=checkout'],
        from: '2026-03-01T02:00:00Z',
        to: '2026-03-01T03:00:00Z',
        recurring: null,
      },
      {
        kind: 'bad_data',
        reason: 'the collector lied',
        by: 'ada',
        slos: [],
        matchers: ['lb.upstream.cluster=checkout'],
        from: null,
        to: null,
        recurring: {
          weekdays: ['mon'],
          start: '02:00',
          durationSeconds: 5400,
          zone: 'Europe/Berlin',
          firstDate: '2026-03-02',
          lastDate: null,
        },
      },
    ]);
  });

  test('says what does not fit, with the form as it was', async (t) => {
    const { post } = await start(t);
    for (const path of ['/corrections', '/corrections/preview']) {
      const wrong = await post(path, { ...FIELDS, reason: 'bad' });
      assert.equal(wrong.statusCode, 400);
      assert.match(wrong.body, /&quot;to&quot; must lie after &quot;from&quot;/);
      assert.match(wrong.body, /value="2026-03-01T02:00"/);
    }
  });

  test('one of them: its effect, its record, and how to end it or take it back', async (t) => {
    const { get, post, corrected, app } = await start(t);
    const page = await get('/corrections/3');
    assert.match(page, /<td>-50 %<\/td><td>21\.66 %<\/td>/);
    assert.match(page, /correction\.create/);
    assert.match(page, /action="\/corrections\/3\/end"/);
    assert.match((await post('/corrections/3/end', { by: 'ada', reason: ' ' })).headers.location ?? '', /reason/);
    await post('/corrections/3/end', { by: 'ada', reason: 'ready early' });
    await post('/corrections/3/undo', { by: '', reason: 'wrong cluster' });
    assert.deepEqual(corrected, [
      { id: 3, kind: 'end', by: 'ada', reason: 'ready early' },
      { id: 3, kind: 'undo', by: 'unknown', reason: 'wrong cluster' },
    ]);
    const gone = await get('/corrections/2');
    assert.doesNotMatch(gone, /action="\/corrections\/2/);
    assert.match(gone, /Undone <time[^>]*>[^<]*<\/time> by bob: wrong cluster/);
    assert.match(
      (await post('/corrections/2/undo', { reason: 'x' })).headers.location ?? '',
      /was%20undone%20by%20bob/,
    );
    assert.equal((await app.inject('/corrections/99')).statusCode, 404);
  });
});

test('the API previews too, and says what does not fit', async (t) => {
  const { app, corrected } = await start(t);
  const ask = (payload: object) => app.inject({ method: 'POST', url: '/api/v1/corrections/preview', payload });
  const body = { reason: 'x', slos: ['checkout-availability'], from: '2026-03-01T02:00:00Z', to: FIELDS.to };
  const good = await ask(body);
  assert.equal(good.statusCode, 200, good.body);
  assert.equal(good.json<{ effects: { bad: number }[] }>().effects[0]?.bad, 80);
  assert.equal((await ask({ ...body, reason: 'bad' })).statusCode, 400);
  assert.equal((await ask({ ...body, odd: 1 })).statusCode, 400);
  assert.deepEqual(corrected, []);
});
