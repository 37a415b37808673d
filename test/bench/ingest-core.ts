import { decodeMetrics } from '../../src/otlp/decode-metrics.ts';
import { Staging } from '../../src/otlp/staging.ts';
import { messageType } from '../support/otlp-messages.ts';
import { createBareIngest, createIngest, KINDS, type Kind, make, requestOf, takeAgain } from './ingest-requests.ts';
import { interleaved, medianOf, print } from './rounds.ts';

const REQUESTS = 20;
/** Balancers that push one after the other: several feed each group, as in a fleet. */
const BALANCERS = 4;
const ROUNDS = 7;

/** Decoding alone, with series, with series and cells, and protobufjs' decoding of the same bytes, in turns. */
function benchOne(kind: Kind, points: number): void {
  const requests = make(REQUESTS, (index) =>
    requestOf({ kind, points, push: Math.floor(index / BALANCERS) + 1, balancer: `edge-${index % BALANCERS}` }),
  );
  const bytes = requests.reduce((sum, { length }) => sum + length, 0) / REQUESTS;
  const staging = new Staging();
  const type = messageType('ExportMetricsServiceRequest');
  const each = (once: (request: Uint8Array) => void) => {
    let at = 0;
    return () => once(requests[at++ % REQUESTS] as Uint8Array);
  };
  const rates = interleaved(
    [
      { name: 'protobufjs', once: each((request) => void type.decode(request)) },
      { name: 'decode', once: each((request) => decodeMetrics(request, staging)) },
      { name: 'decodeSeries', once: takeAgain(createBareIngest(), requests, REQUESTS / BALANCERS) },
      { name: 'decodeSeriesCells', once: takeAgain(createIngest().series, requests, REQUESTS / BALANCERS) },
    ],
    ROUNDS,
  );
  const pointsPerSecond = Object.fromEntries(
    [...rates].map(([name, perSecond]) => [name, Math.round(medianOf(perSecond) * points)]),
  );
  const all = rates.get('decodeSeriesCells') as number[];
  const library = rates.get('protobufjs') as number[];
  print({
    bench: 'ingest',
    kind,
    pointsPerRequest: points,
    bytesPerPoint: Math.round(bytes / points),
    pointsPerSecond,
    bytesPerSecond: Math.round(medianOf(all) * bytes),
    timesProtobufjs: Number(medianOf(all.map((rate, round) => rate / (library[round] as number))).toFixed(1)),
  });
}

export function benchCore(): void {
  for (const kind of KINDS) for (const points of [1400, 8192]) benchOne(kind, points);
}
