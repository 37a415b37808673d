import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import type { Outcome } from '../../../src/app/evaluate.ts';
import { createReplay } from '../../../src/app/replay.ts';
import { readReplay } from '../../../src/app/replay-input.ts';
import { loadRules } from '../../../src/config/load.ts';
import { createFolder, PACKAGE, SHIPPED } from '../../config/fixture.ts';
import { availabilitySlo, replayLines } from '../../support/replay-file.ts';

const START = Date.UTC(2026, 2, 2);
const MINUTE = 60_000;

interface Case {
  readonly name: string;
  readonly others?: string;
  readonly tiers?: string;
  readonly labels?: string;
  readonly minutes: number;
  readonly perMinute: readonly (readonly [from: number, requests: number, bad: number])[];
  readonly expect: {
    readonly firstPage: readonly [after: number, atMost: number];
    readonly clear?: readonly [after: number, atMost: number];
    readonly notifications: readonly (readonly [atMost: number, reason: string])[];
    readonly labels?: Readonly<Record<string, string>>;
  };
}

function rulesOf({ tiers, labels = '{ team: edge }' }: Case) {
  const policy = tiers === undefined ? 'workbook' : 'own';
  const folder = createFolder().write({
    'slos/a.yaml': availabilitySlo(policy).replace('labels: { team: edge }', `labels: ${labels}`),
    ...(tiers !== undefined && { 'tiers.yaml': `policies:\n  own: { confidence: null, tiers: [${tiers}] }\n` }),
  });
  const runbooksDir = join(PACKAGE, 'runbooks');
  const { rules, problems } = loadRules({ rulesDir: folder.root, shippedDir: SHIPPED, runbooksDir, offline: true });
  folder.remove();
  assert.ok(rules !== null, JSON.stringify(problems));
  return rules;
}

/** What every tick did. */
async function outcomesOf(one: Case): Promise<readonly Outcome[]> {
  const { minutes, perMinute } = one;
  const during = (minute: number) => perMinute.filter(([from]) => from <= minute).at(-1) ?? [0, 0, 0];
  const good = (minute: number): number => during(minute)[1] - during(minute)[2];
  const bad = (minute: number): number => during(minute)[2];
  const series = [
    { cluster: 'checkout', responseClass: '2xx', perMinute: good },
    { cluster: 'checkout', responseClass: '5xx', perMinute: bad },
  ];
  const outcomes: Outcome[] = [];
  const run = createReplay(rulesOf(one), {
    outcome: (outcome) => outcomes.push(outcome),
    close: () => undefined,
  });
  const lines = replayLines({ startMs: START, minutes, pushEveryMs: MINUTE, series });
  for await (const line of readReplay(['-'], Readable.from(`${lines.join('\n')}\n`))) {
    assert.equal(run.line(line), null);
  }
  run.finish(null);
  return outcomes;
}

function isWithin(minute: number | undefined, [after, atMost]: readonly [number, number], what: string): void {
  assert.ok(minute !== undefined && after < minute && minute <= atMost, `${what} at minute ${minute}`);
}

describe('SLO contract from pushes to notifications, as data', () => {
  const file = join(import.meta.dirname, 'whole.json');
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: readonly Case[] };
  for (const one of cases) {
    test(one.name, async (t) => {
      const { firstPage, clear, notifications, labels } = one.expect;
      const outcomes = await outcomesOf(one);
      const minuteOf = (at: number): number => (at - START) / MINUTE;
      const changes = outcomes.flatMap(({ alerts }) => alerts).filter(({ kind }) => kind !== 'updated');
      const first = changes.find(({ kind, alert }) => kind === 'fired' && alert.severity === 'page');
      const over = changes.find(({ kind, alert }) => kind === 'resolved' || alert.severity === 'ticket');
      const sent = outcomes.flatMap(({ at, outbox }) => outbox.map(({ reason }) => [minuteOf(at), reason] as const));
      t.diagnostic(`fires at ${first && minuteOf(first.at)} (right: ${firstPage.join(' to ')})`);
      t.diagnostic(`page over at ${over && minuteOf(over.at)} (right: ${clear?.join(' to ') ?? 'not asked'})`);
      t.diagnostic(`sent ${JSON.stringify(sent)} (right: ${JSON.stringify(notifications)})`);
      if (one.others !== undefined) t.diagnostic(`others: ${one.others}`);
      isWithin(first && minuteOf(first.at), firstPage, 'fires');
      if (clear !== undefined) isWithin(over && minuteOf(over.at), clear, 'page over');
      assert.deepEqual(
        sent.map(([, reason]) => reason),
        notifications.map(([, reason]) => reason),
      );
      for (const [index, [minute]] of sent.entries()) assert.ok(minute <= (notifications[index]?.[0] ?? 0));
      const incidents = outcomes.flatMap(({ result }) => result.incidents);
      for (const [name, value] of Object.entries(labels ?? {})) {
        assert.equal(first?.alert.labels.get(name), value);
        assert.equal(incidents.at(-1)?.members[0]?.alert.labels.get(name), value);
      }
    });
  }
});
