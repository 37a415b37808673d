import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startApi, TOKENS } from '../support/api-server.ts';

const CREDENTIALS: Readonly<Record<string, string | null>> = {
  none: null,
  unknown: 'Bearer guess',
  push: 'Bearer push-secret',
  read: 'Bearer read-secret',
  operate: 'bearer operate-secret',
  'basic read': `Basic ${Buffer.from('anyone:read-secret').toString('base64')}`,
  'basic operate': `Basic ${Buffer.from(':operate-secret').toString('base64')}`,
  'basic without a colon': `Basic ${Buffer.from('read-secret').toString('base64')}`,
  'no scheme': 'operate-secret',
  'a prefix of a token': 'Bearer operate-secre',
};

/** Who may read (GET of everything but the open paths), and who may act. */
const MATRIX: Readonly<Record<keyof typeof CREDENTIALS, readonly [read: number, operate: number]>> = {
  none: [401, 401],
  unknown: [401, 401],
  push: [403, 403],
  read: [200, 403],
  operate: [200, 200],
  'basic read': [200, 403],
  'basic operate': [200, 200],
  'basic without a colon': [401, 401],
  'no scheme': [401, 401],
  'a prefix of a token': [401, 401],
};

const READ = [
  '/api/v1/slos',
  '/api/v1/slos/checkout-availability',
  '/api/v1/alerts',
  '/api/v1/incidents',
  '/api/v1/incidents/41',
  '/api/v1/fleet',
  '/api/v1/compare?attribute=configVersion&a=v%202%2Fb',
  '/api/v1/config-versions',
  '/api/v1/trends?weeks=8',
  '/api/v1/review',
  '/api/v1/scorecard?week=2026-W08',
  '/api/v1/cost?week=2026-W08',
  '/api/openapi.json',
  '/metrics',
  '/runbooks/ErrorBudgetBurn',
  '/a-page',
];
const OPEN = ['/healthz', '/readyz'];

describe('tokens', () => {
  for (const [who, authorization] of Object.entries(CREDENTIALS)) {
    const [read, operate] = MATRIX[who] ?? [0, 0];
    test(`${who}: reading ${read}, acting ${operate}, health 200`, async (t) => {
      const app = await startApi(t, {
        tokens: TOKENS,
        registerPages: (pages) => {
          pages.get('/a-page', () => 'page');
        },
      });
      const headers = authorization === null ? {} : { authorization };
      for (const url of READ) assert.equal((await app.inject({ url, headers })).statusCode, read, url);
      for (const url of OPEN) assert.equal((await app.inject({ url, headers })).statusCode, 200, url);
      const acting = await app.inject({ method: 'POST', url: '/api/v1/incidents/41/resolve', headers });
      assert.equal(acting.statusCode, operate);
    });
  }

  test('401 offers both ways to send a token, also where there is nothing', async (t) => {
    const app = await startApi(t, { tokens: TOKENS });
    for (const url of ['/api/v1/slos', '/nothing/here']) {
      const answer = await app.inject(url);
      assert.equal(answer.statusCode, 401);
      assert.equal(answer.json<{ code: string }>().code, 'API_UNAUTHORIZED');
      assert.deepEqual(answer.headers['www-authenticate'], [
        'Bearer realm="slowburn"',
        'Basic realm="slowburn", charset="UTF-8"',
      ]);
    }
  });

  test('403 names the token and the role that is needed, never the value', async (t) => {
    const app = await startApi(t, { tokens: TOKENS });
    const headers = { authorization: 'Bearer read-secret' };
    const answer = await app.inject({ method: 'POST', url: '/api/v1/incidents/41/resolve', headers });
    assert.match(answer.json<{ detail: string }>().detail, /"grafana" has role read; this needs operate/);
    assert.ok(!answer.body.includes('read-secret'));
  });

  test('two tokens of one value have the rights of both', async (t) => {
    const value = 'same';
    const app = await startApi(t, {
      tokens: [
        { name: 'a', role: 'read', value },
        { name: 'b', role: 'operate', value },
      ],
    });
    const headers = { authorization: `Bearer ${value}` };
    assert.equal((await app.inject({ method: 'POST', url: '/api/v1/incidents/41/resolve', headers })).statusCode, 200);
  });

  for (const [name, tokens] of [
    ['no token', []],
    ['only a push token', TOKENS.slice(0, 1)],
  ] as const) {
    test(`with ${name} in the configuration nothing is asked for`, async (t) => {
      const app = await startApi(t, { tokens });
      assert.equal((await app.inject('/api/v1/slos')).statusCode, 200);
      assert.equal((await app.inject({ method: 'POST', url: '/api/v1/incidents/41/resolve' })).statusCode, 200);
    });
  }
});

describe('pages of others cannot act', () => {
  const act = { method: 'POST' as const, url: '/api/v1/incidents/41/resolve' };
  const cases: readonly [name: string, headers: Record<string, string>, status: number][] = [
    ['a tool sends neither header', { host: 'sb.example:8080' }, 200],
    ['our own page', { host: '127.0.0.1:8080', 'sec-fetch-site': 'same-origin', origin: 'http://127.0.0.1:8080' }, 200],
    ['a person who typed it', { host: 'localhost:8080', 'sec-fetch-site': 'none' }, 200],
    ['a page of another site', { host: '127.0.0.1:8080', 'sec-fetch-site': 'cross-site' }, 403],
    ['a page of the same site, another port', { host: '127.0.0.1:8080', 'sec-fetch-site': 'same-site' }, 403],
    ['an old browser, our own page', { host: '10.0.0.5:8080', origin: 'http://10.0.0.5:8080' }, 200],
    ['an old browser, another page', { host: '10.0.0.5:8080', origin: 'http://evil.example' }, 403],
    ['an old browser, a sandboxed page', { host: '10.0.0.5:8080', origin: 'null' }, 403],
    ['the same host, another port', { host: '10.0.0.5:8080', origin: 'http://10.0.0.5:8081' }, 403],
    ['a name made to resolve to us', { host: 'evil.example:8080', 'sec-fetch-site': 'same-origin' }, 403],
    ['the same, old browser', { host: 'evil.example:8080', origin: 'http://evil.example:8080' }, 403],
    ['the name of externalUrl', { host: 'slowburn.example.com', 'sec-fetch-site': 'same-origin' }, 200],
    ['a name without a dot', { host: 'slowburn:8080', 'sec-fetch-site': 'same-origin' }, 200],
    ['IPv6', { host: '[::1]:8080', 'sec-fetch-site': 'same-origin' }, 200],
  ];
  for (const [name, headers, status] of cases) {
    test(`${name}: ${status}`, async (t) => {
      const app = await startApi(t, { externalUrl: 'https://slowburn.example.com/x' });
      const answer = await app.inject({ ...act, headers });
      assert.equal(answer.statusCode, status, answer.body);
      if (status === 403) assert.equal(answer.json<{ code: string }>().code, 'API_FORBIDDEN');
    });
  }

  test('with a token any name of ours is fine: a foreign page has no token', async (t) => {
    const app = await startApi(t, { tokens: TOKENS });
    const headers = {
      host: 'evil.example',
      'sec-fetch-site': 'same-origin',
      authorization: 'Bearer operate-secret',
    };
    assert.equal((await app.inject({ ...act, headers })).statusCode, 200);
    assert.equal(
      (await app.inject({ ...act, headers: { ...headers, 'sec-fetch-site': 'cross-site' } })).statusCode,
      403,
    );
  });

  test('forms of pages are held to the same', async (t) => {
    const app = await startApi(t, {
      registerPages: (pages) => {
        pages.post('/form', () => 'done');
      },
    });
    const headers = { 'sec-fetch-site': 'cross-site' };
    assert.equal((await app.inject({ method: 'POST', url: '/form', headers })).statusCode, 403);
    assert.equal((await app.inject({ method: 'POST', url: '/form' })).statusCode, 200);
  });

  test('reading is not restricted by where a link stands', async (t) => {
    const app = await startApi(t);
    const headers = { 'sec-fetch-site': 'cross-site', host: 'evil.example' };
    assert.equal((await app.inject({ url: '/runbooks/ErrorBudgetBurn', headers })).statusCode, 200);
  });
});

describe('headers', () => {
  for (const url of ['/api/v1/slos', '/runbooks/ErrorBudgetBurn', '/nothing', '/healthz', '/metrics', '/page']) {
    test(`${url} tells browsers what they may do with it`, async (t) => {
      const app = await startApi(t, {
        registerPages: (pages) => {
          pages.get('/page', () => 'x');
        },
      });
      const { headers } = await app.inject(url);
      const policy = String(headers['content-security-policy']);
      for (const part of ["default-src 'self'", "frame-ancestors 'none'", "object-src 'none'"]) {
        assert.ok(policy.split('; ').includes(part), part);
      }
      assert.ok(!policy.includes('unsafe'));
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers['referrer-policy'], 'same-origin');
      assert.equal(headers['cache-control'], 'no-store');
      assert.equal(headers['access-control-allow-origin'], undefined);
    });
  }
});
