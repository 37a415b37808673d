import { once } from 'node:events';
import { Agent, request } from 'node:http';

/** How many requests may be open at once. */
const OPEN_MAX = 32;

/** A bounded generator on loopback with a ledger of the answers: below 500 is good. */
export interface Load {
  readonly good: number;
  readonly bad: number;
  /** Ends the load and waits for what is open. */
  stop(): Promise<void>;
}

/** Begins `perSecond` requests a second, at a steady pace; what is not answered fails `stop`. */
export function startLoad(port: number, perSecond: number, headers: Readonly<Record<string, string>> = {}): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: OPEN_MAX });
  const ledger = { good: 0, bad: 0 };
  const open = new Set<Promise<void>>();
  const ask = async (): Promise<void> => {
    const sent = request({ host: '127.0.0.1', port, path: '/', agent, headers });
    sent.end();
    const [answer] = await once(sent, 'response');
    answer.resume();
    await once(answer, 'end');
    if (answer.statusCode < 500) ledger.good += 1;
    else ledger.bad += 1;
  };
  const failures: unknown[] = [];
  const timer = setInterval(() => {
    if (open.size >= OPEN_MAX) return;
    const asking = ask()
      .catch((error: unknown) => void failures.push(error))
      .finally(() => open.delete(asking));
    open.add(asking);
  }, 1000 / perSecond);
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
      agent.destroy();
      if (failures.length > 0) throw new Error(`${failures.length} requests got no answer`, { cause: failures[0] });
    },
  };
}
