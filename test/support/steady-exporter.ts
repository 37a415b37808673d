import { once } from 'node:events';
import { createServer } from 'node:http';

/**
 * What a scraper finds at a balancer that carries the same load at all times: `lb_requests_total` of each cluster by
 * class of answer, in the names of OpenTelemetry's Prometheus compatibility.
 */
export interface SteadyExporter {
  /** host:port, as scrape configurations have it. */
  readonly target: string;
  /** Which share of a cluster's answers is 5xx from now on. */
  setErrors(cluster: string, share: number): void;
  close(): Promise<void>;
}

interface Traffic {
  share: number;
  good: number;
  bad: number;
}

export async function startExporter(clusters: readonly string[], requestsPerS: number): Promise<SteadyExporter> {
  const traffic = new Map<string, Traffic>(clusters.map((cluster) => [cluster, { share: 0, good: 0, bad: 0 }]));
  let countedUntil = Date.now();
  const count = (): void => {
    const now = Date.now();
    const requests = ((now - countedUntil) / 1000) * requestsPerS;
    countedUntil = now;
    for (const one of traffic.values()) {
      one.good += requests * (1 - one.share);
      one.bad += requests * one.share;
    }
  };
  const server = createServer((_, response) => {
    count();
    const lines = [...traffic].flatMap(([cluster, { good, bad }]) => [
      line(cluster, '2xx', good),
      line(cluster, '5xx', bad),
    ]);
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(`# TYPE lb_requests_total counter\n${lines.join('\n')}\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    target: `127.0.0.1:${port}`,
    setErrors(cluster, share) {
      const one = traffic.get(cluster);
      if (one === undefined) throw new Error(`there is no cluster ${cluster}`);
      count();
      one.share = share;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const line = (cluster: string, answers: string, value: number): string =>
  `lb_requests_total{lb_side="upstream",lb_upstream_cluster="${cluster}",lb_response_class="${answers}"} ${Math.floor(value)}`;
