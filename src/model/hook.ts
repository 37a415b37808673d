import type { EpochMs, Ms } from '../base/units.ts';

/** Where a hook is called. */
export interface HookTarget {
  readonly name: string;
  readonly url: string;
  /** Key of the HMAC-SHA256 signature header; null = unsigned. */
  readonly secret: string | null;
  /** Names of the alerts that make it call. */
  readonly alerts: readonly string[];
}

export const CAPTURES = ['packets', 'profile'] as const;

/** Asks balancers for a packet capture or a profile. */
export interface CaptureHook extends HookTarget {
  readonly kind: 'capture';
  readonly what: (typeof CAPTURES)[number];
  /** Ids; empty = those that the alert is about. */
  readonly balancers: readonly string[];
  readonly maxBalancers: number;
  readonly maxDuration: Ms;
  readonly maxBytes: number;
  /** At most once per incident in this time. */
  readonly every: Ms;
  readonly maxPerHour: number;
}

/** Asks for a host to be replaced. */
export interface RemediateHook extends HookTarget {
  readonly kind: 'remediate';
  /** At most once per host in this time, an hour or more. */
  readonly perHost: Ms;
  /** At most this share of a pool in that time, a tenth or less. */
  readonly poolShare: number;
  /** Nothing is replaced while one of these fires in the cluster, or fleet-wide. */
  readonly notWhile: readonly string[];
}

export type Hook = CaptureHook | RemediateHook;

/** `rules/hooks.yaml`, resolved. */
export type HookRules = readonly Hook[];

export type RefusalCode =
  | 'asked_lately'
  | 'too_many_captures'
  | 'no_balancer'
  | 'no_host'
  | 'foreign'
  | 'muted'
  | 'not_while'
  | 'host_bound'
  | 'pool_unknown'
  | 'pool_bound';

/**
 * One call of a hook, or why it was not called. It is stored as `calling` before anything is sent, so that a crash makes
 * it `unknown` and never two.
 */
export interface HookCall {
  /** The same for ever; sent along, so that whoever is called can tell one from another. */
  readonly id: string;
  readonly hook: string;
  readonly kind: Hook['kind'];
  readonly incident: number;
  /** Key, name and start of the alert that it is for. */
  readonly alert: string;
  readonly alertName: string;
  readonly alertSince: EpochMs;
  readonly at: EpochMs;
  readonly balancers: readonly string[];
  readonly host: string | null;
  /** Pools that the host was in. */
  readonly clusters: readonly string[];
  readonly state: 'calling' | 'done' | 'refused' | 'failed' | 'unknown';
  /** Of a refusal; null else. */
  readonly refusal: RefusalCode | null;
  /** Why it was called or not, and what came of it, for a person. */
  readonly reason: string;
  /** What the answer linked to. */
  readonly link: string | null;
  readonly endedAt: EpochMs | null;
}

/** Something to look at that belongs to an incident. */
export interface Attachment {
  readonly title: string;
  /** An absolute http(s) address. */
  readonly link: string;
  readonly at: EpochMs;
  readonly by: string;
}
