import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { blocksOf } from '../support/setup-page.ts';

/** What the package's own path lacks when a shell has no `sbin`. */
const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/usr/local/sbin` };
const call = promisify(execFile);

describe('the configurations of setup pages, read by the real programs', () => {
  let directory: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'slowburn-pages-'));
  });
  after(() => rmSync(directory, { recursive: true, force: true }));
  const write = (name: string, text: string): string => {
    const file = join(directory, name);
    writeFileSync(file, text);
    return file;
  };
  const haproxyPage = (): string => blocksOf('haproxy').find(({ language }) => language === 'haproxy')?.text ?? '';
  const nginxPage = (): string => blocksOf('nginx').find(({ language }) => language === 'nginx')?.text ?? '';

  test('HAProxy', async () => {
    await call('haproxy', ['-c', '-f', write('haproxy.cfg', haproxyPage())], { env });
    const broken = write('broken.cfg', haproxyPage().replace('use-service prometheus-exporter', 'use-service nothing'));
    await assert.rejects(call('haproxy', ['-c', '-f', broken], { env }), /nothing/);
  });

  test('NGINX', async () => {
    // Its log lies where this user may write.
    const own = nginxPage().replace('/var/log/nginx', directory);
    const args = (file: string): string[] => ['-t', '-p', directory, '-g', `pid ${directory}/nginx.pid;`, '-c', file];
    const { stderr } = await call('nginx', args(write('nginx.conf', own)), { env });
    assert.match(stderr, /test is successful/);
    const broken = write('broken.conf', own.replace('stub_status;', 'stub_statistics;'));
    await assert.rejects(call('nginx', args(broken), { env }), /stub_statistics/);
  });
});
