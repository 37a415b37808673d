import type { IncidentExpected, Named, QuietExpected } from './scenario.ts';

/** One incident led by `lead`, whose runbook has the same name, over at the end. */
export const incident = (
  lead: string,
  rest: Pick<IncidentExpected, 'severity' | 'withinMs' | 'pages' | 'evidence'> & Partial<IncidentExpected>,
): IncidentExpected => ({
  kind: 'incident',
  lead,
  alternatives: [],
  tiers: null,
  members: [],
  runbook: lead,
  ends: 'resolved',
  because: null,
  ...rest,
});

export const quiet = (incidentsMax = 0, because: string | null = null): QuietExpected => ({
  kind: 'quiet',
  incidentsMax,
  because,
});

export const named = (what: string, pattern: RegExp): Named => ({ what, pattern });
