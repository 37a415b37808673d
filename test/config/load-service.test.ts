import assert from 'node:assert/strict';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { ServiceConfig } from '../../src/config/config.ts';
import { loadServiceConfig } from '../../src/config/load.ts';
import { isLoopback, parseAddress } from '../../src/config/resolve-service.ts';
import { createFolder, type Folder, PACKAGE } from './fixture.ts';

describe('loadServiceConfig', () => {
  let folder: Folder;
  beforeEach(() => {
    folder = createFolder();
  });
  afterEach(() => folder.remove());

  const attempt = (text: string, more: { dataDir?: string; env?: Record<string, string> } = {}) => {
    folder.write({ 'etc/slowburn.yaml': text, 'etc/rules/routes.yaml': 'routes: []\n' });
    const { env = {}, ...rest } = more;
    return loadServiceConfig({
      configPath: 'etc/slowburn.yaml',
      env,
      cwd: folder.root,
      packageDir: PACKAGE,
      ...rest,
    });
  };
  const load = (text: string, more: { dataDir?: string; env?: Record<string, string> } = {}): ServiceConfig => {
    const loaded = attempt(text, more);
    if (!loaded.ok) assert.fail(JSON.stringify(loaded.error));
    return loaded.value;
  };
  const codes = (text: string): readonly string[] => {
    const loaded = attempt(text);
    return loaded.ok ? [] : loaded.error.map((problem) => problem.code);
  };

  it('needs no file: loopback, ./data, the packaged rules and runbooks', () => {
    const loaded = loadServiceConfig({ configPath: null, env: {}, cwd: folder.root, packageDir: PACKAGE });
    assert.ok(loaded.ok);
    assert.deepEqual(loaded.value, {
      listen: {
        http: { host: '127.0.0.1', port: 8080 },
        otlpHttp: { host: '127.0.0.1', port: 4318 },
        otlpGrpc: { host: '127.0.0.1', port: 4317 },
      },
      dataDir: folder.path('data'),
      rulesDir: null,
      runbooksDir: path.join(PACKAGE, 'runbooks'),
      externalUrl: null,
      grafanaUrl: null,
      insecure: false,
      tokens: [],
      receivers: [],
      identityHeader: 'x-slowburn-balancer',
      otlp: { path: '/v1/metrics', maxBytes: 67_108_864 },
    });
  });

  it('gives an empty file the same defaults, but for nothing', () => {
    assert.equal(load('# nothing yet\n').dataDir, folder.path('data'));
  });

  it('reads every key, with paths and secrets relative to the file', () => {
    folder.write({ 'etc/push.txt': 'abc\r\n' });
    const config = load(
      `listen: { http: 0.0.0.0:0, otlpHttp: "[::1]:14318", otlpGrpc: localhost:14317 }
data: ./state
rules: ./rules
externalUrl: https://slowburn.example.com/
grafanaUrl: https://example.com/grafana/
insecure: false
identityHeader: X-Balancer
otlp: { path: /in/otlp, maxBytes: 20971520 }
engine: { type: embedded }
tokens:
  - { name: fleet, role: push, value: "\${file:push.txt}" }
  - { name: people, role: operate, value: "p-\${env:PEOPLE}-q" }
receivers:
  - { name: oncall, type: webhook, url: http://127.0.0.1:9000/hook }
`,
      { env: { PEOPLE: 'xyz' } },
    );
    assert.deepEqual(config.listen, {
      http: { host: '0.0.0.0', port: 0 },
      otlpHttp: { host: '::1', port: 14_318 },
      otlpGrpc: { host: 'localhost', port: 14_317 },
    });
    assert.equal(config.dataDir, folder.path('etc/state'));
    assert.equal(config.rulesDir, folder.path('etc/rules'));
    assert.equal(config.externalUrl, 'https://slowburn.example.com');
    assert.equal(config.grafanaUrl, 'https://example.com/grafana');
    assert.equal(config.identityHeader, 'x-balancer');
    assert.deepEqual(config.otlp, { path: '/in/otlp', maxBytes: 20_971_520 });
    assert.deepEqual(config.tokens, [
      { name: 'fleet', role: 'push', value: 'abc' },
      { name: 'people', role: 'operate', value: 'p-xyz-q' },
    ]);
    assert.deepEqual(config.receivers, [
      { name: 'oncall', type: 'webhook', url: 'http://127.0.0.1:9000/hook', secret: null, sendResolved: true },
    ]);
  });

  it('prefers the data directory of the command line, relative to where the command runs', () => {
    assert.equal(load('data: ./state\n', { dataDir: 'other' }).dataDir, folder.path('other'));
  });

  it('asks for a token or insecure: true before others can reach it', () => {
    const open = 'listen: { http: 0.0.0.0:8080 }\n';
    assert.deepEqual(codes(open), ['CONFIG_LISTEN_EXPOSED']);
    assert.deepEqual(codes(`${open}insecure: false\n`), ['CONFIG_LISTEN_EXPOSED']);
    assert.deepEqual(codes(`${open}tokens: []\n`), ['CONFIG_LISTEN_EXPOSED']);
    assert.deepEqual(codes(`${open}insecure: true\n`), []);
    assert.equal(load(`${open}insecure: True\n`).insecure, true);
    assert.deepEqual(codes(`${open}tokens: [{ name: a, role: push, value: b }]\n`), []);
  });

  it('lets several listeners take free ports', () => {
    assert.deepEqual(codes('listen: { http: 127.0.0.1:0, otlpHttp: 127.0.0.1:0, otlpGrpc: 127.0.0.1:0 }\n'), []);
  });

  it('never shows a secret in a finding', () => {
    folder.write({ 'etc/s.txt': 'hunter2' });
    const loaded = attempt(
      `receivers: [{ name: a, type: webhook, url: "\${file:s.txt}" }]\nidentityHeader: "a b"\nunknown: 1\n`,
    );
    assert.ok(!loaded.ok);
    assert.equal(loaded.error.length, 3);
    assert.ok(!JSON.stringify(loaded.error).includes('hunter2'));
  });

  it('reports a file that does not exist', () => {
    const loaded = loadServiceConfig({ configPath: 'no.yaml', env: {}, cwd: folder.root, packageDir: PACKAGE });
    assert.ok(!loaded.ok);
    assert.equal(loaded.error[0]?.code, 'CONFIG_FILE_UNREADABLE');
  });
});

describe('addresses', () => {
  it('reads host:port in every form', () => {
    assert.deepEqual(parseAddress('127.0.0.1:0'), { host: '127.0.0.1', port: 0 });
    assert.deepEqual(parseAddress('[::]:65535'), { host: '::', port: 65_535 });
    assert.deepEqual(parseAddress('lb-1.example.com:80'), { host: 'lb-1.example.com', port: 80 });
    for (const bad of ['', ':80', '127.0.0.1', '127.0.0.1:', '::1:80', 'a b:80', '127.0.0.1:65536', 'http://a:80']) {
      assert.equal(parseAddress(bad), undefined, bad);
    }
  });

  it('knows what only this machine can reach', () => {
    for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost', 'LOCALHOST']) assert.ok(isLoopback(host), host);
    for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.evil.com', 'localhost.example.com', '128.0.0.1']) {
      assert.ok(!isLoopback(host), host);
    }
  });
});
