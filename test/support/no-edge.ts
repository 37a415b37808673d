import type { FeatureView } from '../../src/aggregate/features.ts';

/** The parts of a view that tell of single balancers, where a test has none. */
export const NO_EDGE: Pick<FeatureView, 'histograms' | 'peaks' | 'configs' | 'rollouts' | 'certificates'> = {
  histograms: () => [],
  peaks: () => [],
  configs: () => [],
  rollouts: () => [],
  certificates: () => [],
};
