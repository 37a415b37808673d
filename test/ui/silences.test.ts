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
  return { app, post, ...fake };
}

describe('/silences', () => {
  test('shows what is in force with a form to end it, and what could be HTML as text', async (t) => {
    const { app } = await start(t);
    const page = (await app.inject('/silences')).body;
    assert.match(page, /alertname=&quot;HostEjections&quot;/);
    assert.match(page, /host &lt;b&gt; is moved/);
    assert.match(page, /<form method="post" action="\/silences\/expire"><input type="hidden" name="id" value="6b0f">/);
    assert.doesNotMatch(page, /<script(?! src="\/assets\/)/);
  });

  test('previews before anything is done, and keeps what was typed', async (t) => {
    const { post, silenced } = await start(t);
    const page = await post('/silences/preview', { matchers: 'host=h1', duration: '2h', by: 'ada', comment: '' });
    assert.equal(page.statusCode, 200);
    assert.match(page.body, />host=h1<\/textarea>/);
    assert.match(page.body, /value="2h"/);
    assert.match(page.body, /It would mute/);
    assert.match(page.body, /href="\/incidents\/40"/);
    assert.deepEqual(silenced, []);
  });

  test('makes a silence for so long from now, and ends one', async (t) => {
    const { post, silenced } = await start(t);
    const fields = { matchers: 'host=h1\r\n\r\nzone=~"a|b"', duration: '2h', by: 'ada', comment: 'moved' };
    const made = await post('/silences', fields);
    assert.equal(made.statusCode, 303);
    assert.match(decodeURIComponent(String(made.headers.location)), /^\/silences\?message=Done: silence 6b0f until/);
    assert.equal((await post('/silences/expire', { id: '6b0f' })).statusCode, 303);
    assert.deepEqual(silenced, [
      {
        id: null,
        matchers: [
          { name: 'host', value: 'h1', isRegex: false, isEqual: true },
          { name: 'zone', value: 'a|b', isRegex: true, isEqual: true },
        ],
        startsAt: null,
        endsAt: '2026-03-01T05:42:10.000Z',
        createdBy: 'ada',
        comment: 'moved',
      },
      '6b0f',
    ]);
  });

  test('says what does not fit', async (t) => {
    const { post, silenced } = await start(t);
    const wrong = await post('/silences', { matchers: 'what', duration: '2h', by: 'ada', comment: '' });
    assert.equal(wrong.statusCode, 400);
    assert.match(wrong.body, /what is no matcher/);
    const long = await post('/silences', { matchers: 'a=b', duration: 'long', by: 'ada', comment: '' });
    assert.match(long.body, /write 30m, 2h or 1h30m/);
    assert.equal((await post('/silences/preview', { matchers: 'a=bad' })).statusCode, 400);
    assert.deepEqual(silenced, []);
    const refused = await post('/silences', { matchers: 'a=b', duration: '1h', by: 'ada', comment: 'bad' });
    assert.match(refused.body, /&quot;endsAt&quot; lies in the past/);
  });
});

test('an incident says which of its alerts are muted and why, and leads to a silence of each', async (t) => {
  const { app } = await start(t);
  const page = (await app.inject('/incidents/41')).body;
  assert.match(page, /Muted: 1 of 2 firing alerts; people are told of the others/);
  assert.match(page, /Muted: silence 6b0f by ada until/);
  assert.match(page, /Muted: inhibition by ErrorBudgetBurn/);
  const [, link = ''] = /href="(\/silences\?matchers=[^"]+)"/.exec(page) ?? [];
  assert.match((await app.inject(link)).body, />alertname=&quot;[^<]*\ncluster=&quot;checkout&quot;\nseverity=/);
});
