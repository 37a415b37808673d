import { systemClock } from '../app/system-clock.ts';
import { CHECK_IDS, CHECKLIST } from '../model/practice.ts';
import { timelineMarkdown } from '../model/timeline-export.ts';
import type { IncidentDetailView, IncidentView } from '../model/views.ts';
import { withApi } from './api-client.ts';
import { alignColumns } from './columns.ts';
import type { CommandIo, ExitCode } from './io.ts';
import { everyPage, readTimes } from './silence.ts';

interface Common {
  readonly url: string | null;
  readonly json: boolean;
}

export function runIncidentsList(options: Common & { readonly state: string }, io: CommandIo): Promise<ExitCode> {
  return withApi(options.url, io, async (client) => {
    const state = options.state === 'all' ? null : options.state;
    const found = await everyPage<IncidentView>(client, '/api/v1/incidents', state);
    if (options.json) {
      io.stdout(`${JSON.stringify(found)}\n`);
      return;
    }
    const rows = found.map(({ id, state: stands, severity, tier, openedAt, acknowledgedBy, title }) => [
      String(id),
      stands,
      severity,
      tier ?? '',
      openedAt.slice(0, 19),
      acknowledgedBy ?? '',
      title,
    ]);
    for (const line of alignColumns([['id', 'state', 'severity', 'tier', 'opened', 'by', 'title'], ...rows])) {
      io.stdout(`${line}\n`);
    }
  });
}

export function runIncidentShow(options: Common & { readonly id: number }, io: CommandIo): Promise<ExitCode> {
  return withApi(options.url, io, async (client) => {
    const incident = await client.get<IncidentDetailView>(`/api/v1/incidents/${options.id}`);
    io.stdout(options.json ? `${JSON.stringify(incident)}\n` : incidentText(incident));
  });
}

/** An action of a person, as the API names it. */
export function runIncidentAction(
  options: Common & {
    readonly id: number;
    readonly action: 'acknowledge' | 'unacknowledge' | 'resolve' | 'reopen' | 'snooze' | 'note' | 'update';
    readonly by: string | null;
    readonly note: string | null;
    /** Duration or null; of a snooze an hour unless given. */
    readonly duration: string | null;
    readonly until: string | null;
    /** Of resolve: `all`, or ids of the checklist; null = it was not gone through. */
    readonly checked?: string | null;
  },
  io: CommandIo,
): Promise<ExitCode> {
  return withApi(options.url, io, async (client) => {
    const { id, action, duration, until, checked = null } = options;
    const checks = checked === 'all' ? CHECK_IDS : (checked?.split(',').filter((one) => one !== '') ?? null);
    if (action === 'resolve' && checks === null) {
      io.stderr(`before resolving:\n${CHECKLIST.map((check) => `  ${check.id}: ${check.text}\n`).join('')}`);
    }
    const isTimed = action === 'snooze' || duration !== null || until !== null;
    const incident = await client.send<IncidentDetailView>('POST', `/api/v1/incidents/${id}/${action}`, {
      by: options.by ?? io.env['USER'] ?? null,
      note: options.note,
      until: isTimed ? readTimes({ duration, until, start: null }, systemClock.now()).endsAt : null,
      ...(checks === null ? {} : { checks }),
    });
    io.stdout(options.json ? `${JSON.stringify(incident)}\n` : `incident ${id} is ${incident.state}\n`);
  });
}

/** The record of an incident on stdout, for a postmortem. */
export function runIncidentExport(
  options: Common & { readonly id: number; readonly format: 'md' | 'json' },
  io: CommandIo,
): Promise<ExitCode> {
  return withApi(options.url, io, async (client) => {
    const incident = await client.get<IncidentDetailView>(`/api/v1/incidents/${options.id}/timeline?format=json`);
    io.stdout(options.format === 'md' ? timelineMarkdown(incident) : `${JSON.stringify(incident, null, 2)}\n`);
  });
}

function incidentText(incident: IncidentDetailView): string {
  const { id, title, state, severity, tier, openedAt, members, timeline, attachments } = incident;
  const lines = [
    `incident ${id}: ${title}`,
    `${severity}${tier === null ? '' : `, tier ${tier}`}, ${state}, opened ${openedAt.slice(0, 19)}`,
    incident.lead.summary,
    ...(incident.updateDueAt === null ? [] : [`customers are to hear of it by ${incident.updateDueAt.slice(0, 19)}`]),
    `runbook ${incident.runbookUrl}`,
    ...attachments.map(({ title: what, link }) => `${what}: ${link}`),
    '',
    'alerts',
    ...members.flatMap(({ alert, reason }) => [
      `  ${alert.state} ${alert.severity} ${alert.name}: ${reason}`,
      ...alert.mutes.map(({ text }) => `    muted: ${text}`),
    ]),
    '',
    'timeline',
    ...timeline.map(({ at, change, by, reason }) => `  ${at.slice(0, 19)} ${change} by ${by}: ${reason}`),
  ];
  return `${lines.join('\n')}\n`;
}
