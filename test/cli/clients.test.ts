import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { startApi, TOKENS } from '../support/api-server.ts';
import { type Answer, runCommand } from '../support/command.ts';
import { createFakeCommands, FAKE_FOLLOW_UP, FAKE_SILENCE } from '../support/fake-queries.ts';

/** A running API over the fakes, and the command line beside it. */
async function start(t: TestContext, over: Parameters<typeof startApi>[1] = {}) {
  const fake = createFakeCommands();
  const app = await startApi(t, { commands: fake.commands, ...over });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    runCommand('/', args, { SLOWBURN_URL: url, ...env });
  return { run, ...fake };
}

describe('slowburn silence', () => {
  test('add sends matchers, times and names, and prints the id', async (t) => {
    const { run, silenced } = await start(t);
    const args = ['silence', 'add', 'DiskFull', 'zone!~"a|b"', '--for', '2h', '--comment', 'moved'];
    const { code, stdout } = await run([...args, '--start', '2026-03-01T04:00:00Z'], { USER: 'ada' });
    assert.deepEqual([code, stdout], [0, `${FAKE_SILENCE.id}\n`]);
    assert.deepEqual(silenced, [
      {
        id: null,
        matchers: [
          { name: 'alertname', value: 'DiskFull', isRegex: false, isEqual: true },
          { name: 'zone', value: 'a|b', isRegex: true, isEqual: false },
        ],
        startsAt: '2026-03-01T04:00:00.000Z',
        endsAt: '2026-03-01T06:00:00.000Z',
        createdBy: 'ada',
        comment: 'moved',
      },
    ]);
  });

  test('list and preview are read by people or by programs', async (t) => {
    const { run } = await start(t);
    const { stdout } = await run(['silence', 'list']);
    assert.match(stdout, /6b0f +active +2026-03-01T05:00:00 +ada +1 +alertname="HostEjections" +host <b> is moved/);
    assert.deepEqual(JSON.parse((await run(['silence', 'list', '--json'])).stdout), [FAKE_SILENCE]);
    const preview = (await run(['silence', 'preview', 'host=h1'])).stdout;
    assert.match(preview, /^1 alert firing now, in 1 incident$/m);
    assert.match(preview, /^1 alert since 2026-02-22T03:42:10$/m);
  });

  test('expire ends them, and says what does not exist', async (t) => {
    const { run, silenced } = await start(t);
    const { code, stderr } = await run(['silence', 'expire', '6b0f', 'none']);
    assert.deepEqual(silenced, ['6b0f', 'none']);
    assert.equal(code, 1);
    assert.match(stderr, /API_NOT_FOUND There is no silence none/);
  });

  test('what cannot be meant is a fault of usage', async (t) => {
    const { run, silenced } = await start(t);
    for (const args of [
      ['add', 'a b'],
      ['add', 'a=b', '--for', 'long'],
      ['add', 'a=b', '--until', 'later'],
      ['add'],
      ['preview', '=x'],
      ['list', '--state', 'odd'],
    ]) {
      assert.equal((await run(['silence', ...args])).code, 2, args.join(' '));
    }
    assert.deepEqual(silenced, []);
  });

  test('the token comes from the environment; without it nothing is done', async (t) => {
    const { run } = await start(t, { tokens: TOKENS });
    const without = await run(['silence', 'list']);
    assert.equal(without.code, 3);
    assert.match(without.stderr, /SLOWBURN_TOKEN/);
    assert.equal((await run(['silence', 'list'], { SLOWBURN_TOKEN: 'read-secret' })).code, 0);
    assert.equal((await run(['silence', 'expire', '6b0f'], { SLOWBURN_TOKEN: 'read-secret' })).code, 3);
  });

  test('a service that is not there is named', async () => {
    const { code, stderr } = await runCommand('/', ['silence', 'list', '--url', 'http://127.0.0.1:9']);
    assert.equal(code, 3);
    assert.match(stderr, /^http:\/\/127\.0\.0\.1:9 does not answer/);
  });
});

describe('slowburn incidents', () => {
  test('list and show', async (t) => {
    const { run } = await start(t);
    const { stdout } = await run(['incidents', 'list']);
    assert.match(stdout, /^id +state +severity/);
    assert.match(stdout, /^41 +/m);
    assert.ok(
      (await run(['incidents', 'list', '--state', 'all'])).stdout.split('\n').length > stdout.split('\n').length,
    );
    const shown = (await run(['incidents', 'show', '41'])).stdout;
    assert.match(shown, /^ {4}muted: silence 6b0f by ada/m);
    assert.equal((await run(['incidents', 'show', '999'])).code, 1);
  });

  test('act: each command is the action that it names', async (t) => {
    const { run, acted } = await start(t);
    const { code, stdout } = await run(['incidents', 'ack', '41', '--by', 'ada', '--note', 'draining']);
    assert.deepEqual([code, stdout.startsWith('incident 41 is ')], [0, true]);
    await run(['incidents', 'snooze', '41', '--until', '2999-01-01T00:00:00Z', '--by', 'ada']);
    await run(['incidents', 'note', '41', '--note', 'x', '--by', 'ada']);
    assert.deepEqual(acted, [
      { incident: 41, kind: 'acknowledge', by: 'ada', note: 'draining', until: null },
      { incident: 41, kind: 'snooze', by: 'ada', note: null, until: '2999-01-01T00:00:00.000Z' },
      { incident: 41, kind: 'note', by: 'ada', note: 'x', until: null },
    ]);
    assert.equal((await run(['incidents', 'ack', 'one'])).code, 2);
  });

  test('export writes the record as Markdown or as JSON', async (t) => {
    const { run } = await start(t);
    const text = await run(['incidents', 'export', '41']);
    assert.deepEqual([text.code, text.stdout.startsWith('# ')], [0, true]);
    const json = JSON.parse((await run(['incidents', 'export', '41', '--format', 'json'])).stdout) as { id: number };
    assert.equal(json.id, 41);
    assert.equal((await run(['incidents', 'export', '999'])).code, 1);
    assert.equal((await run(['incidents', 'export', '41', '--format', 'pdf'])).code, 2);
  });
});

describe('slowburn actions', () => {
  test('are listed, written down with owner and date, done, and opened again', async (t) => {
    const { run } = await start(t);
    const { owner, due, title } = FAKE_FOLLOW_UP;
    const listed = (await run(['actions', 'list'])).stdout;
    assert.match(listed, /^id +state +due +owner +incident +title/);
    for (const part of [owner, due, title]) assert.ok(listed.includes(part), part);
    assert.deepEqual(JSON.parse((await run(['actions', 'list', '--state', 'done', '--json'])).stdout), []);
    const add = ['actions', 'add', '41', 'raise the drain', '--owner', 'ada'];
    assert.deepEqual(await run([...add, '--due', '2026-03-15', '--by', 'bob']), {
      code: 0,
      stdout: `${FAKE_FOLLOW_UP.id}\n`,
      stderr: '',
    });
    assert.match((await run(['actions', 'done', String(FAKE_FOLLOW_UP.id)])).stdout, /^action \d+ is done$/m);
    assert.equal((await run(['actions', 'done', '999'])).code, 1);
    assert.equal((await run(add)).code, 2, 'without a date');
  });
});
