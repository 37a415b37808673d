import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EdgeFleet, fleetOf, HOUR_MS, type Load, MINUTE_MS, type StreamLoad } from '../support/edge-fleet.ts';

/** One of four connections with 100 streams each: 2,500 requests a second that take 40 ms. */
const WELL: StreamLoad = {
  active: 100,
  limit: 250,
  stalled: 0,
  durations: [{ perSecond: 2500, p99: 0.09 }],
};
/** It holds its hundred until their time-out, 15 s later. */
const STILL: StreamLoad = { active: 100, limit: 250, stalled: 100, durations: [{ perSecond: 7, p99: 60 }] };
const ONE_STILL = [STILL, WELL, WELL, WELL];
const HEALTHY = of([WELL, WELL, WELL, WELL]);

function of(streams: readonly StreamLoad[], streamsRejected = 0): Load {
  return { requests: 10_000, streams, streamsRejected };
}

/** Without what this balancer does not tell. */
function without(load: Load, ...untold: readonly (keyof StreamLoad)[]): Load {
  const strip = (one: StreamLoad): StreamLoad =>
    Object.fromEntries(Object.entries(one).filter(([name]) => !untold.includes(name as keyof StreamLoad)));
  return { ...load, streams: load.streams?.map(strip) ?? [] };
}

function scene(healthy: Load = HEALTHY, balancers = 1) {
  const fleet = new EdgeFleet({ detectors: ['StreamSaturation'], balancers: fleetOf(balancers) });
  fleet.run(HOUR_MS, () => healthy, false);
  fleet.run(MINUTE_MS, () => healthy);
  assert.deepEqual(fleet.said, []);
  return { fleet, from: fleet.now };
}

describe('StreamSaturation', () => {
  test('one of four connections stands still: a quarter of what is in flight, told within half a minute', () => {
    const { fleet, from } = scene();
    fleet.run(5 * MINUTE_MS, () => of(ONE_STILL));
    fleet.run(3 * MINUTE_MS, () => HEALTHY);
    const [fired, resolved, ...others] = fleet.lines(from);
    assert.equal(fired, 'fired StreamSaturation ticket @30');
    assert.match(resolved ?? '', /^resolved StreamSaturation ticket @(3[1-9]\d)$/);
    assert.deepEqual(others, []);
    const alert = fleet.said[0]?.alert;
    assert.match(alert?.summary ?? '', /^A connection to cluster checkout does not move: 100 of 400 streams to app-0 /);
    assert.equal(alert?.evidence.find(({ name }) => name === 'stalled_share')?.value, 0.25);
    assert.deepEqual(alert?.place, { cluster: 'checkout', host: 'app-0' });
  });

  test('where nobody tells that it stands still: its tail does, at the load of the others', () => {
    const { fleet, from } = scene(without(HEALTHY, 'stalled', 'limit'));
    fleet.run(5 * MINUTE_MS, () => without(of(ONE_STILL), 'stalled', 'limit'));
    assert.match(fleet.lines(from)[0] ?? '', /^fired StreamSaturation ticket @[1-6]0$/);
    assert.match(
      fleet.newest('StreamSaturation')?.summary ?? '',
      /p99 .* over connection 0 of balancer edge-0 to app-0/,
    );
    assert.equal(fleet.evidence('StreamSaturation', 'connection_load'), 1);
  });

  test('a connection that is slow because it carries twice as much as the others: silent', () => {
    const { fleet } = scene(without(HEALTHY, 'stalled', 'limit'));
    const busy = { ...WELL, active: 200, durations: [{ perSecond: 5000, p99: 2 }] };
    fleet.run(10 * MINUTE_MS, () => without(of([busy, WELL, WELL, WELL]), 'stalled', 'limit'));
    assert.deepEqual(fleet.fired(), []);
  });

  test('a host that is slow is slow over all of them: silent', () => {
    const { fleet } = scene();
    const slow = { ...WELL, active: 200, durations: [{ perSecond: 2500, p99: 2 }] };
    fleet.run(10 * MINUTE_MS, () => of([slow, slow, slow, slow]));
    assert.deepEqual(fleet.fired(), []);
  });

  test('nine tenths of all places between balancer and host are taken: told; one full connection alone: silent', () => {
    const full = { ...WELL, active: 240 };
    const { fleet, from } = scene();
    fleet.run(10 * MINUTE_MS, () => of([full, WELL, WELL, WELL]));
    assert.deepEqual(fleet.fired(), []);
    fleet.run(2 * MINUTE_MS, () => of([full, full, full, full]));
    assert.deepEqual(fleet.lines(from), ['fired StreamSaturation ticket @630']);
    assert.match(fleet.newest('StreamSaturation')?.summary ?? '', /960 streams .* where 1000 fit \(96 %\)/);
  });

  test('requests that find no place: told; as many as every minute: silent', () => {
    const { fleet, from } = scene();
    fleet.run(MINUTE_MS, () => of([WELL, WELL, WELL, WELL], 2));
    assert.deepEqual(fleet.fired(), ['StreamSaturation ticket']);
    assert.ok(fleet.lines(from).length > 0);
    const { fleet: usual } = scene(of([WELL, WELL, WELL, WELL], 0.1));
    usual.run(10 * MINUTE_MS, () => of([WELL, WELL, WELL, WELL], 0.2));
    assert.deepEqual(usual.fired(), []);
  });

  test('a moment in which everything stands still is a burst: silent', () => {
    const { fleet } = scene();
    fleet.run(10_000, () => of(ONE_STILL));
    fleet.run(5 * MINUTE_MS, () => HEALTHY);
    assert.deepEqual(fleet.fired(), []);
  });

  test('goes on while nobody is heard, over a restart too', () => {
    const { fleet } = scene(HEALTHY, 2);
    fleet.run(2 * MINUTE_MS, () => of(ONE_STILL));
    fleet.run(20 * MINUTE_MS, () => null);
    fleet.restart();
    fleet.run(5 * MINUTE_MS, () => null);
    const kinds = (): readonly string[] => fleet.said.map(({ kind }) => kind);
    assert.deepEqual(kinds(), ['fired']);
    fleet.run(3 * MINUTE_MS, () => HEALTHY);
    assert.deepEqual(kinds(), ['fired', 'resolved']);
  });
});
