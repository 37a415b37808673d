import { type Family, labelText, type Sample } from './exposition.ts';

/** How one receiver is doing; times in milliseconds since the epoch, null = never or nothing. */
export interface ReceiverState {
  readonly receiver: string;
  readonly pending: number;
  readonly oldestPendingAt: number | null;
  readonly lastDeliveredAt: number | null;
  readonly failing: string | null;
}

/** Health of receivers as it is now. */
export function receiverFamilies(receivers: readonly ReceiverState[], now: number): readonly Family[] {
  const gauge = (name: string, help: string, value: (state: ReceiverState) => number): Family => ({
    name,
    type: 'gauge',
    help,
    samples: () => receivers.map((state): Sample => [labelText({ receiver: state.receiver }), value(state)]),
  });
  return [
    gauge('slowburn_receiver_pending', 'Messages that wait for a receiver.', ({ pending }) => pending),
    gauge(
      'slowburn_receiver_oldest_pending_seconds',
      'How long the oldest message has waited for a receiver; 0 when none waits.',
      ({ oldestPendingAt }) => (oldestPendingAt === null ? 0 : Math.max(0, now - oldestPendingAt) / 1000),
    ),
    gauge(
      'slowburn_receiver_last_delivery_timestamp_seconds',
      'When a receiver last took a message; 0 if never.',
      ({ lastDeliveredAt }) => (lastDeliveredAt ?? 0) / 1000,
    ),
    gauge(
      'slowburn_receiver_failing',
      '1 when messages to a receiver do not arrive or were given up.',
      ({ failing }) => (failing === null ? 0 : 1),
    ),
  ];
}
