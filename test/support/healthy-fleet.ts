import type {
  BalancerState,
  FeatureName,
  FeatureSeries,
  FeatureView,
  GaugeName,
} from '../../src/aggregate/features.ts';
import type { Prng } from '../../src/base/prng.ts';
import { type EpochMs, epochMs, ms } from '../../src/base/units.ts';
import { labelsOf } from '../../src/model/labels.ts';
import { NO_STAGES } from '../../src/model/stages.ts';
import { NO_EDGE } from './no-edge.ts';

export interface HealthyOptions {
  readonly hosts: number;
  /** Requests per host and minute, on the day's average. */
  readonly perMinute: number;
  readonly days: number;
  readonly prng: Prng;
}

const MINUTE = 60_000;
const MINUTES_PER_DAY = 1440;
const ORIGIN = 20_000 * 86_400_000;
const ZONES = ['a', 'b', 'c'];
/** One request in a thousand fails; a host that restarts fails these of the requests it still gets. */
const ERROR_SHARE = 0.001;
const RESTART_ERROR_SHARE = 0.05;
const RESTART_TRAFFIC = 0.2;
/** Times are lognormal: median, and deviation of the logarithm; one request in ten thousand waits for a time-out. */
const MEDIAN_SECONDS = 0.04;
const LOG_DEVIATION = 1;
const TIMEOUT_SHARE = 1e-4;
const TIMEOUT_SECONDS = 10;
/** More requests than these are drawn as one sum. */
const DRAWN_ALONE_MAX = 40;
/** How much hosts differ in weight, in both directions. */
const UNEQUAL = 0.2;
/** A host fails its check now and then without a reason, for a minute. */
const CHECK_FAILS_PER_MINUTE = 1 / MINUTES_PER_DAY / 3;
const WARM_UP_MINUTES = 8 * 60;

/** Prefix sums per minute. */
class MinuteSeries implements FeatureSeries {
  readonly labels;
  readonly firstDataAt = epochMs(ORIGIN);
  readonly #sums: Float64Array;
  readonly clock: { minute: number };

  constructor(labels: Readonly<Record<string, string>>, minutes: number, clock: { minute: number }) {
    this.labels = labelsOf(Object.entries(labels));
    this.#sums = new Float64Array(minutes + 1);
    this.clock = clock;
  }

  /** In the minute that ends now. */
  set(amount: number): void {
    const { minute } = this.clock;
    this.#sums[minute] = (this.#sums[minute - 1] ?? 0) + amount;
  }

  range(from: EpochMs, to: EpochMs): number {
    const at = (time: number): number =>
      this.#sums[Math.max(0, Math.min(this.clock.minute, Math.floor((time - ORIGIN) / MINUTE)))] ?? 0;
    return at(to) - at(from);
  }
}

interface Host {
  readonly name: string;
  readonly weight: number;
  readonly requests: MinuteSeries;
  readonly errors: MinuteSeries;
  readonly timed: MinuteSeries;
  readonly duration: MinuteSeries;
  readonly changes: MinuteSeries;
  isHealthy: boolean;
}

/** A fleet of one cluster that is well, minute by minute. Nothing in it deserves an alert. */
export class HealthyFleet implements FeatureView {
  readonly histograms = NO_EDGE.histograms;
  readonly peaks = NO_EDGE.peaks;
  readonly configs = NO_EDGE.configs;
  readonly rollouts = NO_EDGE.rollouts;
  readonly certificates = NO_EDGE.certificates;
  readonly #options: HealthyOptions;
  readonly #clock = { minute: 0 };
  readonly #hosts: readonly Host[];
  readonly #series = new Map<FeatureName, FeatureSeries[]>();
  readonly #totals: ReadonlyMap<FeatureName, MinuteSeries>;
  readonly #pool: { healthy: number };

  constructor(options: HealthyOptions) {
    this.#options = options;
    this.#hosts = Array.from({ length: options.hosts }, (_, index) => this.#createHost(index));
    const names = ['cluster.requests', 'cluster.errors', 'cluster.hosts.healthy', 'cluster.hosts.due'] as const;
    this.#totals = new Map(names.map((name) => [name, this.#create(name, { cluster: 'checkout' })]));
    this.#pool = { healthy: options.hosts };
  }

  /** Times to evaluate at, once there is enough history. */
  *minutes(): Iterable<EpochMs> {
    for (let minute = 1; minute <= this.#options.days * MINUTES_PER_DAY; minute += 1) {
      this.#clock.minute = minute;
      this.#advance(minute);
      if (minute > WARM_UP_MINUTES) yield this.#now();
    }
  }

  features(name: FeatureName): Iterable<FeatureSeries> {
    return this.#series.get(name) ?? [];
  }

  *gauges(name: GaugeName) {
    if (name !== 'cluster.hosts') return;
    const { hosts } = this.#options;
    const states = [
      ['healthy', this.#pool.healthy],
      ['unhealthy', hosts - this.#pool.healthy],
    ] as const;
    for (const [state, value] of states) {
      yield {
        labels: labelsOf(Object.entries({ cluster: 'checkout', balancer: 'edge', state })),
        value,
        at: this.#now(),
      };
    }
  }

  balancers(): readonly BalancerState[] {
    return [
      {
        id: 'edge',
        zone: null,
        region: null,
        flavor: 'envoy',
        version: null,
        firstSeenAt: epochMs(ORIGIN),
        newestPointAt: this.#now(),
        interval: ms(10_000),
        stale: false,
        slos: [],
        clusters: ['checkout'],
        seriesCount: 1,
        stages: NO_STAGES,
        metricsUnderstood: [],
        metricsIgnored: [],
        brackets: [],
      },
    ];
  }

  watermark(): EpochMs {
    return this.#now();
  }

  #now(): EpochMs {
    return epochMs(ORIGIN + this.#clock.minute * MINUTE);
  }

  #create(name: FeatureName, labels: Readonly<Record<string, string>>): MinuteSeries {
    const series = new MinuteSeries(labels, this.#options.days * MINUTES_PER_DAY, this.#clock);
    this.#series.set(name, [...(this.#series.get(name) ?? []), series]);
    return series;
  }

  #createHost(index: number): Host {
    const name = `10.0.${index >> 8}.${index & 255}`;
    const labels = { cluster: 'checkout', host: name };
    const placed = { ...labels, zone: ZONES[index % ZONES.length] as string };
    return {
      name,
      weight: 1 + UNEQUAL * (2 * this.#options.prng.next() - 1),
      requests: this.#create('host.requests', placed),
      errors: this.#create('host.errors', placed),
      timed: this.#create('host.timed', labels),
      duration: this.#create('host.duration', labels),
      changes: this.#create('host.health.changes', { ...labels, balancer: 'edge' }),
      isHealthy: true,
    };
  }

  #advance(minute: number): void {
    const { perMinute, prng } = this.#options;
    const ofDay = minute % MINUTES_PER_DAY;
    const wave = 1 + 0.7 * Math.sin((2 * Math.PI * ofDay) / MINUTES_PER_DAY);
    let requests = 0;
    let errors = 0;
    let healthy = 0;
    for (const [index, host] of this.#hosts.entries()) {
      // A rolling deploy from ten o'clock on: each host is away for one minute, one after the other.
      const isRestarting = ofDay - 600 === index;
      const isHealthy = !isRestarting && prng.next() >= CHECK_FAILS_PER_MINUTE;
      const due = perMinute * wave * host.weight * (isRestarting ? RESTART_TRAFFIC : 1);
      const count = prng.poisson(due);
      const failed = Math.min(count, prng.poisson(count * (isRestarting ? RESTART_ERROR_SHARE : ERROR_SHARE)));
      host.requests.set(count);
      host.errors.set(failed);
      host.timed.set(count);
      host.duration.set(Math.round(1e6 * this.#seconds(count)));
      host.changes.set(isHealthy === host.isHealthy ? 0 : 1);
      host.isHealthy = isHealthy;
      requests += count;
      errors += failed;
      healthy += isHealthy ? 1 : 0;
    }
    this.#pool.healthy = healthy;
    const sums = { 'cluster.requests': requests, 'cluster.errors': errors, 'cluster.hosts.healthy': healthy };
    for (const [name, amount] of Object.entries(sums)) this.#totals.get(name as FeatureName)?.set(amount);
    this.#totals.get('cluster.hosts.due')?.set(this.#hosts.length);
  }

  /** Time of so many requests together. */
  #seconds(count: number): number {
    const { prng } = this.#options;
    const normal = (): number => Math.sqrt(-2 * Math.log(1 - prng.next())) * Math.cos(2 * Math.PI * prng.next());
    const timeouts = TIMEOUT_SECONDS * prng.poisson(count * TIMEOUT_SHARE);
    if (count > DRAWN_ALONE_MAX) {
      const mean = MEDIAN_SECONDS * Math.exp(LOG_DEVIATION ** 2 / 2);
      const spread = mean * Math.sqrt(Math.exp(LOG_DEVIATION ** 2) - 1);
      return Math.max(0, count * mean + Math.sqrt(count) * spread * normal()) + timeouts;
    }
    let total = timeouts;
    for (let request = 0; request < count; request += 1) total += MEDIAN_SECONDS * Math.exp(LOG_DEVIATION * normal());
    return total;
  }
}
