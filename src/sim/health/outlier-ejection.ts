/** Settings of passive outlier ejection. */
export interface OutlierSettings {
  /** Consecutive 5xx of one host that eject it. */
  readonly consecutive: number;
  /** Success rates are compared this often, ms. */
  readonly intervalMs: number;
  /** A host is ejected whose success rate lies below mean - sigmas x standard deviation. */
  readonly sigmas: number;
  /** ... among at least this many hosts, */
  readonly hostsMin: number;
  /** ... each with at least this many requests in the interval. */
  readonly requestsMin: number;
  /** The first ejection lasts this long, ms; the nth lasts n times as long. */
  readonly baseMs: number;
  /** Largest share of the pool that may be out by ejection; above 0.2 it is taken as 0.2. One host always may. */
  readonly cap: number;
}

export const OUTLIERS: OutlierSettings = {
  consecutive: 5,
  intervalMs: 10_000,
  sigmas: 1.9,
  hostsMin: 5,
  requestsMin: 100,
  baseMs: 30_000,
  cap: 0.1,
};

const CAP_MAX = 0.2;

export type EjectionReason = 'consecutive_5xx' | 'success_rate';

export interface Ejection {
  readonly host: number;
  readonly reason: EjectionReason;
  /** False: the cap refused it, the host stays. */
  readonly enforced: boolean;
  /** When the host comes back, virtual ms; `at` of the decision when it was refused. */
  readonly until: number;
}

/**
 * Outlier ejection of one balancer and cluster: hosts are judged by their answers to requests, relative to each other
 * or by failures in a row. Every decision is bounded: at most `cap` of the pool, at least one host (so pools under five
 * may lose one), and what the cap refuses is told as well.
 */
export class OutlierEjection {
  readonly #settings: OutlierSettings;
  readonly #inRow: Uint16Array;
  readonly #requests: Float64Array;
  readonly #successes: Float64Array;
  /** 0 = in the pool. */
  readonly #until: Float64Array;
  readonly #times: Uint16Array;
  /** When the multiplier falls by one, if the host stays in. */
  readonly #easesAt: Float64Array;
  #pool: number;
  #out = 0;

  constructor(hosts: number, settings: OutlierSettings = OUTLIERS) {
    this.#settings = settings;
    this.#pool = hosts;
    this.#inRow = new Uint16Array(hosts);
    this.#requests = new Float64Array(hosts);
    this.#successes = new Float64Array(hosts);
    this.#until = new Float64Array(hosts);
    this.#times = new Uint16Array(hosts);
    this.#easesAt = new Float64Array(hosts);
  }

  /** Hosts that are out now. */
  get out(): number {
    return this.#out;
  }

  /** How many may be out at once. */
  get outMax(): number {
    return Math.max(1, Math.floor(Math.min(CAP_MAX, this.#settings.cap) * this.#pool));
  }

  /** The cluster has this many hosts from now on: the cap is a share of them. */
  poolChanged(hosts: number): void {
    this.#pool = hosts;
  }

  isOut(host: number): boolean {
    return (this.#until[host] ?? 0) > 0;
  }

  /** A request was answered. `failed`: with 5xx, or not at all. */
  answered(now: number, host: number, failed: boolean): Ejection | null {
    this.#requests[host] = (this.#requests[host] ?? 0) + 1;
    if (!failed) {
      this.#successes[host] = (this.#successes[host] ?? 0) + 1;
      this.#inRow[host] = 0;
      return null;
    }
    // A host already out still answers what was in flight: that is no new decision.
    if (this.isOut(host)) return null;
    this.#inRow[host] = (this.#inRow[host] ?? 0) + 1;
    return (this.#inRow[host] ?? 0) >= this.#settings.consecutive ? this.#eject(now, host, 'consecutive_5xx') : null;
  }

  /** Adds many answers at once without judging rows: for a fluid step, which then asks `eject` itself. */
  countAnswers(host: number, requests: number, successes: number): void {
    this.#requests[host] = (this.#requests[host] ?? 0) + requests;
    this.#successes[host] = (this.#successes[host] ?? 0) + successes;
  }

  /** `consecutive` failures in a row were seen: for a fluid step. */
  sawRow(now: number, host: number): Ejection | null {
    return this.isOut(host) ? null : this.#eject(now, host, 'consecutive_5xx');
  }

  /** Every interval: compares success rates and starts counting anew. Lowest rates first. */
  sweep(now: number): Ejection[] {
    const { hostsMin, requestsMin, sigmas } = this.#settings;
    const rates: { host: number; rate: number }[] = [];
    for (let host = 0; host < this.#requests.length; host += 1) {
      const requests = this.#requests[host] ?? 0;
      if (requests >= requestsMin && !this.isOut(host))
        rates.push({ host, rate: (this.#successes[host] ?? 0) / requests });
      this.#ease(now, host);
    }
    this.#requests.fill(0);
    this.#successes.fill(0);
    if (rates.length < hostsMin) return [];
    const mean = rates.reduce((sum, { rate }) => sum + rate, 0) / rates.length;
    const variance = rates.reduce((sum, { rate }) => sum + (rate - mean) ** 2, 0) / rates.length;
    const floor = mean - sigmas * Math.sqrt(variance);
    return rates
      .filter(({ rate }) => rate < floor)
      .sort((a, b) => a.rate - b.rate || a.host - b.host)
      .map(({ host }) => this.#eject(now, host, 'success_rate'));
  }

  /** Takes back the hosts whose time is over and returns them. */
  release(now: number): number[] {
    const back: number[] = [];
    if (this.#out === 0) return back;
    for (let host = 0; host < this.#until.length; host += 1) {
      const until = this.#until[host] ?? 0;
      if (until === 0 || until > now) continue;
      this.#until[host] = 0;
      this.#out -= 1;
      this.#easesAt[host] = until + this.#settings.intervalMs;
      back.push(host);
    }
    return back;
  }

  #eject(now: number, host: number, reason: EjectionReason): Ejection {
    this.#inRow[host] = 0;
    if (this.#out >= this.outMax) return { host, reason, enforced: false, until: now };
    this.#times[host] = (this.#times[host] ?? 0) + 1;
    const until = now + this.#settings.baseMs * (this.#times[host] ?? 1);
    this.#until[host] = until;
    this.#out += 1;
    return { host, reason, enforced: true, until };
  }

  /** A host that stays in for a whole interval is forgiven one ejection. */
  #ease(now: number, host: number): void {
    if (this.isOut(host) || (this.#times[host] ?? 0) === 0 || now < (this.#easesAt[host] ?? 0)) return;
    this.#times[host] = (this.#times[host] ?? 0) - 1;
    this.#easesAt[host] = now + this.#settings.intervalMs;
  }
}
