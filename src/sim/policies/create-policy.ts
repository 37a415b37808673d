import { assertNever } from '../../base/assert.ts';
import type { Prng } from '../../base/prng.ts';
import { ringOf } from './hash-ring.ts';
import { Hashing, LOAD_BOUND } from './hashing.ts';
import { LeastConnections } from './least-connections.ts';
import { MaglevTable } from './maglev.ts';
import type { Policy } from './policy.ts';
import { RoundRobin } from './round-robin.ts';
import { TwoChoices } from './two-choices.ts';
import { WeightedRoundRobin } from './weighted-round-robin.ts';

export type PolicyName =
  | 'round-robin'
  | 'weighted-round-robin'
  | 'least-connections'
  | 'weighted-least-connections'
  | 'two-choices'
  | 'ring-hash'
  | 'ring-hash-bounded'
  | 'maglev'
  | 'maglev-bounded';

/** A fresh policy without hosts. */
export function createPolicy(name: PolicyName, prng: Prng): Policy {
  switch (name) {
    case 'round-robin':
      return new RoundRobin();
    case 'weighted-round-robin':
      return new WeightedRoundRobin();
    case 'least-connections':
      return new LeastConnections('insertion');
    case 'weighted-least-connections':
      return new LeastConnections('weight');
    case 'two-choices':
      return new TwoChoices(prng);
    case 'ring-hash':
      return new Hashing(ringOf);
    case 'ring-hash-bounded':
      return new Hashing(ringOf, LOAD_BOUND);
    case 'maglev':
      return new Hashing((hosts) => new MaglevTable(hosts));
    case 'maglev-bounded':
      return new Hashing((hosts) => new MaglevTable(hosts), LOAD_BOUND);
    default:
      return assertNever(name);
  }
}
