import { systemClock } from '../app/system-clock.ts';
import { parseDuration } from '../base/duration.ts';
import { formatInstant, parseInstant } from '../base/instant.ts';
import { type EpochMs, epochMs, HOUR } from '../base/units.ts';
import { parseMatcher } from '../model/matcher.ts';
import { type SilenceMatcher, silenceMatcherText, toSilenceMatcher } from '../model/mute.ts';
import type { Page, SilencePreviewView, SilenceView } from '../model/views.ts';
import { type ApiClient, ApiFailure, withApi } from './api-client.ts';
import { alignColumns } from './columns.ts';
import { type CommandIo, EXIT, type ExitCode } from './io.ts';

export interface SilenceTimes {
  /** `2h`; null = an hour where `until` is null too. */
  readonly duration: string | null;
  readonly until: string | null;
  readonly start: string | null;
}

interface Common {
  readonly url: string | null;
  readonly json: boolean;
}

/** `slowburn silence add`: says what it mutes now, then its id on stdout. */
export function runSilenceAdd(
  options: Common & {
    readonly matchers: readonly string[];
    readonly times: SilenceTimes;
    readonly by: string | null;
    readonly comment: string;
  },
  io: CommandIo,
): Promise<ExitCode> {
  return withApi(options.url, io, async (client) => {
    const matchers = readMatchers(options.matchers);
    const silence = await client.send<SilenceView>('POST', '/api/v1/silences', {
      matchers,
      ...readTimes(options.times, systemClock.now()),
      createdBy: options.by ?? io.env['USER'] ?? null,
      comment: options.comment,
    });
    if (options.json) io.stdout(`${JSON.stringify(silence)}\n`);
    else {
      io.stderr(`silences ${count(silence.alerts, 'alert')} firing now, until ${silence.endsAt}\n`);
      io.stdout(`${silence.id}\n`);
    }
  });
}

export function runSilenceList(
  options: Common & { readonly state: string | null; readonly expired: boolean },
  io: CommandIo,
): Promise<ExitCode> {
  return withApi(options.url, io, async (client) => {
    const all = await everyPage<SilenceView>(client, '/api/v1/silences', options.state);
    const found = all.filter(({ status }) => options.expired || options.state !== null || status.state !== 'expired');
    if (options.json) {
      io.stdout(`${JSON.stringify(found)}\n`);
      return;
    }
    const rows = found.map(({ id, status, endsAt, createdBy, alerts, matchers, comment }) => [
      id,
      status.state,
      endsAt.slice(0, 19),
      createdBy,
      String(alerts),
      matchers.map(silenceMatcherText).join(' '),
      comment,
    ]);
    for (const line of alignColumns([['id', 'state', 'until', 'by', 'alerts', 'matchers', 'comment'], ...rows])) {
      io.stdout(`${line}\n`);
    }
  });
}

export function runSilenceExpire(
  options: Common & { readonly ids: readonly string[] },
  io: CommandIo,
): Promise<ExitCode> {
  return withApi(options.url, io, async (client) => {
    for (const id of options.ids) {
      const silence = await client.send<SilenceView>('DELETE', `/api/v1/silences/${encodeURIComponent(id)}`);
      io.stdout(options.json ? `${JSON.stringify(silence)}\n` : `${silence.id}\n`);
    }
  });
}

export function runSilencePreview(
  options: Common & { readonly matchers: readonly string[] },
  io: CommandIo,
): Promise<ExitCode> {
  return withApi(options.url, io, async (client) => {
    const matchers = readMatchers(options.matchers);
    const preview = await client.send<SilencePreviewView>('POST', '/api/v1/silences/preview', { matchers });
    if (options.json) {
      io.stdout(`${JSON.stringify(preview)}\n`);
      return;
    }
    const { alerts, incidents, past, pastCount, pastSince } = preview;
    io.stdout(`${count(alerts.length, 'alert')} firing now, in ${count(incidents.length, 'incident')}\n`);
    for (const { severity, name, labels } of alerts) io.stdout(`  ${severity} ${name} ${labelText(labels)}\n`);
    for (const { id, title } of incidents) io.stdout(`  incident ${id}: ${title}\n`);
    io.stdout(`${count(pastCount, 'alert')} since ${pastSince.slice(0, 19)}\n`);
    for (const { severity, name, labels, since, incident } of past) {
      io.stdout(`  ${since.slice(0, 19)} ${severity} ${name} ${labelText(labels)} (incident ${incident})\n`);
    }
  });
}

/** All pages of a list. */
export async function everyPage<T>(client: ApiClient, path: string, state: string | null): Promise<readonly T[]> {
  const found: T[] = [];
  for (let cursor: string | null = null; ; ) {
    const query = new URLSearchParams({ limit: '1000' });
    if (state !== null) query.set('state', state);
    if (cursor !== null) query.set('cursor', cursor);
    const page: Page<T> = await client.get<Page<T>>(`${path}?${query}`);
    found.push(...page.items);
    cursor = page.next;
    if (cursor === null) return found;
  }
}

/** `DiskFull` alone is the name of an alert, as in amtool. */
function readMatchers(texts: readonly string[]): readonly SilenceMatcher[] {
  return texts.map((text) => {
    const isName = /^[A-Za-z_][A-Za-z0-9_]*$/.test(text);
    const matcher = parseMatcher(isName ? `alertname=${text}` : text);
    if (matcher !== null) return toSilenceMatcher(matcher);
    throw new ApiFailure(`${JSON.stringify(text)} is no matcher; write alertname=DiskFull or zone=~"a|b"`, EXIT.usage);
  });
}

export function readTimes(
  { duration, until, start }: SilenceTimes,
  now: EpochMs,
): { startsAt: string; endsAt: string } {
  const startsAt = start === null ? now : timeOf(start);
  if (until !== null) return { startsAt: formatInstant(startsAt), endsAt: formatInstant(timeOf(until)) };
  const lasts = duration === null ? HOUR : parseDuration(duration);
  if (lasts === undefined) {
    throw new ApiFailure(`${JSON.stringify(duration)} is no duration; write 30m, 2h or 1h30m`, EXIT.usage);
  }
  return { startsAt: formatInstant(startsAt), endsAt: formatInstant(epochMs(startsAt + lasts)) };
}

function timeOf(text: string): EpochMs {
  const at = parseInstant(text);
  if (at === undefined) throw new ApiFailure(`${JSON.stringify(text)} is no RFC 3339 time`, EXIT.usage);
  return at;
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;

const labelText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
