import type { FeatureView, GaugeName, GaugeReading } from '../aggregate/features.ts';
import type { EpochMs } from '../base/units.ts';

/**
 * The view at one moment: what is worked out for it is worked out once, however many detectors ask. Good until the
 * cells change.
 */
export function viewAt(view: FeatureView, now: EpochMs): FeatureView {
  const gauges = new Map<GaugeName, readonly GaugeReading[]>();
  const once = <T>(read: (at: EpochMs) => T): ((at: EpochMs) => T) => {
    let known: { readonly value: T } | null = null;
    return (at) => {
      if (at !== now) return read(at);
      known ??= { value: read(at) };
      return known.value;
    };
  };
  return {
    features: (name) => view.features(name),
    histograms: (name) => view.histograms(name),
    peaks: (name) => view.peaks(name),
    gauges(name, at) {
      if (at !== now) return view.gauges(name, at);
      const readings = gauges.get(name) ?? [...view.gauges(name, at)];
      gauges.set(name, readings);
      return readings;
    },
    configs: once((at) => view.configs(at)),
    rollouts: () => view.rollouts(),
    certificates: once((at) => view.certificates(at)),
    balancers: once((at) => view.balancers(at)),
    watermark: once((at) => view.watermark(at)),
  };
}
