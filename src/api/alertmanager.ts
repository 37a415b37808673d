import { type Matcher, matches, parseMatcher } from '../model/matcher.ts';
import type { LabelObject, SilenceView } from '../model/views.ts';
import { badField } from './problem.ts';

/** Shapes of Alertmanager's API v2 that are not ours, and what its query parameters mean. */

export interface GettableAlert {
  readonly annotations: LabelObject;
  readonly endsAt: string;
  readonly fingerprint: string;
  readonly generatorURL: string;
  readonly labels: LabelObject;
  readonly receivers: readonly { readonly name: string }[];
  readonly startsAt: string;
  readonly status: {
    readonly state: 'active' | 'suppressed';
    readonly inhibitedBy: readonly string[];
    readonly silencedBy: readonly string[];
    readonly mutedBy: readonly string[];
  };
  readonly updatedAt: string;
}

/** One `filter` or several, each a matcher. */
export function readFilters(given: string | readonly string[] | undefined): readonly Matcher[] {
  const texts = given === undefined ? [] : typeof given === 'string' ? [given] : given;
  return texts.map((text) => {
    const matcher = parseMatcher(text);
    if (matcher === null) throw badField('filter', `holds ${JSON.stringify(text)}, which is no matcher`);
    return matcher;
  });
}

export const fitsLabels = (filters: readonly Matcher[], labels: LabelObject): boolean =>
  filters.every((filter) => matches(filter, new Map(Object.entries(labels))));

/** As Alertmanager filters silences: by what their matchers write, as if it were labels. */
export function fitsSilence(filters: readonly Matcher[], { matchers }: SilenceView): boolean {
  const written = new Map(matchers.map(({ name, value }) => [name, value]));
  return filters.every((filter) => matches(filter, written));
}
