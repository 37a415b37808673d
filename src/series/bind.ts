import type { CellSource } from '../aggregate/cells.ts';
import { labelsKey, labelsOf } from '../model/labels.ts';
import type { Slo } from '../slo/slo.ts';
import { bindFeatures } from './bind-features.ts';
import { bindSlo, compileSlo } from './bind-slo.ts';
import { bindTotals } from './bind-totals.ts';
import type { Binder, SeriesBinding, SeriesDescription } from './binding.ts';
import { BindingDraft } from './binding-draft.ts';
import { ownPairs } from './profiles/profile.ts';
import { DEFAULT_PROFILE_OPTIONS, ignoringClusters, translate } from './profiles/registry.ts';
import { stageOf } from './stage-of.ts';

export interface BinderDeps {
  /** The list that was given to the aggregate's `replaceSlos`. */
  readonly slos: readonly Slo[];
  readonly aggregate: CellSource;
  /** Anchored patterns of clusters that serve the balancer itself; the built-in list by default. */
  readonly ignoredClusters?: readonly string[];
}

/**
 * Compiles the SLOs once; binding a series then finds every cell that it feeds and tells the balancer's record what it
 * feeds. A new binder supposes that all series are bound again through it.
 */
export function createBinder({ slos, aggregate, ignoredClusters }: BinderDeps): Binder {
  const compiled = slos.map(compileSlo);
  const options = ignoredClusters === undefined ? DEFAULT_PROFILE_OPTIONS : ignoringClusters(ignoredClusters);
  aggregate.resetSeriesCounts();
  return {
    bind(description): SeriesBinding {
      const { understood, flavor, series, reads } = translate(description, options);
      const record = aggregate.balancer(description.balancer);
      record.flavor ??= flavor;
      record.bound(description.name, understood);
      for (const one of series) {
        const stage = stageOf(one);
        if (stage !== null) record.reportsStage(stage.name, stage.fidelity);
      }
      const draft = new BindingDraft();
      const origin = { balancer: description.balancer, source: () => sourceOf(description), kind: description.kind };
      for (const one of series) {
        for (const slo of compiled) bindSlo(draft, slo, one, description.balancer, aggregate);
        bindFeatures(draft, one, origin, aggregate);
        bindTotals(draft, one, origin, aggregate);
      }
      return draft.toBinding(understood, reads);
    },
  };
}

/** Tells the series of one balancer apart, the same whenever the series is bound again. */
const sourceOf = ({ name, attributes }: SeriesDescription): string =>
  `${name}${labelsKey(labelsOf(ownPairs(attributes)))}`;
