import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { callerOf } from '../../src/api/caller.ts';
import { startApi, TOKENS } from '../support/api-server.ts';

describe('pages beside the API', () => {
  test('parsers that pages add do not open the API to forms', async (t) => {
    const app = await startApi(t, {
      registerPages: (pages) => {
        pages.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_, body, done) => {
          done(null, body);
        });
        pages.get('/', () => 'home');
        pages.post('/form', (request) => String(request.body));
      },
    });
    assert.equal((await app.inject('/')).body, 'home');
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const form = await app.inject({ method: 'POST', url: '/form', headers, payload: 'by=ana' });
    assert.equal(form.body, 'by=ana');
    const api = await app.inject({ method: 'POST', url: '/api/v1/incidents/41/note', headers, payload: 'note=x' });
    assert.equal(api.statusCode, 415);
  });

  test('pages know who asks', async (t) => {
    const app = await startApi(t, {
      tokens: TOKENS,
      registerPages: (pages) => {
        pages.get('/who', (request) => callerOf(request).name);
      },
    });
    const headers = { authorization: 'Bearer operate-secret' };
    assert.equal((await app.inject({ url: '/who', headers })).body, 'ana');
  });

  test('pages stay out of the document, and their paths know their methods', async (t) => {
    const app = await startApi(t, {
      registerPages: async (pages) => {
        pages.get('/incidents/:id', () => 'page');
      },
    });
    const { paths } = (await app.inject('/api/openapi.json')).json<{ paths: object }>();
    assert.ok(!('/incidents/{id}' in paths));
    assert.equal((await app.inject({ method: 'POST', url: '/incidents/1' })).statusCode, 405);
  });
});
