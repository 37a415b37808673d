import type { Policy, PolicyHost } from '../policies/policy.ts';
import { type ActiveCheckSettings, ActiveChecks, type HealthChange } from './active-checks.ts';
import { type Ejection, OutlierEjection, type OutlierSettings } from './outlier-ejection.ts';
import { isPanic } from './panic.ts';

/** A host of a cluster as configured; `member` tells whether it is in the cluster now. */
export interface PoolHost {
  readonly weight: number;
  member: boolean;
  draining: boolean;
  joinedAt: number;
}

export interface PoolSettings {
  /** Null: no active checks, every member counts as up. */
  readonly checks: ActiveCheckSettings | null;
  /** Null: no outlier ejection. */
  readonly outliers: OutlierSettings | null;
  readonly panicBelow: number;
}

/**
 * The hosts of one cluster as one balancer sees them: what probes say, what ejection took out, and from both the list
 * that its policy may pick from. Hosts are numbered from 0 within the cluster.
 */
export class HostPool {
  readonly checks: ActiveChecks | null;
  readonly outliers: OutlierEjection | null;
  /** True while too few hosts are healthy and all are used. */
  inPanic = false;
  /** Members that are up, not ejected and not draining. */
  healthy = 0;
  /** Members that are not draining. */
  members = 0;
  readonly #hosts: readonly PoolHost[];
  readonly #settings: PoolSettings;
  readonly #policies: readonly { readonly policy: Policy; takes(host: number): boolean }[];
  #onRefresh: (() => void) | null = null;

  /** `policies`: usually one that takes every host; by zone, one for the hosts of each. `onRefresh` hears changes. */
  constructor(
    hosts: readonly PoolHost[],
    settings: PoolSettings,
    policies: readonly { readonly policy: Policy; takes(host: number): boolean }[],
    onRefresh: (() => void) | null = null,
  ) {
    this.#hosts = hosts;
    this.#settings = settings;
    this.#policies = policies;
    this.checks = settings.checks === null ? null : new ActiveChecks(hosts.length, settings.checks);
    this.outliers = settings.outliers === null ? null : new OutlierEjection(hosts.length, settings.outliers);
    this.refresh();
    // Only from here on: whoever listens may still be under construction.
    this.#onRefresh = onRefresh;
  }

  isMember(host: number): boolean {
    return this.#hosts[host]?.member === true;
  }

  isDraining(host: number): boolean {
    return this.#hosts[host]?.draining === true;
  }

  isHealthy(host: number): boolean {
    return (this.checks?.isUp(host) ?? true) && !(this.outliers?.isOut(host) ?? false);
  }

  /** A probe ended. */
  probed(host: number, passed: boolean): HealthChange {
    const change = this.checks?.probed(host, passed) ?? null;
    if (change !== null) this.refresh();
    return change;
  }

  /** A request was answered, `failed` with 5xx or not at all. The ejection that followed, if any. */
  answered(now: number, host: number, failed: boolean): Ejection | null {
    const change = this.checks?.answered(host, failed) ?? null;
    const ejection = this.outliers?.answered(now, host, failed) ?? null;
    if (change !== null || ejection?.enforced === true) this.refresh();
    return ejection;
  }

  /** The ejector's interval ended. */
  sweep(now: number): readonly Ejection[] {
    const ejections = this.outliers?.sweep(now) ?? [];
    if (ejections.some(({ enforced }) => enforced)) this.refresh();
    return ejections;
  }

  /** Takes back hosts whose ejection is over. */
  release(now: number): void {
    if ((this.outliers?.release(now).length ?? 0) > 0) this.refresh();
  }

  /** Counts anew and tells the policies which hosts they may pick; also to be called when membership changed. */
  refresh(): void {
    const usable: PolicyHost[] = [];
    const members: PolicyHost[] = [];
    this.#hosts.forEach(({ weight, member, draining, joinedAt }, host) => {
      if (!member || draining) return;
      const entry = { host, weight, joinedAt };
      members.push(entry);
      if (this.isHealthy(host)) usable.push(entry);
    });
    this.members = members.length;
    this.healthy = usable.length;
    this.inPanic = isPanic(usable.length, members.length, this.#settings.panicBelow);
    this.outliers?.poolChanged(members.length);
    const hosts = this.inPanic ? members : usable;
    for (const { policy, takes } of this.#policies) policy.hostsChanged(hosts.filter(({ host }) => takes(host)));
    this.#onRefresh?.();
  }
}
