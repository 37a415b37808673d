import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';

/** A load that does not wait for its answers: what is slow piles up, as it does with real clients. */
export interface OpenLoad {
  readonly good: number;
  /** 5xx, and requests without an answer. */
  readonly bad: number;
  stop(): Promise<void>;
}

/** So many may be open; above that the generator itself is what is slow. */
const OPEN_MAX = 2000;
const TURN_MS = 4;

/** Calls `ask` so many times a second; turns that come late are made up for. */
function startOpen(perSecond: number, ask: (index: number) => Promise<boolean>, end: () => void): OpenLoad {
  const ledger = { good: 0, bad: 0 };
  const open = new Set<Promise<void>>();
  const began = performance.now();
  let asked = 0;
  const one = (): void => {
    const asking = ask(asked)
      .catch(() => false)
      .then((isGood) => {
        ledger[isGood ? 'good' : 'bad'] += 1;
      })
      .finally(() => open.delete(asking));
    open.add(asking);
    asked += 1;
  };
  const timer = setInterval(() => {
    const due = ((performance.now() - began) / 1000) * perSecond;
    while (asked < due && open.size < OPEN_MAX) one();
  }, TURN_MS);
  return {
    get good() {
      return ledger.good;
    },
    get bad() {
      return ledger.bad;
    },
    async stop() {
      clearInterval(timer);
      await Promise.all(open);
      end();
    },
  };
}

/** Requests over connections that are kept, to the paths in turn. */
export function startOpenLoad(port: number, perSecond: number, paths: readonly string[]): OpenLoad {
  const agent = new Agent({ keepAlive: true });
  const ask = async (index: number): Promise<boolean> => {
    const path = paths[index % paths.length];
    const sent = request({ host: '127.0.0.1', port, path, agent });
    sent.end();
    const [answer] = await once(sent, 'response');
    answer.resume();
    await once(answer, 'end');
    return answer.statusCode < 500;
  };
  return startOpen(perSecond, ask, () => agent.destroy());
}

/**
 * Connections of one request each. `newShare` of them are of clients that were never here; the others offer the session
 * ticket that they got last.
 */
export function startTlsLoad(port: number, perSecond: number, newShare: number): OpenLoad {
  const options = { keepAlive: false, rejectUnauthorized: false };
  const returning = new TlsAgent({ ...options, maxCachedSessions: 10 });
  const fresh = new TlsAgent({ ...options, maxCachedSessions: 0 });
  const ask = async (index: number): Promise<boolean> => {
    const isNew = Math.floor((index + 1) * newShare) > Math.floor(index * newShare);
    const sent = tlsRequest({ host: '127.0.0.1', port, path: '/', agent: isNew ? fresh : returning });
    sent.end();
    const [answer] = await once(sent, 'response');
    answer.resume();
    await once(answer, 'end');
    return answer.statusCode < 500;
  };
  return startOpen(perSecond, ask, () => {
    returning.destroy();
    fresh.destroy();
  });
}
