import { ATTRIBUTE } from '../model/conventions.ts';
import { type Fidelity, STAGES, type StageName } from '../model/stages.ts';
import type { CanonicalSeries } from './profiles/profile.ts';

const BY_METRIC: ReadonlyMap<string, StageName> = new Map(STAGES.map((stage) => [`lb.stage.${stage}.duration`, stage]));

/**
 * The stage that a canonical series tells something about, and how faithfully. Connections that were turned away are
 * an indirect sign of waiting in the accept queue, which no balancer measures itself.
 */
export function stageOf({ metric, attributes, fidelity }: CanonicalSeries): {
  readonly name: StageName;
  readonly fidelity: Fidelity;
} | null {
  const stage = BY_METRIC.get(metric);
  if (stage !== undefined) return { name: stage, fidelity };
  const isTurnedAway =
    metric === 'lb.accept_queue.overflows' ||
    (metric === 'lb.connections.rejected' && attributes.get(ATTRIBUTE.side) === 'downstream');
  return isTurnedAway ? { name: 'accept_queue', fidelity: 'proxy_signal' } : null;
}
