import type { FeatureName, FeatureView } from '../aggregate/features.ts';
import type { GroupView } from '../aggregate/view.ts';
import { formatInstant } from '../base/instant.ts';
import { DAY, type EpochMs, epochMs } from '../base/units.ts';
import type { GroupWindows } from '../burn/window.ts';
import { rolloutSpans, settleMsOf } from '../detect/config-budget-spent.ts';
import type { DetectorSettings } from '../detect/settings.ts';
import type { SpentView } from '../model/history-views.ts';
import type { Incident } from '../model/incident.ts';
import { placeOfGroup } from '../slo/place.ts';
import { unitOf } from '../slo/slices.ts';

/** What detectors read is kept for so long. */
const FEATURES_KEPT_MS = 8 * DAY;
/** Of each kind, those that spent most. */
const SHOWN_MAX = 20;

export interface SpentDeps {
  readonly features: FeatureView;
  readonly incidents: () => readonly Incident[];
  readonly configBudget: DetectorSettings | undefined;
}

/** Where a group's budget went, each kind by what spent most. Kinds overlap: an incident's spend is also some host's. */
export function spentBy(windows: GroupWindows, budget: number, deps: SpentDeps): readonly SpentView[] {
  const kinds = [
    byIncident(windows, budget, deps.incidents()),
    byPlace(windows, deps.features, 'zone', 'cluster.errors'),
    byPlace(windows, deps.features, 'host', 'host.errors'),
    byConfig(windows, budget, deps),
  ];
  return kinds.flatMap((found) => [...found].sort((a, b) => b.bad - a.bad).slice(0, SHOWN_MAX));
}

/** Events of a span, and their share of the budget. */
function spentIn({ group, counted }: GroupWindows, budget: number, from: EpochMs, to: EpochMs) {
  const weighed = group.range(from, to);
  const seen = counted.range(from, to);
  return {
    from: formatInstant(from),
    to: formatInstant(to),
    bad: seen.inconsistent ? 0 : seen.bad / unitOf(counted.slo.budgeting),
    share: budget <= 0 || weighed.inconsistent ? null : weighed.bad / budget,
  };
}

/** From where a burn set in until it was over, of the incidents that held this group's alert. */
function byIncident(windows: GroupWindows, budget: number, incidents: readonly Incident[]): readonly SpentView[] {
  const { from, end } = windows.slo;
  return incidents.flatMap(({ id, title, members }) =>
    members.flatMap(({ alert, resolvedAt, state }) => {
      if (alert.burn === null || state === 'moved' || !isOf(alert.labels, windows.group)) return [];
      const start = Math.max(from, alert.burn.burningSince);
      const stop = Math.min(end, resolvedAt ?? end);
      if (stop <= start) return [];
      return [
        {
          by: 'incident' as const,
          name: title,
          incident: id,
          ...spentIn(windows, budget, epochMs(start), epochMs(stop)),
        },
      ];
    }),
  );
}

const isOf = (labels: ReadonlyMap<string, string>, { slo, labels: own }: GroupView): boolean =>
  labels.get('slo') === slo.id && [...own].every(([name, value]) => (labels.get(name) ?? '') === value);

/**
 * Failed upstream requests of the group's cluster by zone or host, as far as balancers tell them. They are what an
 * availability SLO counts, not what a slow request is: a latency SLO has none.
 */
function byPlace(
  { group, slo }: GroupWindows,
  features: FeatureView,
  by: 'zone' | 'host',
  name: FeatureName,
): readonly SpentView[] {
  const { cluster, zone } = placeOfGroup(group.slo, group.labels);
  if (group.slo.indicator.kind !== 'events' || cluster === undefined) return [];
  const [from, to] = [epochMs(Math.max(slo.from, slo.end - FEATURES_KEPT_MS)), slo.end];
  const sums = new Map<string, number>();
  for (const series of features.features(name)) {
    const { labels } = series;
    const value = labels.get(by);
    const isElsewhere = zone !== undefined && labels.get('zone') !== undefined && labels.get('zone') !== zone;
    if (labels.get('cluster') !== cluster || value === undefined || isElsewhere) continue;
    sums.set(value, (sums.get(value) ?? 0) + series.range(from, to));
  }
  return [...sums].flatMap(([value, bad]) =>
    bad > 0
      ? [{ by, name: value, incident: null, from: formatInstant(from), to: formatInstant(to), bad, share: null }]
      : [],
  );
}

/** While a config version was rolled out, and for a while after. */
function byConfig(windows: GroupWindows, budget: number, { features, configBudget }: SpentDeps): readonly SpentView[] {
  const settleMs = settleMsOf(configBudget);
  const first = epochMs(Math.max(windows.slo.from, windows.group.firstDataAt ?? windows.slo.end));
  return rolloutSpans(features.rollouts(), first, windows.slo.end, settleMs).flatMap(({ from, to, versions }) => {
    const spent = spentIn(windows, budget, from, to);
    const name = versions.join(', ');
    return spent.bad > 0 ? [{ by: 'config_version' as const, name, incident: null, ...spent }] : [];
  });
}
