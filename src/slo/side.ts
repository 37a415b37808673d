import { SIDES, type Side } from '../model/alert.ts';
import { ATTRIBUTE } from '../model/conventions.ts';
import type { Indicator, MetricQuery } from './slo.ts';

/** Metrics that are only ever measured on one side, by name. */
const OF_HOSTS = /^(http\.client\.|lb\.upstream\.|lb\.stage\.(connect|backend|pool_queue)\.|lb\.pool_queue\.)/;
const OF_CLIENTS = /^(http\.server\.|lb\.stage\.(accept_queue|tls|write)\.|lb\.added\.|lb\.accept_queue\.)/;

/** On which side everything that an indicator counts is measured; null where that is not said, or both. */
export function sideOf(indicator: Indicator): Side | null {
  const sides = new Set(queriesOf(indicator).map(sideOfQuery));
  const [only] = sides;
  return sides.size === 1 && only !== undefined ? only : null;
}

function queriesOf(indicator: Indicator): readonly MetricQuery[] {
  if (indicator.kind === 'composite') return indicator.members.flatMap((member) => queriesOf(member.indicator));
  return indicator.kind === 'latency' ? [indicator.query] : [indicator.part, indicator.total];
}

/** A condition on the side says more than the metric's name. */
function sideOfQuery({ metric, where }: MetricQuery): Side | null {
  for (const condition of where) {
    if (condition.attribute !== ATTRIBUTE.side) continue;
    return condition.kind === 'equals' ? (SIDES.find((side) => side === condition.value) ?? null) : null;
  }
  return OF_HOSTS.test(metric) ? 'upstream' : OF_CLIENTS.test(metric) ? 'downstream' : null;
}
