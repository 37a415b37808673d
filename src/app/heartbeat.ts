import { runbookUrl } from '../correlate/runbook-link.ts';
import type { WatchdogSettings } from '../detect/watchdog.ts';
import { ALERT } from '../model/conventions.ts';
import { dashboardOf, dashboardUrl } from '../model/dashboards.ts';
import type { Notifier } from '../notify/notifier.ts';
import { createHeartbeats, type HeartbeatDeps, type Heartbeats } from '../notify/watchdog/heartbeat.ts';

/** The heartbeat that the rules ask for; null when they name no receiver. */
export function startHeartbeats(
  deps: Omit<HeartbeatDeps, 'notifier' | 'every' | 'links'> & {
    readonly settings: WatchdogSettings | null;
    readonly notifiers: ReadonlyMap<string, Notifier>;
    readonly baseUrl: () => string;
    readonly grafanaUrl: string | null;
  },
): Heartbeats | null {
  const { settings, notifiers, baseUrl, grafanaUrl, ...rest } = deps;
  if (settings === null) return null;
  const notifier = notifiers.get(settings.receiver);
  if (notifier === undefined) throw new Error(`BUG: receiver ${settings.receiver} has no notifier`);
  return createHeartbeats({
    ...rest,
    notifier,
    every: settings.every,
    links: () => ({
      runbook: runbookUrl(settings.runbook, baseUrl()),
      dashboard: grafanaUrl === null ? `${baseUrl()}/` : dashboardUrl(grafanaUrl, dashboardOf(ALERT.watchdog)),
    }),
  });
}
