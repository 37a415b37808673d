import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatInstant } from '../../../src/base/instant.ts';
import { leadAlert } from '../../../src/model/incident.ts';
import { parseMatcher } from '../../../src/model/matcher.ts';
import { toSilenceMatcher } from '../../../src/model/mute.ts';
import { openSqliteStore } from '../../../src/store/sqlite-store.ts';
import type { IncidentStore } from '../../../src/store/store.ts';
import { ServiceDirectory } from '../../support/live-service.ts';
import { VirtualService } from '../../support/virtual-service.ts';
import {
  Balancers,
  checkLines,
  type Fields,
  instantAt,
  isReplayable,
  type Line,
  readScenarios,
  ruleFilesOf,
  type Scenario,
  type ScriptedReceiver,
  START,
} from './scenario.ts';

/** Longer ones that a replay can express are replayed only. */
const LONGEST_S = 4200;
const SETTLE_MS = 20_000;

interface Call {
  readonly receiver: string;
  /** Second of the scenario. */
  readonly at: number;
  readonly isTaken: boolean;
  readonly body: {
    readonly eventId: string;
    readonly reason: string;
    readonly text: string;
    readonly incident: { readonly key: string };
    readonly alertsTotal: number;
    /** Of a bundle, which has no incident. */
    readonly messages?: readonly unknown[];
  };
}

/** The whole service, its store and its sockets, on the clock of a scenario; receivers answer by their script. */
class Run {
  readonly calls: Call[] = [];
  readonly #scenario: Scenario;
  readonly #servers: Server[] = [];
  readonly #balancers = new Balancers();
  #directory!: ServiceDirectory;
  #service!: VirtualService;
  /** The data that the service writes, opened a second time to be read. */
  #store!: IncidentStore;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
  }

  async open(): Promise<void> {
    const receivers: string[] = [];
    for (const script of this.#scenario.receivers ?? [{ name: 'default' }]) {
      const { answers: _, ...fields } = script;
      receivers.push(JSON.stringify({ ...fields, type: 'webhook', url: await this.#listen(script) }));
    }
    this.#directory = new ServiceDirectory({
      rules: ruleFilesOf(this.#scenario),
      config: `receivers: [${receivers.join(', ')}]\n`,
    });
    await this.#start(START);
    this.#store = openSqliteStore(join(this.#directory.path, 'data', 'incidents.sqlite'));
  }

  async play(): Promise<void> {
    for (const [second, fields] of this.#scenario.events) {
      await this.#service.moveTo(instantAt(second));
      await this.#apply(fields);
    }
    await this.#service.advanceTo(instantAt(this.#scenario.until));
  }

  async text(path: string): Promise<string> {
    return this.#service.text(path);
  }

  /** What became of it, as replay writes it. */
  lines(): readonly Line[] {
    const incidents = this.#store.listIncidents({
      states: ['open', 'acknowledged', 'resolved'],
      before: null,
      limit: 100,
    });
    const changes = incidents.flatMap(({ id, members }) =>
      this.#store.timeline(id).map(({ at, seq, change, after, members: count }) => {
        const had = members.slice(0, count);
        const lead = leadAlert({ ...after, members: had }).name;
        const alerts = had.map(({ alert }) => alert.name);
        return {
          at,
          seq,
          fields: { type: 'incident', id, change, state: after.state, title: after.title, lead, alerts },
        };
      }),
    );
    const sends = incidents.flatMap(({ id }) =>
      this.#store.sends(id).map(({ at, seq, incident, episode, reason, severity }) => {
        return { at, seq, fields: { type: 'notification', id, incident, episode, reason, severity } };
      }),
    );
    return [...changes, ...sends]
      .sort((a, b) => a.at - b.at || a.fields.id - b.fields.id || a.seq - b.seq)
      .map(({ at, fields }) => ({ at: formatInstant(at), ...fields }));
  }

  async close(): Promise<void> {
    await this.#service.stop();
    this.#store.close();
    for (const server of this.#servers) {
      server.closeAllConnections();
      server.close();
    }
    this.#directory.remove();
  }

  async #start(at: typeof START): Promise<void> {
    this.#service = await VirtualService.start(this.#directory, at);
    this.#service.afterTick = () => this.#settled();
  }

  /** Until nothing is due any more: what a receiver refused is due later. */
  async #settled(): Promise<void> {
    const end = Date.now() + SETTLE_MS;
    while (this.#store.dueSends(this.#service.now, 1).length > 0) {
      assert.ok(Date.now() < end, 'a message that is due is not sent');
      await sleep(2);
    }
  }

  async #listen({ name, answers = [] }: ScriptedReceiver): Promise<string> {
    let count = 0;
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        count += 1;
        const at = (this.#service.now - START) / 1000;
        const answer = answers.find(({ calls, before }) =>
          calls === undefined ? at < (before ?? Number.POSITIVE_INFINITY) : count <= calls,
        );
        const status = answer?.status ?? 200;
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Call['body'];
        this.calls.push({ receiver: name, at, isTaken: status < 300, body });
        response
          .writeHead(status, answer?.retryAfter === undefined ? {} : { 'retry-after': String(answer.retryAfter) })
          .end();
      });
    });
    this.#servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as { port: number }).port}/hook`;
  }

  async #apply(fields: Fields): Promise<void> {
    if (fields['restart'] === true) {
      const at = this.#service.now;
      await this.#service.stop();
      await this.#start(at);
    } else if (fields['reload'] === true) {
      this.#service.reload();
    } else if (typeof fields['metrics'] === 'string') {
      await this.#service.push(this.#balancers.body(fields, this.#service.now));
    } else if (fields['action'] !== undefined) {
      await this.#act(fields);
    } else if (fields['alerts'] !== undefined) {
      await this.#post('/api/v2/alerts', fields['alerts']);
    }
  }

  async #act({ action, incident, matchers, ...fields }: Fields): Promise<void> {
    if (matchers === undefined) {
      const [newest] = this.#store.listIncidents({ states: ['open', 'acknowledged'], before: null, limit: 1 });
      const kind = action === 'silence' ? 'snooze' : String(action);
      return this.#post(`/api/v1/incidents/${Number(incident ?? newest?.id)}/${kind}`, fields);
    }
    const parsed = (matchers as readonly string[]).map((text) => parseMatcher(text));
    return this.#post('/api/v2/silences', {
      matchers: parsed.map((matcher) => matcher && toSilenceMatcher(matcher)),
      startsAt: formatInstant(this.#service.now),
      endsAt: fields['until'],
      createdBy: 'ada',
      comment: 'work',
    });
  }

  async #post(path: string, body: unknown): Promise<void> {
    const answer = await fetch(this.#service.url(path), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${path} answered ${answer.status}: ${text}`);
    assert.doesNotMatch(text, /"bad":[1-9]/);
  }
}

describe('what others got wrong, by the whole service', () => {
  const scenarios = readScenarios().filter((one) => one.until <= LONGEST_S || !isReplayable(one));
  for (const scenario of scenarios) {
    test(`${scenario.id}: ${scenario.title} (${scenario.source})`, async (context) => {
      const run = new Run(scenario);
      await run.open();
      context.after(() => run.close());
      await run.play();
      checkLines(run.lines(), scenario.expect);
      checkCalls(run.calls, scenario.expect);
      for (const [path, text] of Object.entries(scenario.expect.shows ?? {})) {
        assert.ok((await run.text(path)).includes(text), `${path} does not show ${text}`);
      }
    });
  }
});

/** No message is lost, none is taken twice, every attempt carries its id; then what the file says. */
function checkCalls(calls: readonly Call[], { said, heard, refused, texts }: Scenario['expect']): void {
  const taken = calls.filter(({ isTaken }) => isTaken);
  const ids = taken.map(({ body }) => body.eventId);
  assert.equal(new Set(ids).size, ids.length, 'a message was taken twice');
  assert.deepEqual([...new Set(calls.map(({ body }) => body.eventId))].sort(), [...ids].sort());
  if (heard === undefined) {
    assert.deepEqual(
      taken.map(({ at, body }) => [at, `${body.incident.key} ${body.reason}`]),
      said.map(([at, what]) => [Math.ceil(Number(at) / 10) * 10, what.split(' ').slice(0, 2).join(' ')]),
    );
  }
  if (heard !== undefined) {
    const words = taken.map((call) => [call.at, wordsOf(call)] as const).sort(byWhat);
    const expected = heard.map(([from, to, what]) => [[from, to] as const, what] as const).sort(byWhat);
    assert.deepEqual(
      words.map(([, what]) => what),
      expected.map(([, what]) => what),
    );
    for (const [index, [[from, to], what]] of expected.entries()) {
      const at = words[index]?.[0] ?? Number.NaN;
      assert.ok(from <= at && at <= to, `${what} came at ${at}`);
    }
  }
  const refusals = calls.filter(({ isTaken }) => !isTaken).map(({ at }) => at);
  if (refused !== undefined && 'atLeast' in refused)
    assert.ok(refusals.length >= refused.atLeast, String(refusals.length));
  else assert.deepEqual(refusals, refused ?? []);
  for (const [index, text] of (texts ?? []).entries()) {
    assert.ok(taken[index]?.body.text.includes(text), `${taken[index]?.body.text} does not say ${text}`);
  }
}

const byWhat = ([, a]: readonly [unknown, string], [, b]: readonly [unknown, string]): number => (a < b ? -1 : 1);

const wordsOf = ({ receiver, body: { reason, messages, incident, alertsTotal } }: Call): string =>
  messages === undefined
    ? `${receiver} ${incident.key} ${reason}, ${alertsTotal} alerts`
    : `${receiver} ${reason} of ${messages.length}`;
