import { type EpochMs, MINUTE, type Ms, ms } from '../base/units.ts';
import type { Rules } from '../config/config.ts';
import type { Alert, AlertChange } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import type { ReceiverHealth } from '../notify/delivery-book.ts';
import { failingReceivers } from '../notify/failing-receivers.ts';

/** After which wait a message counts as not arrived. */
export const failingAfter = ({ detectors }: Rules): Ms =>
  ms(detectors.get(ALERT.notificationsFailing)?.thresholds['after'] ?? 10 * MINUTE);

/** What slowburn has to say about itself. */
export function ownAlerts(
  { detectors }: Rules,
  health: readonly ReceiverHealth[],
  firing: readonly Alert[],
  now: EpochMs,
): readonly AlertChange[] {
  const settings = detectors.get(ALERT.notificationsFailing);
  return settings === undefined ? [] : failingReceivers(health, firing, settings, now);
}
