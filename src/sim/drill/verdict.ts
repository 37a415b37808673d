import { labelsToObject } from '../../model/labels.ts';
import type { TrendFinding } from '../../model/measure.ts';
import { durationText } from '../../model/phrases.ts';
import type { Ending, Expectation, IncidentExpected, Named, QuietExpected } from '../scenarios/scenario.ts';
import type { Case, Sighting } from './case-book.ts';

/** What came of a scenario, and what of it is not as expected. */
export interface Verdict {
  /** Empty = as expected. */
  readonly misses: readonly string[];
  /** Name of the lead, severity and tier of the incident that matters; null = there was none. */
  readonly seen: { readonly lead: string; readonly severity: string; readonly tier: string | null } | null;
  /** From the fault until it was as expected, or until anything was opened; null = never. */
  readonly detectedAfterMs: number | null;
  readonly pages: number;
  readonly incidents: number;
  /** What fuller telemetry would have told about it, and this flavour did not. */
  readonly unsaid: readonly string[];
}

/** When the cause was there, ms since 1970. */
export interface FaultSpan {
  readonly faultAtMs: number;
  readonly overAtMs: number;
}

/** What came of a scenario beside what was expected of this flavour, and beside the `fullest` that can be expected. */
export function judge(
  cases: readonly Case[],
  expected: Expectation,
  fullest: Expectation,
  { faultAtMs, overAtMs }: FaultSpan,
  findings: readonly TrendFinding[] = [],
): Verdict {
  const early = cases.filter(({ openedAtMs }) => openedAtMs < faultAtMs);
  const misses = early.map((one) => `opened ${nameOf(one)} before anything happened`);
  const pages = cases.reduce((sum, one) => sum + one.pages.length, 0);
  const main = mainCase(cases, expected);
  const last = main === undefined ? undefined : during(main, overAtMs);
  const seen = last === undefined ? null : { lead: last.lead, severity: worstOf(main), tier: tierOf(main) };
  const summary = { seen, pages, incidents: cases.length, unsaid: unsaidOf(main, expected, fullest) };
  if (expected.kind === 'quiet') {
    misses.push(...quietMisses(cases, pages, expected), ...findingMisses(findings, expected));
    const opened = main === undefined ? null : main.openedAtMs - faultAtMs;
    return { ...summary, misses, detectedAfterMs: opened };
  }
  const good = main?.sightings.find((sighting) => isAsExpected(sighting, expected));
  const detectedAfterMs = good === undefined ? null : good.atMs - faultAtMs;
  misses.push(...incidentMisses(cases, main, { detectedAfterMs, pages, overAtMs }, expected));
  return { ...summary, misses, detectedAfterMs };
}

/** Evidence of the fullest telemetry that is not asked of this one, and that the incident does not name. */
function unsaidOf(main: Case | undefined, expected: Expectation, fullest: Expectation): readonly string[] {
  if (fullest === expected || fullest.kind === 'quiet') return [];
  const asked = expected.kind === 'quiet' ? [] : expected.evidence.map(({ what }) => what);
  return fullest.evidence
    .filter((one) => !asked.includes(one.what) && (main === undefined || !isNamed(main, one)))
    .map(({ what }) => what);
}

function quietMisses(cases: readonly Case[], pages: number, { incidentsMax }: QuietExpected): string[] {
  const misses: string[] = [];
  if (pages > 0) misses.push(`${pages} pages where nobody was to be paged`);
  if (cases.length > incidentsMax) misses.push(`opened ${namesOf(cases)}, at most ${incidentsMax} expected`);
  return misses;
}

/** What the weekly review is told beside what it must be told: no less, no more. */
function findingMisses(found: readonly TrendFinding[], { findings }: QuietExpected): string[] {
  if (findings === undefined) return [];
  const misses: string[] = [];
  const subjectOf = (subject: Readonly<Record<string, string>>): string => Object.values(subject).join(' ') || 'fleet';
  const told = new Map(
    found.map((one) => [`${one.measure} of ${subjectOf(labelsToObject(one.subject))}`, one.slopePerWeek]),
  );
  for (const { measure, subject, slopePerWeek } of findings.all) {
    const name = `${measure} of ${subjectOf(subject)}`;
    const slope = told.get(name);
    told.delete(name);
    const [least, most] = slopePerWeek;
    if (slope === undefined) misses.push(`the review is not told of ${name}`);
    else if (slope < least || slope > most) {
      misses.push(`${name} changes by ${slope.toPrecision(3)} a week, not by ${least} to ${most}`);
    }
  }
  for (const [name, slope] of told) misses.push(`the review is told of ${name}, ${slope.toPrecision(3)} a week`);
  return misses;
}

function incidentMisses(
  cases: readonly Case[],
  main: Case | undefined,
  { detectedAfterMs, pages, overAtMs }: Pick<Verdict, 'detectedAfterMs' | 'pages'> & Pick<FaultSpan, 'overAtMs'>,
  expected: IncidentExpected,
): string[] {
  if (main === undefined) return [`no incident, ${expected.lead} expected`];
  const misses: string[] = [];
  const last = during(main, overAtMs);
  if (!isLead(last.lead, expected)) misses.push(`led by ${last.lead}, not ${expected.lead}`);
  if (worstOf(main) !== expected.severity) misses.push(`a ${worstOf(main)}, not a ${expected.severity}`);
  if (detectedAfterMs === null) misses.push(`never a ${expected.severity} led by ${expected.lead}`);
  else if (detectedAfterMs > expected.withinMs) {
    misses.push(`after ${durationText(detectedAfterMs)}, later than ${durationText(expected.withinMs)}`);
  }
  if (pages !== expected.pages) misses.push(`${pages} pages, not ${expected.pages}${pagesText(cases)}`);
  if (cases.length > 1) misses.push(`${cases.length} incidents for one cause: ${namesOf(cases)}`);
  if (expected.tiers !== null && !expected.tiers.includes(tierOf(main) ?? '')) {
    misses.push(`tier ${tierOf(main) ?? 'none'}, not ${expected.tiers.join(' or ')}`);
  }
  if (isLead(last.lead, expected) && last.lead === expected.lead && last.runbook !== expected.runbook) {
    misses.push(`runbook ${last.runbook}, not ${expected.runbook}`);
  }
  for (const { what } of expected.evidence.filter((named) => !isNamed(main, named)))
    misses.push(`${what} is not named`);
  const joined = new Set(main.sightings.flatMap(({ members }) => members));
  for (const name of expected.members) if (!joined.has(name)) misses.push(`${name} is not a part of it`);
  misses.push(...endMisses(main.sightings.at(-1) as Sighting, expected.ends));
  return misses;
}

function endMisses({ state, severity }: Sighting, ends: Ending): string[] {
  const isOver = state === 'resolved';
  switch (ends) {
    case 'resolved':
      return isOver ? [] : ['still open at the end'];
    case 'calmed':
      return isOver || severity === 'ticket' ? [] : ['still a page at the end'];
    case 'lasting':
      return isOver ? ['resolved while its cause lasts'] : [];
  }
}

const isLead = (lead: string, { lead: wanted, alternatives }: IncidentExpected): boolean =>
  lead === wanted || alternatives.includes(lead);

const isAsExpected = ({ lead, severity, pages }: Sighting, expected: IncidentExpected): boolean =>
  isLead(lead, expected) && (expected.severity === 'ticket' || (severity === 'page' && pages > 0));

/** The one with the lead that was asked for, else the gravest, else the first. */
function mainCase(cases: readonly Case[], expected: Expectation): Case | undefined {
  const led =
    expected.kind === 'quiet' ? [] : cases.filter((one) => isLead(one.sightings.at(-1)?.lead ?? '', expected));
  const [wanted] = [...led].sort((a, b) => b.pages.length - a.pages.length || a.id - b.id);
  return wanted ?? cases.find((one) => worstOf(one) === 'page') ?? cases[0];
}

const worstOf = (one: Case | undefined): string =>
  one?.sightings.some(({ severity }) => severity === 'page') ? 'page' : 'ticket';

/** The tier that it reached last; incidents keep their highest. */
const tierOf = (one: Case | undefined): string | null =>
  one?.sightings.findLast(({ tier }) => tier !== null)?.tier ?? null;

const nameOf = (one: Case): string => `${worstOf(one)} ${one.sightings.at(-1)?.lead ?? '?'}`;

const NAMES_MAX = 5;

const shortList = (names: readonly string[]): string =>
  names.length <= NAMES_MAX
    ? names.join(', ')
    : `${names.slice(0, NAMES_MAX).join(', ')} and ${names.length - NAMES_MAX} more`;

const namesOf = (cases: readonly Case[]): string => shortList(cases.map(nameOf));

const pagesText = (cases: readonly Case[]): string => {
  const reasons = cases.flatMap((one) => one.pages.map(({ reason }) => `${one.sightings.at(-1)?.lead} ${reason}`));
  return reasons.length === 0 ? '' : ` (${shortList(reasons)})`;
};

/** As it last stood while the cause was there; later what is left of it may lead. */
const during = ({ sightings }: Case, overAtMs: number): Sighting =>
  sightings.findLast(({ atMs }) => atMs < overAtMs) ?? (sightings[0] as Sighting);

const isNamed = ({ sightings }: Case, { pattern }: Named): boolean =>
  sightings.some(({ texts }) => texts().some((text) => pattern.test(text)));
