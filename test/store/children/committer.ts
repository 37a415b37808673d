import { epochMs } from '../../../src/base/units.ts';
import { openSqliteStore } from '../../../src/store/sqlite-store.ts';

/**
 * Commits to the store in argv[2], each time two states and twice as many bytes, until the disk refuses. Says how many
 * commits were taken, what the refusal was, and which keys the store then has.
 */
const store = openSqliteStore(process.argv[2] ?? '');

function commit(number: number): void {
  const value = 'x'.repeat(1000 * 2 ** number);
  const alertStates = ['a', 'b'].map((half) => ({ key: `${number} ${half}`, value }));
  store.commit({ at: epochMs(0), alertStates, alertStatesRemoved: [], incidents: [], changes: [], outbox: [] });
}

let taken = 0;
let refusal = 'none';
while (refusal === 'none' && taken < 20) {
  try {
    commit(taken);
    taken += 1;
  } catch (error) {
    const { code, retryable } = error as { code?: string; retryable?: boolean };
    refusal = `${code} ${retryable === true ? 'retryable' : 'final'}`;
  }
}
const keys = store.load(epochMs(0)).alertStates.map(({ key }) => key);
process.stdout.write(JSON.stringify({ taken, refusal, keys }));
