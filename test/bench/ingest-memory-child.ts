import { createAggregate } from '../../src/aggregate/cells.ts';
import { epochMs } from '../../src/base/units.ts';
import { labelsOf } from '../../src/model/labels.ts';
import { decodeMetrics } from '../../src/otlp/decode-metrics.ts';
import { Staging } from '../../src/otlp/staging.ts';
import { createIngest, type Kind, make, PUSH_MS, requestOf, SLOS, T0 } from './ingest-requests.ts';
import { print } from './rounds.ts';

/** `node --expose-gc ... KIND SERIES`: what this many series, or SLO groups, keep in memory. */
const [what = '', size = ''] = process.argv.slice(2);
const count = Number(size);
const POINTS = 10_000;
const DAYS_KEPT = 36;
const MINUTE_MS = 60_000;

function bytesKept(): number {
  global.gc?.();
  global.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Series with all they are bound to, but for the cells, which many share. */
function series(kind: Kind): number {
  const { series: ingest, aggregate } = createIngest();
  const staging = new Staging();
  const take = (balancer: number, push: number): void => {
    decodeMetrics(requestOf({ kind, points: POINTS, push, balancer: `edge-${100 + balancer}` }), staging);
    const receivedAt = epochMs(T0 + push * PUSH_MS);
    const { rejected } = ingest.apply(staging, { receivedAt, peer: '127.0.0.1', identityHeader: null });
    if (rejected > 0) throw new Error('the bench sends only good points');
  };
  // The first balancer makes the cells.
  take(0, 1);
  const before = bytesKept();
  for (let balancer = 1; balancer <= count / POINTS; balancer += 1) take(balancer, 1);
  for (let balancer = 1; balancer <= count / POINTS; balancer += 10) take(balancer, 2);
  const kept = bytesKept() - before;
  if (ingest.seriesCount() !== count + POINTS || [...aggregate.groups()].length === 0) throw new Error('series lost');
  return kept;
}

/** Groups that have counted 1,000 events a second, 1 % of them bad, for as long as they keep. */
function groups(): number {
  const aggregate = createAggregate();
  aggregate.replaceSlos(SLOS);
  const [slo] = SLOS;
  if (slo === undefined) throw new Error('no SLO');
  const before = bytesKept();
  const all = make(count, (index) => aggregate.group(slo, labelsOf([['lb.upstream.cluster', `cluster-${index}`]])));
  const minutes = DAYS_KEPT * 24 * 60;
  for (const { total, part } of all) {
    for (let minute = 1; minute <= minutes; minute += 1) {
      const [from, to] = [epochMs(T0 + (minute - 1) * MINUTE_MS), epochMs(T0 + minute * MINUTE_MS)];
      total.add(from, to, 60_000);
      part.add(from, to, 600);
    }
  }
  const kept = bytesKept() - before;
  if ([...aggregate.groups()].length !== count) throw new Error('groups lost');
  return kept;
}

const kept = what === 'sloGroup' ? groups() : series(what as Kind);
print({ bench: 'memory', what, count, bytesEach: Math.round(kept / count) });
