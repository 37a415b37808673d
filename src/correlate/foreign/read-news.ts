import { parseInstant } from '../../base/instant.ts';
import { type EpochMs, epochMs } from '../../base/units.ts';
import { type Alert, alertKey, OWNERS, type Owner, type Place, type Severity } from '../../model/alert.ts';
import { type Labels, labelsOf, NO_LABELS } from '../../model/labels.ts';
import type { CorrelationSettings } from '../settings.ts';
import type { ForeignNews, Way } from './record.ts';

const LABELS_MAX = 64;
const NAME_LENGTH_MAX = 256;
const VALUE_LENGTH_MAX = 4096;
const SUMMARY_LENGTH_MAX = 1000;
const LINK_LENGTH_MAX = 2048;

/** Labels that say how an alert is judged, not what it is about. */
const NO_IDENTITY: readonly string[] = ['alertname', 'severity'];
const PAGES: ReadonlySet<string> = new Set(['page', 'critical']);
/** Where the sentence for a person stands, by how often senders mean it so. */
const SUMMARIES = ['summary', 'message', 'title', 'description'] as const;

type Settings = Pick<CorrelationSettings, 'subjects' | 'replicaLabels' | 'ignoreLabels'>;

/** Reads one alert of a body of POST /api/v2/alerts or of Alertmanager's webhook. A text says what is wrong with it. */
export function readNews(value: unknown, way: Way, settings: Settings, now: EpochMs): ForeignNews | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'an alert is a JSON object';
  const fields = value as Readonly<Record<string, unknown>>;
  const sent = readLabels(fields['labels']);
  if (typeof sent === 'string') return sent;
  const labels = labelsOf([...sent].filter(([name]) => !settings.replicaLabels.includes(name)));
  if (labels.size === 0) return 'an alert needs at least one label with a value';
  const startsAt = readTime(fields, 'startsAt');
  if (typeof startsAt === 'string') return startsAt;
  const endsAt = readTime(fields, 'endsAt');
  if (typeof endsAt === 'string') return endsAt;
  if (startsAt !== null && endsAt !== null && endsAt < startsAt) return '"endsAt" lies before "startsAt"';
  const since = epochMs(Math.min(startsAt ?? endsAt ?? now, now));
  const severity = labels.get('severity') ?? '';
  const alert = alertOf(labels, fields, settings, since);
  const status = fields['status'] === 'firing' || fields['status'] === 'resolved' ? fields['status'] : null;
  return { id: `${alert.key} ${severity}`, alert, way, startsAt: since, endsAt, status };
}

function alertOf(labels: Labels, fields: Readonly<Record<string, unknown>>, settings: Settings, since: EpochMs): Alert {
  const annotations = readAnnotations(fields['annotations']);
  const name = labels.get('alertname') ?? 'unnamed';
  const identity = labelsOf(
    [...labels].filter(([label]) => !NO_IDENTITY.includes(label) && !settings.ignoreLabels.includes(label)),
  );
  const summary = SUMMARIES.map((label) => annotations.get(label)?.trim() ?? '').find((text) => text !== '') ?? name;
  return {
    // Beside an alert of our own with the same name and labels, not in its place.
    key: `foreign/${alertKey(name, identity)}`,
    name,
    labels,
    place: placeOf(labels, settings.subjects),
    severity: severityOf(labels.get('severity')),
    tier: null,
    tiersHolding: [],
    since,
    owner: ownerOf(labels),
    runbook: webAddress(annotations.get('runbook_url')) ?? name,
    summary: summary.slice(0, SUMMARY_LENGTH_MAX),
    evidence: [],
    burn: null,
    foreign: { link: webAddress(fields['generatorURL']) },
  };
}

const severityOf = (label = ''): Severity => (PAGES.has(label.toLowerCase()) ? 'page' : 'ticket');

function ownerOf(labels: Labels): Owner {
  const named = [labels.get('owner'), labels.get('team')];
  return OWNERS.find((owner) => named.includes(owner)) ?? 'service';
}

/** An absolute http or https address; null for anything else: a page must not lead nowhere. */
function webAddress(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > LINK_LENGTH_MAX) return null;
  return /^https?:\/\/[^\s/?#"<>\\]+[^\s"<>\\]*$/i.test(value.trim()) ? value.trim() : null;
}

/** A time, null where there is none (absent, empty, or the year 1 that Go writes for none), or what is wrong. */
function readTime(fields: Readonly<Record<string, unknown>>, name: string): EpochMs | null | string {
  const text = fields[name];
  if (text === undefined || text === null || text === '') return null;
  const at = typeof text === 'string' ? parseInstant(text) : undefined;
  if (at === undefined) return `"${name}" is not an RFC 3339 time`;
  return at > 0 ? at : null;
}

function readLabels(value: unknown): Labels | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return '"labels" is not a JSON object';
  const pairs: [string, string][] = [];
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== 'string') return `label ${JSON.stringify(name.slice(0, 80))} is not a text`;
    if (text === '') continue;
    if (name === '' || name.length > NAME_LENGTH_MAX)
      return `a label's name may have 1 to ${NAME_LENGTH_MAX} characters`;
    if (text.length > VALUE_LENGTH_MAX) return `label ${JSON.stringify(name)} is longer than ${VALUE_LENGTH_MAX}`;
    pairs.push([name, text]);
  }
  return pairs.length > LABELS_MAX ? `more than ${LABELS_MAX} labels` : labelsOf(pairs);
}

/** Only what is kept of them is read; one that is no text is as good as none. */
function readAnnotations(value: unknown): Labels {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return NO_LABELS;
  const fields = value as Readonly<Record<string, unknown>>;
  const wanted = [...SUMMARIES, 'runbook_url'] as const;
  return labelsOf(
    wanted.flatMap((name) => {
      const text = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return typeof text === 'string' ? [[name, text] as const] : [];
    }),
  );
}

/** The place that labels name: for each kind of place the first of its labels that is present. */
function placeOf(labels: Labels, subjects: CorrelationSettings['subjects']): Place {
  const place: Record<string, string> = {};
  for (const [kind, names] of subjects) {
    const found = names.map((name) => labels.get(name)).find((value) => value !== undefined);
    if (found !== undefined) place[kind] = found;
  }
  return place;
}
