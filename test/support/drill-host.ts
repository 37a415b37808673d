import { once } from 'node:events';
import { createServer } from 'node:http';

/**
 * A host behind a balancer whose failures are those of the drills. All its times can be changed while it runs; ms.
 * `checkMs` is what it takes to answer /healthz.
 */
export interface DrillHost {
  readonly port: number;
  serviceMs: number;
  checkMs: number;
  /** Null: answers well. */
  failMs: number | null;
  close(): Promise<void>;
}

/** Coefficient of variation of the time it takes, lognormal: as that of the simulated hosts. */
const SPREAD = 0.3;
const SIGMA = Math.sqrt(Math.log(1 + SPREAD ** 2));

/** A time drawn around `meanMs`. */
function drawn(meanMs: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
  return meanMs * Math.exp(SIGMA * normal - SIGMA ** 2 / 2);
}

export async function startDrillHost(serviceMs: number): Promise<DrillHost> {
  const server = createServer((request, response) => {
    const isCheck = request.url === '/healthz';
    const isFailing = !isCheck && host.failMs !== null;
    response.statusCode = isFailing ? 503 : 200;
    const afterMs = isCheck ? host.checkMs : (host.failMs ?? drawn(host.serviceMs));
    setTimeout(() => response.end(isFailing ? 'out of order' : 'ok'), afterMs);
  });
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host: DrillHost = {
    port: (server.address() as { port: number }).port,
    serviceMs,
    checkMs: 0,
    failMs: null,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return host;
}
