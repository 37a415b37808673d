import type { TestContext } from 'node:test';
import type { MetricsReceiver, ReceiverOptions } from '../../src/otlp/metrics-receiver.ts';
import {
  type CountedRequests,
  createCountedRequests,
  createRecordingConsumer,
  type RecordingConsumer,
} from './otlp-client.ts';

export interface StartedReceiver {
  readonly port: number;
  readonly receiver: MetricsReceiver;
  readonly consumer: RecordingConsumer;
  readonly metrics: CountedRequests;
  /** What the receiver reported as faults of the program. */
  readonly errors: unknown[];
}

/** Starts a receiver on a free port of 127.0.0.1 and closes it behind the test. */
export async function startReceiver(
  context: TestContext,
  create: (options: ReceiverOptions) => MetricsReceiver,
  options: Partial<Omit<ReceiverOptions, 'consumer' | 'metrics'>> & { readonly consumer?: RecordingConsumer } = {},
): Promise<StartedReceiver> {
  const consumer = options.consumer ?? createRecordingConsumer();
  const metrics = createCountedRequests();
  const errors: unknown[] = [];
  const receiver = create({
    tokens: [],
    identityHeader: 'X-LB-Instance',
    random: () => 0,
    onError: (error) => errors.push(error),
    ...options,
    consumer,
    metrics,
  });
  const { port } = await receiver.listen({ host: '127.0.0.1', port: 0 });
  context.after(() => receiver.close());
  return { port, receiver, consumer, metrics, errors };
}
