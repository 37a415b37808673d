import { ATTRIBUTE } from '../../model/conventions.ts';
import { type Labels, labelsOf } from '../../model/labels.ts';
import type { Fidelity } from '../../model/stages.ts';
import type { Attributes, Reads, SeriesDescription } from '../binding.ts';

export type { Fidelity };

/**
 * What of a point feeds the canonical series: a number's value or one less it, a histogram's count, sum or buckets.
 * `average` is a time that the balancer has averaged itself: it tells how a stage is reported and feeds no SLO.
 */
export type Takes = 'value' | 'complement' | 'average' | 'count' | 'sum' | 'buckets';

/** A canonical series that a received series feeds, `weight` times. */
export interface CanonicalSeries {
  readonly metric: string;
  /** Canonical attributes as text, those of the resource included where the vocabulary names them. */
  readonly attributes: Labels;
  readonly takes: Takes;
  readonly weight: number;
  /** Factor from the received unit to seconds; 1 for what is no time. */
  readonly toSeconds: number;
  readonly fidelity: Fidelity;
  /** What the received values are, where their declared type lies; the same for all that one series feeds. */
  readonly reads?: Reads;
}

export interface ProfileOptions {
  /** Whether a cluster serves the balancer itself (telemetry, control plane): left out of everything. */
  readonly isIgnoredCluster: (cluster: string) => boolean;
}

/**
 * Translates one vocabulary. Decides by the description alone, so that the order of arrival cannot matter. null = not
 * of this profile; an empty list = known, and left out on purpose (repeated elsewhere, or the balancer's own).
 */
export interface Profile {
  readonly name: string;
  /** What the balancer is, where the vocabulary tells; null where many senders share it. */
  readonly flavor: string | null;
  translate(description: SeriesDescription, options: ProfileOptions): readonly CanonicalSeries[] | null;
}

/** Resource attributes that canonical series carry: the vocabulary's own, and where the balancer runs. */
const CARRIED = /^(service|cloud|deployment|k8s|host|lb)\./;

export const textOf = (attributes: Attributes, name: string): string | undefined => attributes.get(name)?.text;

export type Pairs = Iterable<readonly [string, string | undefined]>;

/**
 * The given attributes over what the resource says; undefined values are left out. `service.instance.id` is the
 * resolved balancer where the resource has none.
 */
export function canonicalAttributes(description: SeriesDescription, own: Pairs): Labels {
  const pairs: [string, string][] = [[ATTRIBUTE.instance, description.balancer]];
  for (const [name, { text }] of description.resource) if (CARRIED.test(name)) pairs.push([name, text]);
  for (const [name, value] of own) if (value !== undefined) pairs.push([name, value]);
  return labelsOf(pairs);
}

/** The point's attributes as text. */
export const ownPairs = (attributes: Attributes): [string, string][] =>
  [...attributes].map(([name, { text }]) => [name, text]);

/**
 * `address:port` of `server.*`; some senders write the port into the address already, Traefik then with 0 as the port.
 */
export function serverOf(attributes: Attributes): string | undefined {
  const address = textOf(attributes, 'server.address');
  const port = textOf(attributes, 'server.port') ?? '0';
  return address === undefined || port === '0' || address.endsWith(`:${port}`) ? address : `${address}:${port}`;
}

/** `2xx` for 204; `none` for what is no HTTP status. */
export function responseClass(status: string | undefined): string {
  return status !== undefined && /^[1-5]\d\d$/.test(status) ? `${status.charAt(0)}xx` : 'none';
}

export const isHistogram = ({ kind }: SeriesDescription): boolean =>
  kind === 'histogram' || kind === 'exponential_histogram';

/** A sum that only grows. Anything else is a level, whatever its name says. */
export const isCounter = ({ kind, monotonic }: SeriesDescription): boolean => kind === 'sum' && monotonic;

export const isLevel = ({ kind, monotonic }: SeriesDescription): boolean =>
  kind === 'gauge' || (kind === 'sum' && !monotonic);

/** Factor to seconds of a declared unit; 1 for anything that is not a time. */
export function secondsPerUnit(unit: string): number {
  switch (unit) {
    case 'ms':
      return 1e-3;
    case 'us':
    case 'µs':
      return 1e-6;
    case 'ns':
      return 1e-9;
    case 'min':
      return 60;
    default:
      return 1;
  }
}
