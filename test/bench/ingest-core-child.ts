import { decodeMetrics } from '../../src/otlp/decode-metrics.ts';
import { Staging } from '../../src/otlp/staging.ts';
import { createBareIngest, createIngest, type Kind, make, requestOf, takeAgain } from './ingest-requests.ts';
import { ratePerCpuSecond } from './rounds.ts';

/**
 * `KIND POINTS CANDIDATE`: one way of reading the same requests, alone in its process, so that what the engine learns
 * of one does not slow another. Tells the bytes of a request, then on each message how many points it read per second.
 */
const [kind, pointsText, candidate = ''] = process.argv.slice(2) as [Kind, string, string?];
const points = Number(pointsText);
const REQUESTS = 20;
/** Balancers that push one after the other: several feed each group, as in a fleet. */
const BALANCERS = 4;

const requests = make(REQUESTS, (index) =>
  requestOf({ kind, points, push: Math.floor(index / BALANCERS) + 1, balancer: `edge-${index % BALANCERS}` }),
);

function each(read: (request: Uint8Array) => void): () => void {
  let at = 0;
  return () => read(requests[at++ % REQUESTS] as Uint8Array);
}

const CANDIDATES: Readonly<Record<string, () => (() => void) | Promise<() => void>>> = {
  protobufjs: async () => {
    const { messageType } = await import('../support/otlp-messages.ts');
    const type = messageType('ExportMetricsServiceRequest');
    return each((request) => void type.decode(request));
  },
  decode: () => {
    const staging = new Staging();
    return each((request) => decodeMetrics(request, staging));
  },
  decodeSeries: () => takeAgain(createBareIngest(), requests, REQUESTS / BALANCERS),
  decodeSeriesCells: () => takeAgain(createIngest().series, requests, REQUESTS / BALANCERS),
};

const create = CANDIDATES[candidate];
if (create === undefined) throw new Error(`no candidate ${candidate}`);
const once = await create();
process.on('message', () => void process.send?.(ratePerCpuSecond(once) * points));
process.on('disconnect', () => process.exit(0));
process.send?.(requests.reduce((sum, { length }) => sum + length, 0) / REQUESTS);
