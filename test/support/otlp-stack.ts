import type { TestContext } from 'node:test';
import { createBodyDecoder } from '../../src/app/decode-body.ts';
import { createIngest } from '../../src/app/ingest.ts';
import { createTurns } from '../../src/app/turns.ts';
import { ManualClock } from '../../src/base/clock.ts';
import { epochMs } from '../../src/base/units.ts';
import { createGrpcReceiver } from '../../src/otlp/grpc-receiver.ts';
import { createHttpReceiver } from '../../src/otlp/http-receiver.ts';
import type { ReceiverOptions } from '../../src/otlp/metrics-receiver.ts';
import type { IngestLog, IngestRecord } from '../../src/store/ingest-log.ts';
import { createRecording, type Recording } from './recording-ingest.ts';

export interface OtlpStack extends Recording {
  readonly httpPort: number;
  readonly grpcPort: number;
  /** What reached the log. */
  readonly logged: IngestRecord[];
  readonly clock: ManualClock;
}

/**
 * Both receivers on free ports of 127.0.0.1 over the real ingest: sockets, decoding, log, series. Only the log's disk
 * and the cells that series feed are recordings.
 */
export async function startStack(
  context: TestContext,
  options: {
    readonly now?: number;
    readonly threshold?: number;
    readonly receivers?: Partial<ReceiverOptions>;
    /** Thrown by the log instead of writing. */
    readonly refuse?: () => Error | undefined;
  } = {},
): Promise<OtlpStack> {
  const { now = 1_800_000_000_000, threshold, receivers, refuse } = options;
  const recording = createRecording(threshold === undefined ? {} : { threshold });
  const clock = new ManualClock(epochMs(now));
  const logged: IngestRecord[] = [];
  const end = () => ({ segment: 1, offset: logged.length });
  const log: IngestLog = {
    async append(record) {
      const error = refuse?.();
      if (error !== undefined) throw error;
      logged.push(record);
      return end();
    },
    read: () => [],
    trim: () => undefined,
    end,
    writable: () => true,
    close: async () => undefined,
  };
  const turns = createTurns();
  const bodies = createBodyDecoder(turns);
  const receiverOptions: ReceiverOptions = {
    consumer: createIngest({ series: recording.ingest, log, clock, turns, bodies }),
    metrics: { request: () => undefined },
    tokens: [],
    identityHeader: 'x-lb-instance',
    random: () => 0,
    ...receivers,
  };
  const http = createHttpReceiver(receiverOptions);
  const grpc = createGrpcReceiver(receiverOptions);
  context.after(() => Promise.all([http.close(), grpc.close(), bodies.close()]));
  const address = { host: '127.0.0.1', port: 0 };
  const [{ port: httpPort }, { port: grpcPort }] = [await http.listen(address), await grpc.listen(address)];
  return { ...recording, httpPort, grpcPort, logged, clock };
}
