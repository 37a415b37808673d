import { formatInstant } from '../base/instant.ts';
import type { Alert } from '../model/alert.ts';
import type { Attachment, Hook, HookCall } from '../model/hook.ts';
import type { Incident } from '../model/incident.ts';
import { labelsToObject } from '../model/labels.ts';

export const HOOK_SCHEMA = 'slowburn.hook/1';

const LINK_LENGTH_MAX = 2048;
const NOTE_LENGTH_MAX = 500;

/** The body of a call. */
export function toHookMessage(
  hook: Hook,
  call: HookCall,
  incident: Incident,
  alert: Alert,
  incidentUrl: string,
): string {
  return JSON.stringify({
    schema: HOOK_SCHEMA,
    eventId: call.id,
    kind: hook.kind,
    hook: hook.name,
    at: formatInstant(call.at),
    reason: call.reason,
    incident: { id: incident.id, episode: incident.episode, title: incident.title, link: incidentUrl },
    alert: {
      name: alert.name,
      severity: alert.severity,
      labels: labelsToObject(alert.labels),
      place: alert.place,
      since: formatInstant(alert.since),
      summary: alert.summary,
    },
    capture:
      hook.kind === 'capture'
        ? {
            what: hook.what,
            balancers: call.balancers,
            maxSeconds: hook.maxDuration / 1000,
            maxBytes: hook.maxBytes,
          }
        : null,
    remediate: hook.kind === 'remediate' ? { action: 'replace', host: call.host, clusters: call.clusters } : null,
  });
}

/** What an answer says: a link to look at, a note for people. Anything else in it is left alone. */
export interface HookAnswer {
  readonly link: string | null;
  readonly note: string | null;
}

/** Of the text of a 2xx answer. Not JSON, or no absolute http(s) link in it: no link. */
export function readHookAnswer(text: string): HookAnswer {
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch {
    return { link: null, note: null };
  }
  if (typeof fields !== 'object' || fields === null) return { link: null, note: null };
  const { link, note } = fields as Readonly<Record<string, unknown>>;
  const isLink =
    typeof link === 'string' && link.length <= LINK_LENGTH_MAX && /^https?:\/\/[^\s/][^\s<>"]*$/.test(link);
  return {
    link: isLink ? link : null,
    note: typeof note === 'string' && note !== '' ? note.slice(0, NOTE_LENGTH_MAX) : null,
  };
}

/** What the timeline says of a call as it stands. */
export function callText({ kind, hook, state, reason }: HookCall): string {
  const what = `${kind} ${hook}`;
  switch (state) {
    case 'calling':
      return `${what} called: ${reason}`;
    case 'refused':
      return `${what} refused: ${reason}`;
    case 'done':
    case 'failed':
    case 'unknown':
      return `${what} ${state === 'done' ? 'answered' : state}: ${reason}`;
  }
}

/** What belongs to the incident from then on; null where the answer named nothing. */
export const attachmentOf = (call: HookCall): Attachment | null =>
  call.link === null || call.endedAt === null
    ? null
    : {
        title: call.kind === 'capture' ? `Capture of ${call.balancers.join(', ')}` : `Replacement of ${call.host}`,
        link: call.link,
        at: call.endedAt,
        by: call.hook,
      };
