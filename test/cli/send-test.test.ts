import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runCheck } from '../../src/cli/check.ts';
import { createFolder, PACKAGE } from '../config/fixture.ts';
import { webhookRules } from '../notify/public-rules.ts';
import { answerWith, startReceiverServer } from '../notify/receiver-server.ts';

describe('slowburn check --send-test', () => {
  const run = async (service: string, sendTest: string) => {
    const folder = createFolder().write({ 'slowburn.yaml': service });
    const out = { stdout: '', stderr: '' };
    try {
      const code = await runCheck(
        { paths: [], configPath: 'slowburn.yaml', json: false, sendTest },
        {
          stdout: (text) => {
            out.stdout += text;
          },
          stderr: (text) => {
            out.stderr += text;
          },
          cwd: folder.root,
          env: {},
          packageDir: PACKAGE,
        },
      );
      return { code, ...out };
    } finally {
      folder.remove();
    }
  };
  const serviceOf = (url: string): string =>
    `receivers: [{ name: oncall, type: webhook, url: "${url}", secret: a-key }]\n`;

  test('sends a message that says that it is a test, closes it, and says what became of both', async (context) => {
    const server = await startReceiverServer(context, (response) => answerWith(response, 202));
    const { code, stdout } = await run(serviceOf(server.url), 'oncall');
    assert.deepEqual([code, stdout], [0, 'oncall (webhook), opening: taken\noncall (webhook), closing: taken\n']);
    const bodies = server.calls.map(({ body }) => JSON.parse(body) as { text: string; reason: string });
    assert.deepEqual(
      bodies.map(({ reason }) => reason),
      ['opened', 'resolved'],
    );
    assert.match(bodies[0]?.text ?? '', /This is a test of receiver oncall\./);
    for (const { body, headers } of server.calls) assert.deepEqual(webhookRules('a-key')(body, headers, ''), []);
  });

  test('exits 1 with the answer when it is refused, and sends no closing', async (context) => {
    const server = await startReceiverServer(context, (response) => response.writeHead(401).end('who are you'));
    const { code, stdout } = await run(serviceOf(server.url), 'oncall');
    assert.deepEqual([code, stdout], [1, 'oncall (webhook), opening: refused: answered 401: who are you\n']);
    assert.equal(server.calls.length, 1);
  });

  test('exits 2 for a name that no receiver has, and 1 without sending when the configuration has an error', async (context) => {
    const server = await startReceiverServer(context, (response) => answerWith(response, 202));
    const unknown = await run(serviceOf(server.url), 'pager');
    assert.deepEqual(
      [unknown.code, unknown.stderr],
      [2, 'slowburn check: there is no receiver pager; there are oncall\n'],
    );
    const wrong = await run(`${serviceOf(server.url)}listen: { http: 0.0.0.0:80 }\n`, 'oncall');
    assert.equal(wrong.code, 1);
    assert.match(wrong.stdout, /CONFIG_LISTEN_EXPOSED/);
    assert.equal(server.calls.length, 0);
  });

  test('notes a page that no route would take', async () => {
    const folder = createFolder();
    const note = async (routes: string): Promise<string> => {
      folder.write({
        'slowburn.yaml': `rules: rules\n${serviceOf('http://127.0.0.1:9/')}`,
        'rules/routes.yaml': `routes: [${routes}]\n`,
      });
      let stdout = '';
      const io = {
        stdout(text: string) {
          stdout += text;
        },
        stderr: () => undefined,
        cwd: folder.root,
        env: {},
        packageDir: PACKAGE,
      };
      await runCheck({ paths: [], configPath: 'slowburn.yaml', json: false }, io);
      return /^note: a page that no matcher.*$/m.exec(stdout)?.[0] ?? '';
    };
    try {
      assert.equal(await note('{ receiver: oncall }'), '');
      assert.match(await note('{ receiver: oncall, matchers: [team=edge] }'), /reaches nobody; add a route/);
      assert.match(
        await note('{ receiver: oncall, times: { weekdays: mon..fri } }'),
        /reaches nobody, for example at 2027-01-09T00:00:00.000Z/,
      );
    } finally {
      folder.remove();
    }
  });
});
