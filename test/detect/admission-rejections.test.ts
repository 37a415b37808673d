import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HostFleet } from '../support/host-fleet.ts';

const MINUTES = 60;
const even = () => ({ requests: 100 });
/** Of 1,000 requests in each step of 10 s. */
const rejects =
  (reasons: Readonly<Record<string, number>>) =>
  (scene: HostFleet): void => {
    for (const [reason, share] of Object.entries(reasons)) {
      scene.count('cluster.rejections', { cluster: 'checkout', reason }, Math.round(1000 * share));
    }
  };
function scene(usual = rejects({ circuit_open: 0 })): HostFleet {
  const fleet = new HostFleet({ hosts: 10 }, 'AdmissionRejections');
  assert.deepEqual(fleet.run(40 * MINUTES, even, usual), []);
  return fleet;
}
const kinds = (said: readonly string[]): string[] => said.map((line) => line.split(' ')[0] ?? '');

describe('AdmissionRejections', () => {
  test('5 % above a usual 0 fire within 40 s and resolve within 3 min; 0.8 % do not fire', () => {
    const fleet = scene();
    assert.deepEqual(fleet.run(10 * MINUTES, even, rejects({ circuit_open: 0.008 })), []);
    assert.deepEqual(kinds(fleet.run(40, even, rejects({ circuit_open: 0.05 }))), ['fired']);
    assert.match(fleet.alerts[0]?.summary ?? '', /a limit of requests or connections to it is reached/);
    assert.match(fleet.alerts[0]?.summary ?? '', /\(usual: 0\.00 %\)/);
    assert.deepEqual(kinds(fleet.run(3 * MINUTES, even, rejects({ circuit_open: 0 }))), ['resolved']);
  });

  test('a rate limit that always rejects 10 % is usual, and hides no limit that is reached', () => {
    const fleet = scene(rejects({ rate_limited: 0.1 }));
    assert.deepEqual(fleet.run(20 * MINUTES, even, rejects({ rate_limited: 0.25 })), []);
    assert.deepEqual(kinds(fleet.run(2 * MINUTES, even, rejects({ rate_limited: 0.1, circuit_open: 0.05 }))), [
      'fired',
    ]);
    assert.doesNotMatch(fleet.alerts[0]?.summary ?? '', /rate limit/);
    assert.deepEqual(kinds(fleet.run(4 * MINUTES, even, rejects({ rate_limited: 0.6 }))), []);
    assert.equal(fleet.alerts.length, 1);
  });

  test('says whether most hosts fail, one, or none', () => {
    const says = (failing: number): string => {
      const fleet = scene();
      const plan = ({ index }: { index: number }) => ({ requests: 100, errors: index < failing ? 0.9 : 0.001 });
      fleet.run(2 * MINUTES, plan, rejects({ circuit_open: 0.3 }));
      return fleet.alerts[0]?.summary ?? '';
    };
    assert.match(says(6), /6 of 10 hosts fail 20 % of their requests or more: look at what they depend on/);
    assert.match(says(1), /1 of 10 hosts fail 20 % of their requests or more: look at these/);
    assert.match(says(0), /None of 10 hosts fails/);
  });

  test('a spike of 10 s, a quiet cluster and one without a history are not', () => {
    const fleet = scene();
    fleet.run(10, even, rejects({ circuit_open: 0.02 }));
    assert.deepEqual(fleet.run(5 * MINUTES, even, rejects({ circuit_open: 0 })), []);
    assert.equal(fleet.alerts.length, 0);
    const quiet = new HostFleet({ hosts: 10 }, 'AdmissionRejections');
    const few = (one: HostFleet): void =>
      one.count('cluster.rejections', { cluster: 'checkout', reason: 'overflow' }, one.seconds > 2400 ? 1 : 0);
    const sparse = () => ({ requests: 0.2 });
    assert.deepEqual(quiet.run(60 * MINUTES, sparse, few), []);
    const young = new HostFleet({ hosts: 10 }, 'AdmissionRejections');
    assert.deepEqual(young.run(10 * MINUTES, even, rejects({ rate_limited: 0.3 })), []);
  });

  test('it goes on through silence and a restart, and does not become usual', () => {
    const fleet = scene();
    fleet.run(4 * MINUTES, even, rejects({ circuit_open: 0.5 }));
    assert.deepEqual(fleet.silence(60 * MINUTES), []);
    fleet.restart();
    assert.deepEqual(fleet.silence(60), []);
    assert.deepEqual(fleet.run(120 * MINUTES, even, rejects({ circuit_open: 0.5 })), []);
  });
});
