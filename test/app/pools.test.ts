import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { poolsOf } from '../../src/app/pools.ts';
import { HostFleet, MINUTE } from '../support/host-fleet.ts';

/** Size and hosts of the only cluster. */
function poolOf(fleet: HostFleet): readonly [size: number | null | undefined, hosts: number | undefined] {
  const pool = poolsOf(fleet.aggregate, fleet.now).get('checkout');
  return [pool?.size, pool?.hosts.size];
}

describe('the pools that a remedy may take from', () => {
  test('are as large as balancers tell, however many tell it', () => {
    const fleet = new HostFleet({ hosts: 20, balancers: ['edge-1', 'edge-2'] });
    fleet.run(60, () => ({ requests: 10 }));
    assert.deepEqual(poolOf(fleet), [20, 20]);
  });

  test('do not count hosts that took nothing for five minutes, though they are told', () => {
    const fleet = new HostFleet({ hosts: 20 });
    fleet.run(60, () => ({ requests: 10 }));
    fleet.run(6 * (MINUTE / 1000), ({ index }) => ({ requests: index < 12 ? 10 : 0 }));
    assert.deepEqual(poolOf(fleet), [12, 12]);
  });

  test('are not known before anything is heard', () => {
    assert.deepEqual(poolOf(new HostFleet({ hosts: 20 })), [undefined, undefined]);
  });
});
