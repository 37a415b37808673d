import { createPrng } from '../../src/base/prng.ts';
import {
  type Balancer,
  DAY_MS,
  EdgeFleet,
  fleetOf,
  HOUR_MS,
  type Load,
  MINUTE_MS,
  type ServiceLoad,
  START,
} from './edge-fleet.ts';

export interface HealthyEdgeOptions {
  readonly balancers: number;
  /** Requests per balancer and second on the day's average. */
  readonly perSecond: number;
  readonly days: number;
  readonly seed: number;
  readonly detectors: readonly string[];
}

/** Connections that are new, of all requests; a third of them cannot resume a session. */
const NEW_CONNECTIONS = 0.6;
const RESUMPTION = 0.65;
const ERRORS = 0.001;

/**
 * Weeks of an edge that is well: Poisson traffic over the day, tails that differ from hour to hour, a rolling deploy with
 * a new config each day and the reconnections that it causes, a short failure of a dependency each day that every balancer
 * sees alike, certificates that are renewed at thirty days left. Nothing in it deserves an alert. Alerts that began.
 */
export function healthyEdge({ balancers, perSecond, days, seed, detectors }: HealthyEdgeOptions): readonly string[] {
  const fleet = new EdgeFleet({ balancers: fleetOf(balancers), seed, detectors, everyMs: MINUTE_MS });
  const tails = createPrng(seed + 1);
  const hourly = Array.from({ length: days * 24 + 1 }, () => 0.9 + 0.2 * tails.next());
  const load = (balancer: Balancer, now: number): Load | null => healthyLoad(balancer, now, perSecond, hourly);
  fleet.run(8 * HOUR_MS, load, false);
  fleet.run(days * DAY_MS - 8 * HOUR_MS, load);
  return fleet.fired();
}

/** Services whose peaks lie hours apart; one runs a batch each night that makes it the largest, and harms nobody. */
function services(since: number, perSecond: number, tail: number): Readonly<Record<string, ServiceLoad>> {
  const ofDay = since % DAY_MS;
  const isBatch = ofDay > 2 * HOUR_MS && ofDay <= 3 * HOUR_MS;
  const names = ['shop', 'search', 'reports'];
  const loads = names.map((name, place): [string, ServiceLoad] => {
    const wave = 1 + 0.6 * Math.sin((2 * Math.PI * (ofDay + place * 3 * HOUR_MS)) / DAY_MS);
    const requests = (perSecond / names.length) * wave * (isBatch && name === 'reports' ? 6 : 1);
    const connections = requests * NEW_CONNECTIONS;
    const errors = requests * ERRORS;
    const full = connections * (1 - RESUMPTION);
    return [
      name,
      { full, failed: full * 0.002, connections, requests, errors, added: { perSecond: requests, p99: 0.002 * tail } },
    ];
  });
  return Object.fromEntries(loads);
}

function healthyLoad({ id }: Balancer, now: number, perSecond: number, hourly: readonly number[]): Load | null {
  const since = now - START;
  const ofDay = since % DAY_MS;
  const day = Math.floor(since / DAY_MS);
  const wave = 1 + 0.7 * Math.sin((2 * Math.PI * ofDay) / DAY_MS);
  // At ten o'clock a canary, after five minutes one more balancer every two: away for a minute, then back, its clients
  // with it.
  const place = Number(id.slice(5));
  const turn = 10 * HOUR_MS + (place === 0 ? 0 : 5 + place * 2) * MINUTE_MS;
  if (ofDay > turn && ofDay <= turn + MINUTE_MS) return null;
  const isBack = ofDay > turn + MINUTE_MS && ofDay <= turn + 3 * MINUTE_MS;
  const requests = perSecond * wave;
  const connections = requests * NEW_CONNECTIONS * (isBack ? 1.5 : 1);
  const isFailing = ofDay > 15 * HOUR_MS && ofDay <= 15 * HOUR_MS + 3 * MINUTE_MS;
  const tail = hourly[Math.floor(since / HOUR_MS)] ?? 1;
  const of = (rate: number, p99: number) => [{ perSecond: rate, p99: p99 * tail }];
  return {
    full: connections * (1 - RESUMPTION),
    resumed: connections * RESUMPTION,
    connections,
    requests,
    errors: requests * (isFailing ? 10 * ERRORS : ERRORS),
    cpu: Math.min(0.85, 0.05 + 0.35 * wave * tail),
    added: { perSecond: requests, p99: 0.002 * tail },
    durations: {
      'http.server.request.duration': of(requests, 0.15),
      'lb.stage.accept_queue.duration': of(connections, 0.004),
      'lb.stage.tls.duration': of(connections, 0.05),
      'lb.stage.backend.duration': of(requests, 0.12),
      'lb.stage.write.duration': of(requests, 0.01),
    },
    queue: { length: Math.round(3 * wave), limit: 4096 },
    overflows: 0.001,
    open: Math.round(connections * 300),
    // Clients that go away now and then. At noon a node more before tracked flows; the neighbours of a balancer that is
    // replaced get its connections.
    resets: connections * (isBack ? 0.2 : 0.01),
    misses: connections * (ofDay > 12 * HOUR_MS && ofDay <= 12 * HOUR_MS + MINUTE_MS ? 20 : 0.001),
    streams: [0, 1, 2, 3].map((place) => ({
      active: Math.round((requests / 40) * (place === 0 ? 1.2 : 1)),
      limit: Math.ceil(perSecond / 10),
      stalled: 0,
      durations: of(requests / 4, place === 0 ? 0.13 : 0.12),
    })),
    services: services(since, perSecond, tail),
    streamsRejected: isBack ? 0.01 : 0,
    nodes: ofDay > 12 * HOUR_MS ? 9 : 8,
    refused: 0,
    propagation: { perSecond: isBack ? 0.2 : 0.001, p99: 0.8 * tail },
    config: `v${ofDay > turn ? day + 1 : day}`,
    // Ninety days, renewed at thirty left; the first renewal comes within the first day.
    certificates: { shop: (START + (30.5 + 60 * Math.floor((since / DAY_MS + 59.5) / 60)) * DAY_MS) / 1000 },
  };
}
