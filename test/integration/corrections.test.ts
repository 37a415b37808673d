import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, describe, test } from 'node:test';
import Database from 'better-sqlite3';
import { createReplay } from '../../src/app/replay.ts';
import { readReplay } from '../../src/app/replay-input.ts';
import { createLineSink } from '../../src/app/replay-output.ts';
import { epochMs } from '../../src/base/units.ts';
import { loadRules } from '../../src/config/load.ts';
import type { CorrectionDetailView, GroupViewOut, IncidentDetailView, Page, SloView } from '../../src/model/views.ts';
import { CheckoutService, openCheckout, START } from '../support/checkout-service.ts';
import { eventually } from '../support/live-service.ts';
import { availabilitySlo, replayLines } from '../support/replay-file.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const iso = (at: number): string => new Date(at).toISOString();

/** With its API; it is started again with a tick. */
class Scene extends CheckoutService {
  override async restart(): Promise<void> {
    await super.restart();
    await this.tick();
  }

  async post(path: string, body: object): Promise<CorrectionDetailView> {
    const answer = await fetch(this.service.url(path), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.equal(answer.status, 200, await answer.clone().text());
    return (await answer.json()) as CorrectionDetailView;
  }

  async group(): Promise<GroupViewOut> {
    const { groups } = await this.service.json<SloView>('/api/v1/slos/checkout-availability');
    assert.equal(groups.length, 1);
    return groups[0] as GroupViewOut;
  }

  async tick(): Promise<void> {
    await this.service.advanceTo(epochMs(this.service.now + 10 * SECOND));
  }
}

describe('corrections of the running service', () => {
  test('are in force over a restart, give all back when undone, and are told for ever', async (t) => {
    const scene = await openCheckout(Scene);
    t.after(() => scene.close());
    await scene.run(30 * MINUTE, 0);
    const before = await scene.group();
    const failing = scene.service.now;
    await scene.run(10 * MINUTE, 40);
    await eventually('the page', 5000, async () => scene.hook.bodies[0]);
    const burnt = await scene.group();
    assert.ok((burnt.budgetRemaining ?? 1) < (before.budgetRemaining ?? 0) && burnt.severity === 'page');

    const made = await scene.post('/api/v1/corrections', {
      slos: ['checkout-availability'],
      matchers: ['lb.upstream.cluster=checkout'],
      kind: 'not_our_fault',
      reason: 'the cloud was down',
      by: 'ana',
      from: iso(failing),
      to: iso(failing + 10 * MINUTE),
    });
    assert.deepEqual(
      made.effects.map(({ bad, budgetBefore }) => [bad, budgetBefore]),
      [[2400, burnt.budgetRemaining]],
    );
    await scene.tick();
    const corrected = await scene.group();
    assert.deepEqual(
      [corrected.budgetRemaining, corrected.bad, corrected.leftOut?.bad, corrected.severity],
      [1, burnt.bad, 2400, null],
    );
    assert.equal(made.effects[0]?.budgetAfter, corrected.budgetRemaining);
    const incident = await scene.service.json<IncidentDetailView>('/api/v1/incidents/1');
    assert.match(incident.members[0]?.alert.summary ?? '', /by correction 1 \(the cloud was down\)/);
    assert.match(incident.timeline.at(-1)?.reason ?? '', /ErrorBudgetBurn corrected/);
    assert.match(
      await scene.service.text('/slos'),
      /Left out of the budget: 2400 bad of \d+ events, by .*correction 1/,
    );

    await scene.restart();
    const again = await scene.group();
    assert.deepEqual([again.budgetRemaining, again.leftOut], [1, corrected.leftOut]);
    const { items } = await scene.service.json<Page<{ id: number; state: string }>>('/api/v1/corrections');
    assert.deepEqual(
      items.map(({ id, state }) => [id, state]),
      [[1, 'over']],
    );

    const gone = await scene.post('/api/v1/corrections/1/undo', { reason: 'it was us', by: 'bob' });
    assert.equal(gone.state, 'undone');
    await scene.tick();
    const back = await scene.group();
    assert.deepEqual([back.budgetRemaining, back.leftOut, back.bad], [burnt.budgetRemaining, null, burnt.bad]);
    await scene.restart();
    assert.equal((await scene.group()).budgetRemaining, burnt.budgetRemaining);
    const detail = await scene.service.json<CorrectionDetailView>('/api/v1/corrections/1');
    assert.deepEqual(
      detail.audit.map(({ by, action, note }) => [by, action, note]),
      [
        ['ana', 'correction.create', 'the cloud was down'],
        ['bob', 'correction.undo', 'it was us'],
      ],
    );
    const db = new Database(join(scene.directory.path, 'data', 'incidents.sqlite'), { readonly: true });
    const rows = db.prepare('SELECT action, before IS NULL AS isNew FROM audit ORDER BY seq').all();
    db.close();
    assert.deepEqual(rows, [
      { action: 'correction.create', isNew: 1 },
      { action: 'correction.undo', isNew: 0 },
    ]);
  });

  test('planned work pages nobody while it lasts; what is still broken behind it does', async (t) => {
    const scene = await openCheckout(Scene);
    t.after(() => scene.close());
    const planned = await scene.post('/api/v1/corrections', {
      matchers: ['team=edge'],
      reason: 'failover',
      from: iso(START + 20 * MINUTE),
      to: iso(START + HOUR),
    });
    assert.equal(planned.state, 'scheduled');
    await scene.run(20 * MINUTE, 0);
    await scene.run(40 * MINUTE, 60);
    assert.deepEqual([scene.reasons(), (await scene.group()).severity], [[], null]);
    assert.ok((await scene.group()).bad > 0);
    await scene.run(10 * MINUTE, 60);
    await eventually('the page', 5000, async () => scene.hook.bodies[0]);
    assert.deepEqual(scene.reasons(), ['opened']);
  });
});

describe('corrections in a replay', () => {
  const directory = mkdtempSync(join(tmpdir(), 'slowburn-corrections-'));
  after(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, 'slos'));
  writeFileSync(join(directory, 'slos', 'checkout.yaml'), availabilitySlo('workbook'));
  const shipped = join(import.meta.dirname, '..', '..');
  const { rules } = loadRules({
    rulesDir: directory,
    shippedDir: join(shipped, 'rules'),
    runbooksDir: join(shipped, 'runbooks'),
    offline: true,
  });
  const metrics = replayLines({
    startMs: START,
    minutes: 60,
    pushEveryMs: 10 * SECOND,
    series: [
      { cluster: 'checkout', responseClass: '2xx', perMinute: () => 600 },
      { cluster: 'checkout', responseClass: '5xx', perMinute: (minute) => (minute >= 20 && minute < 40 ? 300 : 0) },
    ],
  });

  async function replay(actions: readonly object[]) {
    assert.ok(rules !== null);
    const written: { readonly type: string; readonly state?: string; readonly slo?: SloView }[] = [];
    const run = createReplay(
      rules,
      createLineSink((line) => written.push(JSON.parse(line))),
    );
    const bad: (string | null)[] = [];
    const text = [metrics[0], ...actions.map((action) => JSON.stringify(action)), ...metrics.slice(1)].join('\n');
    for await (const line of readReplay(['-'], Readable.from(`${text}\n`))) bad.push(run.line(line));
    run.finish(null);
    return {
      alerts: written.filter(({ type }) => type === 'alert').length,
      group: written.at(-1)?.slo?.groups[0],
      bad: bad.filter((message) => message !== null),
    };
  }

  const at = iso(START + 10 * SECOND);
  const work = {
    at,
    action: 'correction',
    slos: ['checkout-availability'],
    reason: 'work',
    from: iso(START + 20 * MINUTE),
    to: iso(START + 40 * MINUTE),
  };

  test('take out what they name, and are taken back', async () => {
    const plain = await replay([]);
    assert.ok(plain.alerts > 0 && plain.group?.bad === 6000);
    const corrected = await replay([work]);
    assert.deepEqual(
      [corrected.alerts, corrected.group?.bad, corrected.group?.leftOut?.bad, corrected.group?.budgetRemaining],
      [0, 6000, 6000, 1],
    );
    const undone = await replay([work, { at, action: 'undo_correction', correction: 1, reason: 'no' }]);
    assert.deepEqual(undone, plain);
    const recurring = { weekdays: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], start: '08:20', zone: 'UTC' };
    const daily = { ...recurring, durationSeconds: 1200, firstDate: '2027-01-01' };
    const { from: _from, to: _to, ...rest } = work;
    assert.equal(new Date(START).toISOString(), '2027-01-15T08:00:00.000Z');
    assert.deepEqual((await replay([{ ...rest, recurring: daily }])).group, corrected.group);
  });

  test('that are wrong are bad lines, each with what is wrong', async () => {
    const { bad, group } = await replay([
      { ...work, reason: '' },
      { ...work, slos: 'all' },
      { ...work, kind: 'holiday' },
      { ...work, recurring: [] },
      { ...work, from: undefined, to: undefined, recurring: { weekdays: ['mon'] } },
      { at, action: 'undo_correction', correction: 1 },
      { at, action: 'end_correction' },
    ]);
    assert.equal(bad.length, 7);
    assert.match(bad.join('\n'), /"reason" is needed.*\n.*lists of texts\n"kind" is one of .*\n"recurring" is not/);
    assert.equal(group?.leftOut, null);
  });
});
