import {
  BALANCER,
  CLUSTER,
  type ClientSpec,
  type ClusterSpec,
  type FleetSpec,
  fleetOf,
  hostsOf,
  type TlsSpec,
  type ZoneSpec,
} from '../fleet-spec.ts';
import { CONNECTION_CPU_S, handshakeCpuS, REQUEST_CPU_S } from '../tls/costs.ts';
import type { Size } from './scenario.ts';

export const SECOND_MS = 1000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

const SERVICE_MS = 40;
/** What balancers use of their CPU unless said. */
const BALANCER_USE = 0.3;
/** Requests that a client sends over one connection. */
const REQUESTS_PER_CONNECTION = 20;
const NAMES = ['a', 'b', 'c', 'd'];

export interface Shape {
  readonly seed: number;
  /** What hosts and balancers use of their capacity. */
  readonly hostUse?: number;
  readonly balancerUse?: number;
  readonly requestsPerConnection?: number;
  readonly regions?: number;
  readonly cluster?: Partial<ClusterSpec>;
  readonly clients?: Partial<ClientSpec>;
  readonly tls?: Partial<TlsSpec>;
}

/** A fleet of one cluster whose hosts and balancers are as large as its traffic asks for. */
export function sizedFleet(size: Size, shape: Shape): FleetSpec {
  const { requestsPerS, hosts, zones } = size;
  const serviceMs = shape.cluster?.hosts?.[0]?.serviceMs ?? SERVICE_MS;
  const slots = Math.max(4, Math.ceil((requestsPerS * serviceMs) / SECOND_MS / hosts / (shape.hostUse ?? 0.35)));
  return edgeFleet(size, shape, [
    {
      ...CLUSTER,
      requestsPerS,
      hosts: hostsOf(hosts, { slots, name: 'app' }, zones),
      ...shape.cluster,
    },
  ]);
}

/** Balancers in front of the given clusters, as large as all their traffic asks for. */
export function edgeFleet(size: Size, shape: Shape, clusters: readonly ClusterSpec[]): FleetSpec {
  const requestsPerS = clusters.reduce((sum, cluster) => sum + cluster.requestsPerS, 0);
  const connectionsPerS = requestsPerS / (shape.requestsPerConnection ?? REQUESTS_PER_CONNECTION);
  const keyType = shape.tls?.keyType ?? 'ecdsa-p256';
  const cores = Math.max(1, coresFor(size.balancers, requestsPerS, shape));
  const perBalancerS = connectionsPerS / size.balancers;
  return fleetOf({
    seed: shape.seed,
    zones: zonesOf(size.zones, shape.regions ?? 1),
    balancers: Array.from({ length: size.balancers }, (_, i) => ({
      ...BALANCER,
      name: `lb-${i}`,
      zone: i % size.zones,
      cores,
      acceptsPerS: Math.max(1000, Math.ceil(perBalancerS * 5)),
    })),
    clusters,
    clients: { connectionsPerS, ...shape.clients },
    tls: { keyType, ticketHolders: Math.max(1e5, connectionsPerS * 3600), ...shape.tls },
  });
}

/** CPU of one request with its part of a connection, s. */
function costS(shape: Shape): number {
  const keyType = shape.tls?.keyType ?? 'ecdsa-p256';
  const newShare = shape.clients?.newShare ?? 0.35;
  const perConnectionS =
    CONNECTION_CPU_S + newShare * handshakeCpuS('full', keyType) + (1 - newShare) * handshakeCpuS('resumed', keyType);
  return REQUEST_CPU_S + perConnectionS / (shape.requestsPerConnection ?? REQUESTS_PER_CONNECTION);
}

const coresFor = (balancers: number, requestsPerS: number, shape: Shape): number =>
  Math.round((requestsPerS * costS(shape)) / balancers / (shape.balancerUse ?? BALANCER_USE));

/**
 * The size with the traffic next to it that uses balancers of whole cores, two at least, exactly as much as `shape` says:
 * what happens at the edge of capacity depends on it.
 */
export function fitTraffic(size: Size, shape: Shape): Size {
  const cores = Math.max(2, coresFor(size.balancers, size.requestsPerS, shape));
  const requestsPerS = (cores * size.balancers * (shape.balancerUse ?? BALANCER_USE)) / costS(shape);
  return { ...size, requestsPerS: Math.round(requestsPerS) };
}

/** Zones a, b, ... spread over regions r1, r2, ... in turn. */
export const zonesOf = (zones: number, regions = 1): ZoneSpec[] =>
  Array.from({ length: zones }, (_, i) => ({ name: NAMES[i] ?? `z${i}`, region: `r${(i % regions) + 1}` }));

/** Seconds of CPU that the fleet has, per second. */
export const coresOf = ({ balancers }: FleetSpec): number => balancers.reduce((sum, { cores }) => sum + cores, 0);
