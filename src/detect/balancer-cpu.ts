import type { FeatureSeries, FeatureView } from '../aggregate/features.ts';
import type { EpochMs } from '../base/units.ts';
import { byBalancer } from './by-balancer.ts';

/** CPU of one balancer as sums, so that means over several of them come from sums too. */
export interface CpuSums {
  /** Utilisation x samples: divided by the other, the mean of all samples. */
  readonly busy: number;
  readonly all: number;
}

/** Reads CPU by balancer over any window: samples of utilisation where they are sent, else busy and idle seconds. */
export interface CpuReader {
  readonly balancers: readonly string[];
  read(balancer: string, from: EpochMs, to: EpochMs): CpuSums;
}

export function cpuReader(view: FeatureView): CpuReader {
  const samples = byBalancer(view.features('balancer.cpu.samples'));
  const permille = byBalancer(view.features('balancer.cpu.permille'));
  const time = byBalancer(view.features('balancer.cpu.time'));
  const sum = (series: readonly FeatureSeries[] | undefined, from: EpochMs, to: EpochMs): number =>
    (series ?? []).reduce((total, one) => total + one.range(from, to), 0);
  return {
    balancers: [...new Set([...samples.keys(), ...time.keys()])].sort(),
    read(balancer, from, to) {
      const told = sum(samples.get(balancer), from, to);
      if (told > 0) return { busy: sum(permille.get(balancer), from, to) / 1000, all: told };
      const seconds = time.get(balancer) ?? [];
      const busy = seconds.filter(({ labels }) => labels.get('state') === 'busy');
      return { busy: sum(busy, from, to), all: sum(seconds, from, to) };
    },
  };
}
