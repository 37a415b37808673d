import { ATTRIBUTE } from './conventions.ts';

/** What of a canonical metric is kept as a total and told at /metrics. */
export interface FleetTotal {
  /** Attributes that tell its series apart; all others are added up. */
  readonly labels: readonly string[];
  /** What balancers do towards hosts is left out. */
  readonly ofClients?: boolean;
}

const { instance, cluster, zone, host, side, responseClass } = ATTRIBUTE;
const PER_BALANCER: FleetTotal = { labels: [instance] };
const PER_CLUSTER: FleetTotal = { labels: [cluster] };
const PER_BOTH: FleetTotal = { labels: [instance, cluster] };

/**
 * Canonical metrics of the fleet at /metrics, by name. Few labels each, so that their number is bounded by balancers
 * and clusters; only requests are told by host.
 */
export const FLEET_TOTALS: ReadonlyMap<string, FleetTotal> = new Map<string, FleetTotal>([
  // Downstream by balancer and its zone, upstream by cluster and zone of the hosts.
  ['lb.requests', { labels: [side, instance, ATTRIBUTE.balancerZone, cluster, zone, responseClass] }],
  ['lb.upstream.host.requests', { labels: [cluster, zone, host, responseClass] }],
  ['http.server.request.duration', PER_BALANCER],
  ['http.client.request.duration', PER_CLUSTER],
  ['lb.stage.accept_queue.duration', PER_BALANCER],
  ['lb.stage.tls.duration', PER_BALANCER],
  ['lb.stage.connect.duration', PER_BOTH],
  ['lb.stage.backend.duration', PER_BOTH],
  ['lb.stage.write.duration', PER_BOTH],
  ['lb.added.duration', PER_BALANCER],
  [
    'lb.tls.handshakes',
    { labels: [instance, ATTRIBUTE.tlsResumed, ATTRIBUTE.tlsKeyType, ATTRIBUTE.errorType], ofClients: true },
  ],
  ['lb.connections.opened', { labels: [instance], ofClients: true }],
  ['lb.connections.rejected', PER_BALANCER],
  ['lb.accept_queue.overflows', PER_BALANCER],
  ['lb.stream.resets', { labels: [instance, side] }],
  ['lb.host.tcp.listen_drops', PER_BALANCER],
  ['lb.host.tcp.retransmits', PER_BALANCER],
  ['lb.host.tcp.syn_retransmits', PER_BALANCER],
  ['lb.host.tcp.timeouts', PER_BALANCER],
  ['lb.host.tcp.resets_sent', PER_BALANCER],
  ['lb.host.tcp.syncookies_sent', PER_BALANCER],
  ['lb.l4.flow_table.misses', PER_BALANCER],
  ['lb.config.rejected', { labels: [instance, ATTRIBUTE.configKind] }],
  ['lb.retries', { labels: [cluster, ATTRIBUTE.layer, ATTRIBUTE.retryOutcome] }],
  ['lb.rejections', { labels: [cluster, ATTRIBUTE.rejectionReason] }],
  ['lb.upstream.ejections', { labels: [cluster, ATTRIBUTE.ejectionReason, ATTRIBUTE.ejectionEnforced] }],
  ['lb.upstream.panic.requests', PER_CLUSTER],
  ['lb.upstream.no_healthy.requests', PER_CLUSTER],
  ['lb.upstream.health_checks.failed', PER_CLUSTER],
  ['lb.upstream.hash.overflows', PER_CLUSTER],
  ['lb.upstream.streams.rejected', PER_CLUSTER],
]);
