import { assertNever } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import type { EpochMs } from '../base/units.ts';
import { type Alert, alertKey } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { dashboardOf, dashboardUrl } from '../model/dashboards.ts';
import type { Incident, Notification } from '../model/incident.ts';
import { labelsOf } from '../model/labels.ts';
import type { Receiver } from '../model/receiver.ts';
import type { SendResult } from '../notify/notifier.ts';
import { createNotifier } from '../notify/registry.ts';

export interface TestStep {
  readonly what: 'opening' | 'closing';
  readonly ok: boolean;
  /** What the receiver made of it. */
  readonly text: string;
}

/** Sends one message that says that it is a test, and closes it; each is tried once. Stops at the first failure. */
export async function sendTest(
  receiver: Receiver,
  clock: Clock,
  baseUrl: string,
  grafanaUrl: string | null = null,
): Promise<readonly TestStep[]> {
  const notifier = createNotifier(receiver, clock);
  const now = clock.now();
  const episode = `test-${now}/1`;
  const links = {
    incident: `${baseUrl}/incidents/0`,
    runbook: `${baseUrl}/runbooks/${ALERT.notificationsFailing}`,
    dashboard:
      grafanaUrl === null ? `${baseUrl}/slos` : dashboardUrl(grafanaUrl, dashboardOf(ALERT.notificationsFailing)),
  };
  const steps: TestStep[] = [];
  let handle: string | null = null;
  for (const what of ['opening', 'closing'] as const) {
    const isFirst = what === 'opening';
    const thread = { episode, isFirst, key: `${episode}/1`, ends: isFirst ? [] : [`${episode}/1`] };
    const eventId = `test-${now}-${isFirst ? 1 : 2}`;
    const notification = notificationOf(receiver.name, isFirst, now);
    const step = { anchor: 'diagnosis', text: 'Nothing: this message is a test' };
    const payload = notifier.message(notification, { links, step }, eventId, thread);
    const result: SendResult = await notifier.send(payload, eventId, AbortSignal.timeout(15_000), handle);
    steps.push({ what, ...said(result) });
    if (result.kind !== 'delivered') break;
    handle = result.handle ?? handle;
  }
  return steps;
}

function said(result: SendResult): { readonly ok: boolean; readonly text: string } {
  switch (result.kind) {
    case 'delivered':
      return { ok: true, text: result.note === undefined ? 'taken' : `taken, but ${result.note}` };
    case 'retry':
      return { ok: false, text: `not taken: ${result.error} (serve would try again)` };
    case 'rejected':
      return { ok: false, text: `refused: ${result.error}` };
    default:
      return assertNever(result);
  }
}

function notificationOf(receiver: string, isFirst: boolean, at: EpochMs): Notification {
  const alert = testAlert(receiver, at);
  const incident: Incident = {
    id: 0,
    episode: 1,
    seq: 1,
    state: isFirst ? 'open' : 'resolved',
    severity: 'ticket',
    tier: null,
    title: `Test of receiver ${receiver}`,
    lead: alert.key,
    members: [
      {
        alert,
        state: isFirst ? 'firing' : 'resolved',
        joinedAt: at,
        resolvedAt: isFirst ? null : at,
        reason: 'a test',
      },
    ],
    openedAt: at,
    episodeAt: at,
    changedAt: at,
    quietSince: null,
    resolvedAt: isFirst ? null : at,
    acknowledgement: null,
    snoozedUntil: null,
    runbook: alert.runbook,
    previous: null,
    announced: { severity: null, lastPageAt: null, tiers: [], domains: [], episode: 1, stillBurning: false },
  };
  const why = 'someone tries this receiver by hand';
  return {
    incident,
    seq: isFirst ? 1 : 2,
    at,
    reason: isFirst ? 'opened' : 'resolved',
    severity: 'ticket',
    tier: null,
    why,
  };
}

function testAlert(receiver: string, since: EpochMs): Alert {
  const labels = labelsOf([['receiver', receiver]]);
  return {
    key: alertKey('ReceiverTest', labels),
    name: 'ReceiverTest',
    labels,
    place: {},
    severity: 'ticket',
    tier: null,
    tiersHolding: [],
    since,
    owner: 'edge',
    runbook: ALERT.notificationsFailing,
    summary: `This is a test of receiver ${receiver}.`,
    evidence: [],
    burn: null,
  };
}
