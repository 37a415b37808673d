import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HostFleet, type HostStep, MINUTE } from '../support/host-fleet.ts';

const minutes = (count: number): number => (count * MINUTE) / 1000;
const STEP_S = 10;
const WELL: HostStep = { requests: 100, errors: 0.001, time: 0.04 };
const GONE: HostStep = { requests: 0, hasLeft: true };

/** 20 hosts; the last ones do as told. */
function scene(detector: string, hosts = 20) {
  const fleet = new HostFleet({ hosts, balancers: ['edge-1', 'edge-2'] }, detector);
  return fleet;
}

describe('DrainCut', () => {
  const leaving = (resets: number) => {
    const fleet = scene('DrainCut');
    fleet.run(minutes(30), () => WELL);
    const said = [
      ...fleet.run(STEP_S, ({ index }) => (index >= 18 ? { ...WELL, hasLeft: true, resets } : WELL)),
      ...fleet.run(minutes(2), ({ index }) => (index >= 18 ? GONE : WELL)),
    ];
    return { fleet, said };
  };

  test('requests cut on hosts that left are told with the hosts, and end when five minutes are clean', () => {
    const { fleet, said } = leaving(30);
    assert.equal(said.length, 1, String(said));
    assert.match(said[0] ?? '', /^fired DrainCut ticket .*@18[345]0$/);
    const [alert] = fleet.alerts;
    assert.match(
      alert?.summary ?? '',
      /60 requests were cut on 2 hosts that drained or left \(10\.0\.0\.18:8080, 10\.0\.0\.19/,
    );
    assert.ok(alert?.evidence.includes('the pool had 2 hosts fewer'), String(alert?.evidence));
    const after = fleet.run(minutes(5), ({ index }) => (index >= 18 ? GONE : WELL));
    assert.match(String(after), /^resolved DrainCut/);
  });

  test('a handful of requests is silent', () => {
    assert.deepEqual(leaving(3).said, []);
  });

  test('a host that dies stays in the pool: its resets are another matter', () => {
    const fleet = scene('DrainCut');
    fleet.run(minutes(30), () => WELL);
    const dead = { requests: 0, isHealthy: false };
    fleet.run(STEP_S, ({ index }) => (index === 19 ? { ...WELL, isHealthy: false, resets: 50 } : WELL));
    assert.deepEqual(
      fleet.run(minutes(6), ({ index }) => (index === 19 ? dead : WELL)),
      [],
    );
  });

  test('resets that all hosts have say nothing of those that leave', () => {
    const fleet = scene('DrainCut');
    fleet.run(minutes(30), () => ({ ...WELL, resets: 4 }));
    fleet.run(STEP_S, ({ index }) => ({ ...WELL, resets: 4, hasLeft: index >= 18 }));
    assert.deepEqual(
      fleet.run(minutes(4), ({ index }) => (index >= 18 ? GONE : { ...WELL, resets: 4 })),
      [],
    );
  });

  test('a rolling deploy that lets requests end is silent', () => {
    const fleet = scene('DrainCut');
    fleet.run(minutes(30), () => WELL);
    const said = fleet.run(minutes(20), ({ index, at }) => {
      const since = at - minutes(30) - index * 60;
      return since > 0 && since <= 40 ? GONE : WELL;
    });
    assert.deepEqual(said, []);
  });
});

describe('ColdStart', () => {
  /** Two hosts of 20 come after half an hour and are slower or fail for so long. */
  const scaleOut = (cold: HostStep, coldS: number, share = 1) => {
    const fleet = scene('ColdStart');
    const began = minutes(30);
    const plan = ({ index, at }: { index: number; at: number }): HostStep => {
      if (index < 18) return WELL;
      if (at <= began) return GONE;
      return at <= began + coldS ? { ...cold, requests: 100 * share } : WELL;
    };
    return { fleet, said: fleet.run(minutes(45), plan) };
  };

  test('hosts that are six times slower for their first 20 s are told, and when they were warm', () => {
    const { fleet, said } = scaleOut({ ...WELL, time: 0.24 }, 20);
    assert.equal(said.length, 2, String(said));
    assert.match(said[0] ?? '', /^fired ColdStart ticket .*@1830$/);
    assert.match(said[1] ?? '', /^resolved ColdStart .*@21[123]0$/);
    const [alert] = fleet.alerts;
    assert.match(alert?.summary ?? '', /^2 new hosts of cluster checkout take 4\.\d times as long as the others/);
    const evidence = String(alert?.evidence);
    assert.match(
      evidence,
      /warm after 20 s; configured are a warm-up of 15 s, a grace of 30 s and a cooldown of 45 s: that/,
    );
  });

  test('hosts that are not warm within the grace: it must be longer', () => {
    const { fleet } = scaleOut({ ...WELL, time: 0.24 }, 60);
    assert.match(String(fleet.alerts[0]?.evidence), /not warm yet/);
  });

  test('hosts that fail at first are told by their errors', () => {
    const { fleet, said } = scaleOut({ ...WELL, errors: 0.3 }, 20);
    assert.match(said[0] ?? '', /^fired ColdStart/);
    assert.match(fleet.alerts[0]?.summary ?? '', /fail (19|2\d) % of their requests, the others 0\.\d+ %/);
  });

  for (const [what, cold, coldS, share] of [
    ['half as slow again for 20 s', { ...WELL, time: 0.06 }, 20, 1],
    ['as fast as the others', WELL, 20, 1],
    ['slow, but with a slow start that sends them hardly anything', { ...WELL, time: 0.24 }, 20, 0.1],
  ] as const) {
    test(`hosts that are ${what}: silent`, () => {
      assert.deepEqual(scaleOut(cold, coldS, share).said, []);
    });
  }

  for (const [what, bad] of [
    ['fails half of its requests', { ...WELL, errors: 50 }],
    ['is six times slower', { ...WELL, time: 0.24 }],
  ] as const) {
    test(`a host that ${what} and is ejected for 90 s again and again is not new`, () => {
      const fleet = scene('ColdStart');
      const plan = ({ index, at }: { index: number; at: number }): HostStep => {
        if (index !== 3 || at <= minutes(30)) return WELL;
        return (at - minutes(30)) % 150 < 60 ? bad : GONE;
      };
      assert.deepEqual(fleet.run(minutes(50), plan), []);
    });
  }

  test('a host that is replaced by one of the same name is new', () => {
    const fleet = scene('ColdStart');
    const plan = ({ index, at }: { index: number; at: number }): HostStep => {
      if (index !== 3 || at <= minutes(30)) return WELL;
      if (at <= minutes(31)) return GONE;
      return at <= minutes(31) + 30 ? { ...WELL, time: 0.24 } : WELL;
    };
    assert.match(fleet.run(minutes(45), plan)[0] ?? '', /^fired ColdStart/);
  });

  test('a host that was always slow is not new, and quiet hosts are not either', () => {
    const fleet = scene('ColdStart');
    assert.deepEqual(
      fleet.run(minutes(40), ({ index }) => (index === 3 ? { ...WELL, time: 0.4 } : WELL)),
      [],
    );
    const quiet = scene('ColdStart');
    assert.deepEqual(
      quiet.run(minutes(40), ({ index }) => ({ requests: 0.3, time: index > 17 ? 0.4 : 0.04 })),
      [],
    );
  });
});
