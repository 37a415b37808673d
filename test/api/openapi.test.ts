import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { startApi } from '../support/api-server.ts';

type Json = Readonly<Record<string, unknown>>;
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly description?: string }[];
  readonly requestBody?: { readonly required: boolean };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Json }>>;
}
interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>>; readonly securitySchemes: Json };
}

async function readDocument(t: TestContext): Promise<Document> {
  const app = await startApi(t);
  return (await app.inject('/api/openapi.json')).json<Document>();
}

const operationsOf = (document: Document): [name: string, path: string, operation: Operation][] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      path,
      operation,
    ]),
  );

/** Every value under `key`, anywhere. */
function valuesOf(value: unknown, key: string): unknown[] {
  if (Array.isArray(value)) return value.flatMap((one) => valuesOf(one, key));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => (name === key ? [one] : valuesOf(one, key)));
}

const ACTIONS = ['acknowledge', 'unacknowledge', 'resolve', 'reopen', 'snooze', 'note', 'update', 'merge', 'split'];
const ROUTES = [
  'GET /api/openapi.json',
  'GET /api/v1/alerts',
  'GET /api/v1/corrections',
  'GET /api/v1/corrections/{id}',
  'POST /api/v1/corrections/preview',
  'GET /api/v1/actions',
  'GET /api/v1/compare',
  'GET /api/v1/incidents/{id}/timeline',
  'POST /api/v1/incidents/{id}/actions',
  'POST /api/v1/actions/{id}/done',
  'POST /api/v1/actions/{id}/reopen',
  'GET /api/v1/config-versions',
  'GET /api/v1/config-versions/{version}/health',
  'GET /api/v1/fleet',
  'GET /api/v1/trends',
  'GET /api/v1/trends/series',
  'GET /api/v1/incidents',
  'GET /api/v1/incidents/{id}',
  'GET /api/v1/slos',
  'GET /api/v1/slos/{id}',
  'GET /api/v1/slos/{id}/history',
  'GET /api/v1/stages',
  'GET /api/v1/red',
  'GET /api/v1/tls',
  'GET /api/v1/skew',
  'GET /api/v1/events',
  'GET /api/v1/silences',
  'GET /api/v1/silences/{id}',
  'POST /api/v1/silences',
  'POST /api/v1/silences/preview',
  'DELETE /api/v1/silences/{id}',
  'GET /api/v2/alerts',
  'GET /api/v2/receivers',
  'GET /api/v2/silences',
  'POST /api/v2/silences',
  'GET /api/v2/silence/{id}',
  'DELETE /api/v2/silence/{id}',
  'GET /api/v2/status',
  'GET /healthz',
  'GET /metrics',
  'GET /metrics/runtime',
  'GET /readyz',
  'GET /runbooks/{name}',
  'POST /api/v1/corrections',
  'POST /api/v1/corrections/{id}/end',
  'POST /api/v1/corrections/{id}/undo',
  'POST /api/v2/alerts',
  'POST /api/v2/webhook',
  ...ACTIONS.map((action) => `POST /api/v1/incidents/{id}/${action}`),
];

describe('/api/openapi.json', () => {
  test('has every route and no other', async (t) => {
    const document = await readDocument(t);
    assert.equal(document.openapi, '3.1.0');
    assert.deepEqual(document.info.version, '1.2.3');
    assert.deepEqual(
      operationsOf(document)
        .map(([name]) => name)
        .sort(),
      [...ROUTES].sort(),
    );
  });

  test('every reference leads somewhere and every schema is used and described', async (t) => {
    const document = await readDocument(t);
    const refs = new Set(valuesOf(document, '$ref').map(String));
    const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    assert.deepEqual([...refs].sort(), known.sort());
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      assert.equal(schema['title'], name);
      assert.ok(String(schema['description'] ?? '').length > 0, name);
      for (const [field, property] of Object.entries(schema['properties'] as Record<string, Json>)) {
        assert.ok(
          '$ref' in property || String(property['description'] ?? '') !== '' || 'items' in property,
          `${name}.${field}`,
        );
      }
    }
  });

  test('every operation has an id of its own, a known tag, its path parameters and what it may answer', async (t) => {
    const document = await readDocument(t);
    const operations = operationsOf(document);
    assert.equal(new Set(operations.map(([, , operation]) => operation.operationId)).size, operations.length);
    const tags = document.tags.map((tag) => tag.name);
    for (const [name, path, operation] of operations) {
      assert.ok(operation.summary.length > 0, name);
      assert.ok(operation.tags.every((tag) => tags.includes(tag)) && operation.tags.length === 1, name);
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      assert.deepEqual(
        declared.map((parameter) => parameter.name),
        inPath,
        name,
      );
      for (const parameter of operation.parameters ?? []) assert.ok((parameter.description ?? '') !== '', name);
      assert.ok('200' in operation.responses, name);
      for (const [status, response] of Object.entries(operation.responses)) {
        assert.ok(response.description !== 'Default Response' && response.description !== '', `${name} ${status}`);
        if (Number(status) >= 400 && !(name === 'GET /readyz' && status === '503')) {
          const type = path.startsWith('/api/v2/') ? 'application/json' : 'application/problem+json';
          assert.deepEqual(Object.keys(response.content ?? {}), [type], `${name} ${status}`);
        }
      }
    }
  });

  test('says that actions take their body or none', async (t) => {
    const document = await readDocument(t);
    for (const action of ACTIONS) {
      const operation = document.paths[`/api/v1/incidents/{id}/${action}`]?.['post'];
      assert.equal(operation?.requestBody?.required, false, action);
    }
  });

  test('documents both ways to send a token', async (t) => {
    const document = await readDocument(t);
    assert.deepEqual(Object.keys(document.components.securitySchemes), ['bearer', 'basic']);
  });
});

describe('docs/api.md', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/api.md'), 'utf8');

  test('describes every route, and no route that does not exist', async (t) => {
    const document = await readDocument(t);
    const documented = [...text.matchAll(/^#+ `((?:GET|POST|DELETE) [^`]+)`/gm)].map((match) => match[1] ?? '');
    const registered = operationsOf(document).map(([name]) => name);
    assert.deepEqual([...documented].sort(), registered.sort());
  });

  test('names every code that the API answers with, and every field of every object', async (t) => {
    const document = await readDocument(t);
    const codes = new Set(valuesOf(document, 'description').flatMap((one) => String(one).match(/API_[A-Z_]+/g) ?? []));
    const written = new Set(text.match(/API_[A-Z_]+/g) ?? []);
    for (const code of codes) assert.ok(written.has(code), code);
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      if (name.endsWith('Page')) continue;
      for (const field of Object.keys(schema['properties'] as object)) {
        assert.ok(text.includes(`\`${field}\``), `${name}.${field}`);
      }
    }
  });
});
