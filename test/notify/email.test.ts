import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { EmailReceiver } from '../../src/model/receiver.ts';
import { createEmailNotifier } from '../../src/notify/email/notifier.ts';
import { exampleMessages } from './receiver-examples.ts';

interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly headers: ReadonlyMap<string, string>;
  readonly raw: string;
}

/** A real SMTP server that keeps what it takes. */
async function startSmtp(context: TestContext, options: SMTPServerOptions = {}) {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      let raw = '';
      stream.setEncoding('utf8');
      stream.on('data', (chunk: string) => {
        raw += chunk;
      });
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          headers: headersOf(raw),
          raw,
        });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  context.after(() => new Promise<void>((closed) => server.close(() => closed())));
  return { mails, port: (server.server.address() as AddressInfo).port };
}

function headersOf(raw: string): ReadonlyMap<string, string> {
  const head = (raw.split('\r\n\r\n')[0] ?? '').replace(/\r\n[ \t]+/g, ' ');
  return new Map(
    head
      .split('\r\n')
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
}

const receiverOf = (port: number, fields: Partial<EmailReceiver> = {}): EmailReceiver => ({
  name: 'mail',
  type: 'email',
  host: '127.0.0.1',
  port,
  tls: 'none',
  login: null,
  from: 'slowburn <slowburn@example.com>',
  to: ['oncall@example.com', 'lead@example.com'],
  sendResolved: true,
  ...fields,
});

const FOREVER = new AbortController().signal;
const sendFirst = (receiver: EmailReceiver, signal = FOREVER) => {
  const [entry] = exampleMessages([receiver]);
  assert.ok(entry !== undefined);
  return createEmailNotifier(receiver).send(entry.payload, entry.eventId, signal);
};

describe('mail through a real SMTP server', () => {
  test('arrives as text and HTML, in one conversation per episode, the same at a second attempt', async (context) => {
    const { mails, port } = await startSmtp(context);
    const receiver = receiverOf(port);
    const notifier = createEmailNotifier(receiver);
    const entries = exampleMessages([receiver]);
    assert.deepEqual(
      entries.map(({ reason }) => reason),
      ['opened', 'escalated', 'resolved'],
    );
    const [opening] = entries;
    for (const { payload, eventId } of [...(opening === undefined ? [] : [opening]), ...entries]) {
      assert.deepEqual(await notifier.send(payload, eventId, FOREVER), { kind: 'delivered' });
    }
    const [copy, first, second, third] = mails;
    assert.ok(copy && first && second && third && mails.length === 4);
    assert.equal(first.from, 'slowburn@example.com');
    assert.deepEqual(first.to, ['oncall@example.com', 'lead@example.com']);
    assert.equal(copy.headers.get('message-id'), first.headers.get('message-id'));
    assert.equal(first.headers.get('in-reply-to'), undefined);
    for (const later of [second, third]) {
      assert.equal(later.headers.get('in-reply-to'), first.headers.get('message-id'));
      assert.notEqual(later.headers.get('message-id'), first.headers.get('message-id'));
    }
    assert.equal(first.headers.get('x-slowburn-event'), opening?.eventId);
    assert.match(first.headers.get('subject') ?? '', /^TICKET checkout-availability in checkout: budget gone in 31 h/);
    assert.match(third.headers.get('subject') ?? '', /^RESOLVED/);
    assert.match(first.headers.get('content-type') ?? '', /^multipart\/alternative/);
    assert.match(second.raw, /content-type: text\/plain/i);
    assert.match(second.raw, /content-type: text\/html/i);
  });

  test('logs in, and a password that is wrong is tried again and never shown', async (context) => {
    const { mails, port } = await startSmtp(context, {
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _, done) =>
        username === 'slowburn' && password === 'right'
          ? done(null, { user: 'slowburn' })
          : done(new Error(`no ${password}`)),
    });
    const login = (password: string) => receiverOf(port, { login: { user: 'slowburn', password } });
    assert.equal((await sendFirst(login('right'))).kind, 'delivered');
    const refused = await sendFirst(login('w-r-o-n-g'));
    assert.equal(refused.kind, 'retry');
    assert.doesNotMatch(JSON.stringify(refused), /w-r-o-n-g/);
    assert.equal(mails.length, 1);
  });

  test('an address that is refused is noted where another is taken, and final where none is', async (context) => {
    const { mails, port } = await startSmtp(context, {
      onRcptTo: ({ address }, _, done) =>
        address === 'oncall@example.com'
          ? done()
          : done(Object.assign(new Error('unknown user'), { responseCode: 550 })),
    });
    assert.deepEqual(await sendFirst(receiverOf(port)), { kind: 'delivered', note: 'refused for lead@example.com' });
    const refused = await sendFirst(receiverOf(port, { to: ['gone@example.com'] }));
    assert.equal(refused.kind, 'rejected');
    assert.equal(mails.length, 1);
  });

  for (const [responseCode, kind] of [
    [451, 'retry'],
    [554, 'rejected'],
  ] as const) {
    test(`${responseCode} to the mail means ${kind}`, async (context) => {
      const { port } = await startSmtp(context, {
        onData(stream, _, done) {
          stream.resume().on('end', () => done(Object.assign(new Error('not now'), { responseCode })));
        },
      });
      assert.equal((await sendFirst(receiverOf(port))).kind, kind);
    });
  }

  test('without the STARTTLS that is demanded nothing is sent', async (context) => {
    const { mails, port } = await startSmtp(context);
    assert.equal((await sendFirst(receiverOf(port, { tls: 'starttls' }))).kind, 'retry');
    assert.deepEqual(mails, []);
  });

  test('nobody listening, and a server that says nothing until it is given up, are tried again', async (context) => {
    const silent = createServer();
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const sockets: { destroy(): void }[] = [];
    silent.on('connection', (socket) => sockets.push(socket));
    context.after(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const { port } = silent.address() as AddressInfo;
    const given = new AbortController();
    silent.once('connection', () => given.abort());
    assert.deepEqual(await sendFirst(receiverOf(port), given.signal), {
      kind: 'retry',
      error: 'aborted',
      afterMs: null,
    });
    assert.equal((await sendFirst(receiverOf(1))).kind, 'retry');
  });
});
