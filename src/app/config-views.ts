import type { FeatureView } from '../aggregate/features.ts';
import { formatInstant } from '../base/instant.ts';
import { type EpochMs, epochMs } from '../base/units.ts';
import { type ConfigHealth, cohortReader, healthOf, pushesOf } from '../detect/config-health.ts';
import { limitsOf } from '../detect/config-push-regression.ts';
import type { DetectorSettings } from '../detect/settings.ts';
import type { ConfigHealthView, ConfigVersionView } from '../model/views.ts';

/** Versions that heard balancers run now, in the order of kinds, then versions. */
export function configVersions(features: FeatureView, now: EpochMs): readonly ConfigVersionView[] {
  const pushes = pushesOf(features, now);
  const found = new Map<string, { kind: string; version: string; since: EpochMs; balancers: string[] }>();
  for (const { kind, version, since, balancer, current, stale } of features.configs(now)) {
    if (!current || stale) continue;
    const key = JSON.stringify([kind, version]);
    const known = found.get(key) ?? { kind, version, since, balancers: [] };
    known.since = epochMs(Math.min(since, known.since));
    known.balancers.push(balancer);
    found.set(key, known);
  }
  return [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { kind, version, since, balancers }]) => ({
      kind,
      version,
      previous: pushes.find((push) => push.kind === kind && push.version === version)?.previous ?? null,
      since: formatInstant(since),
      balancers,
    }));
}

/** Null where no balancer that is heard runs the version, or it replaced none. */
export function configHealth(
  features: FeatureView,
  settings: DetectorSettings | undefined,
  now: EpochMs,
  version: string,
  kind: string | null,
): ConfigHealthView | null {
  const end = features.watermark(now);
  const push = pushesOf(features, now).find((one) => one.version === version && (kind === null || one.kind === kind));
  if (end === null || push === undefined || settings === undefined) return null;
  return toView(healthOf(push, cohortReader(features), features.balancers(now), end, limitsOf(settings)));
}

const toView = ({ push, rollout, verdict, deltas, worse, requests, rarestSeen }: ConfigHealth): ConfigHealthView => ({
  kind: push.kind,
  version: push.version,
  previous: push.previous,
  since: formatInstant(push.since),
  stage: rollout,
  verdict,
  worse,
  deltas,
  requests,
  rarestSeen,
  balancers: push.balancers.map(({ id }) => id),
  rest: push.rest.map(({ id }) => id),
});
