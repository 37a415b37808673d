import type { FollowUpView } from '../model/views.ts';
import { withApi } from './api-client.ts';
import { alignColumns } from './columns.ts';
import type { CommandIo, ExitCode } from './io.ts';
import { everyPage } from './silence.ts';

interface Common {
  readonly url: string | null;
  readonly json: boolean;
}

export function runActionsList(options: Common & { readonly state: string }, io: CommandIo): Promise<ExitCode> {
  return withApi(options.url, io, async (client) => {
    const state = options.state === 'all' ? null : options.state;
    const found = await everyPage<FollowUpView>(client, '/api/v1/actions', state);
    if (options.json) {
      io.stdout(`${JSON.stringify(found)}\n`);
      return;
    }
    const rows = found.map(({ id, state: stands, due, owner, incident, title }) => {
      return [String(id), stands, due, owner, String(incident), title];
    });
    for (const line of alignColumns([['id', 'state', 'due', 'owner', 'incident', 'title'], ...rows])) {
      io.stdout(`${line}\n`);
    }
  });
}

export function runActionAdd(
  options: Common & {
    readonly incident: number;
    readonly title: string;
    readonly owner: string;
    readonly due: string;
    readonly by: string | null;
  },
  io: CommandIo,
): Promise<ExitCode> {
  const { url, json, incident, title, owner, due, by } = options;
  return withApi(url, io, async (client) => {
    const body = { title, owner, due, by: by ?? io.env['USER'] ?? 'unknown' };
    const action = await client.send<FollowUpView>('POST', `/api/v1/incidents/${incident}/actions`, body);
    io.stdout(json ? `${JSON.stringify(action)}\n` : `${action.id}\n`);
  });
}

export function runActionMark(
  options: Common & { readonly id: number; readonly verb: 'done' | 'reopen'; readonly by: string | null },
  io: CommandIo,
): Promise<ExitCode> {
  const { url, json, id, verb, by } = options;
  return withApi(url, io, async (client) => {
    const body = { by: by ?? io.env['USER'] ?? 'unknown' };
    const action = await client.send<FollowUpView>('POST', `/api/v1/actions/${id}/${verb}`, body);
    io.stdout(json ? `${JSON.stringify(action)}\n` : `action ${id} is ${action.state}\n`);
  });
}
