/**
 * Every name that crosses a border of the product: canonical metrics and attributes (what profiles translate to and
 * SLO files
 * ask for) and our own alerts. Nothing else invents one.
 */

export type CanonicalType = 'counter' | 'histogram' | 'gauge';

export interface CanonicalMetric {
  readonly name: string;
  readonly type: CanonicalType;
  readonly unit: string;
  /** One line for docs and `check`. */
  readonly text: string;
}

const counter = (name: string, unit: string, text: string): CanonicalMetric => ({ name, type: 'counter', unit, text });
const histogram = (name: string, text: string): CanonicalMetric => ({ name, type: 'histogram', unit: 's', text });
const gauge = (name: string, unit: string, text: string): CanonicalMetric => ({ name, type: 'gauge', unit, text });

/** The canonical vocabulary: it follows OpenTelemetry's conventions; what they lack lies under `lb.`. */
export const CANONICAL_METRICS: readonly CanonicalMetric[] = [
  counter('lb.requests', '{request}', 'Requests answered, by side and response class.'),
  histogram('http.server.request.duration', 'Whole request as the client sees it.'),
  histogram('http.client.request.duration', 'One attempt against a host.'),
  histogram('lb.stage.accept_queue.duration', 'Connection ready to accept until accepted.'),
  histogram('lb.stage.tls.duration', 'Accepted until the TLS handshake finished or failed.'),
  histogram('lb.stage.connect.duration', 'Connect to a host started until connected.'),
  histogram('lb.stage.backend.duration', 'Request sent to a host until its first response byte.'),
  histogram('lb.stage.write.duration', 'First response byte until the last one handed to the kernel.'),
  histogram('lb.stage.pool_queue.duration', 'Waiting for a connection slot of a host.'),
  histogram('lb.upstream.stream.duration', 'One stream over a multiplexed connection, by connection, time-outs too.'),
  histogram('lb.added.duration', 'Request time less backend and client time.'),
  histogram('lb.endpoints.propagation.duration', 'Hosts of a cluster changed until the balancer uses the change.'),
  counter('lb.tls.handshakes', '{handshake}', 'TLS handshakes, by resumption and failure.'),
  counter(
    'lb.retries',
    '{retry}',
    'Retries, by outcome, and by the layer that makes them (edge, gateway, mesh, client).',
  ),
  counter('lb.rejections', '{request}', 'Requests rejected by the balancer, by reason.'),
  counter('lb.mirror.requests', '{request}', 'Requests copied to a shadow, by outcome: sent, or why not.'),
  counter('lb.bytes.sent', 'By', 'Bytes of answers, by the cluster that they come from, else by listener.'),
  counter('lb.connections.opened', '{connection}', 'Connections opened.'),
  counter('lb.connections.rejected', '{connection}', 'Connections refused.'),
  counter('lb.accept_queue.overflows', '{connection}', 'Connections that the full accept queue turned away.'),
  counter('lb.tls.certificate.renewals', '{renewal}', 'Renewals of a certificate, by outcome.'),
  counter('lb.stream.resets', '{stream}', 'Streams reset.'),
  counter('lb.upstream.streams.rejected', '{stream}', 'Requests that found no place on any connection to a host.'),
  counter('lb.l4.flow_table.misses', '{flow}', 'Packets of flows that the L4 node they reached does not know.'),
  counter('lb.upstream.ejections', '{ejection}', 'Hosts ejected, by reason and whether it was enforced.'),
  counter('lb.upstream.panic.requests', '{request}', 'Requests routed in panic mode.'),
  counter('lb.upstream.host.requests', '{request}', 'Requests by host, told beside lb.requests and never added to it.'),
  counter('lb.upstream.no_healthy.requests', '{request}', 'Requests that found no healthy host.'),
  gauge('lb.upstream.host.healthy', '1', 'Whether a host is healthy, told beside lb.upstream.hosts.'),
  gauge('lb.upstream.host.capacity', '1', 'What a host can carry, as its operator or telemetry says; any one scale.'),
  gauge('lb.upstream.host.utilization', '1', 'How much of its capacity a host uses, 0 to 1.'),
  counter('lb.upstream.health_checks.failed', '{check}', 'Failed health checks of hosts.'),
  counter('lb.config.reloads', '{reload}', 'Reloads of the configuration.'),
  counter('lb.config.rejected', '{update}', 'Updates of the configuration that the balancer refused, by kind.'),
  counter('lb.cpu.time', 's', 'CPU time of the machine in whole seconds, busy and idle.'),
  counter('lb.host.tcp.listen_drops', '{connection}', 'Connections that the kernel dropped while listening.'),
  counter('lb.host.tcp.retransmits', '{segment}', 'TCP segments sent again.'),
  counter('lb.host.tcp.syn_retransmits', '{segment}', 'TCP openings sent again.'),
  counter('lb.host.tcp.timeouts', '{timeout}', 'TCP timers that ran out.'),
  counter('lb.host.tcp.resets_sent', '{segment}', 'TCP resets sent.'),
  counter('lb.host.tcp.syncookies_sent', '{segment}', 'SYN cookies sent.'),
  gauge('lb.upstream.hosts', '{host}', 'Hosts of a cluster, by state.'),
  gauge('lb.upstream.ejections.active', '{host}', 'Hosts ejected right now.'),
  gauge('lb.upstream.circuit.open', '1', 'Whether a circuit breaker of a cluster is open, by resource.'),
  gauge(
    'lb.upstream.hash.entries.max',
    '{entry}',
    'Most places of one host in the hash ring or table of a cluster that hashes.',
  ),
  counter('lb.upstream.hash.overflows', '{request}', 'Requests that bounded load sent past the host of their key.'),
  gauge('lb.connections.active', '{connection}', 'Open connections.'),
  gauge('lb.pool_queue.length', '{request}', 'Requests waiting for a connection slot of a host.'),
  gauge('lb.accept_queue.length', '{connection}', 'Connections waiting to be accepted.'),
  gauge('lb.accept_queue.limit', '{connection}', 'Connections that an accept queue can hold.'),
  gauge('lb.upstream.streams.active', '{stream}', 'Streams in flight to a host, by connection where it is told.'),
  gauge('lb.upstream.streams.limit', '{stream}', 'Streams that fit at a time.'),
  gauge('lb.upstream.streams.stalled', '{stream}', 'Streams in flight that do not move although they should.'),
  gauge('lb.cpu.utilization', '1', 'CPU of the balancer, 0 to 1.'),
  gauge('lb.l4.nodes', '{node}', 'L4 nodes in front of the balancers.'),
  gauge('lb.config.info', '1', 'Always 1; carries the config version.'),
  gauge('lb.config.stage', '1', 'Turn of the balancer in a rollout: 0 canary, 1 zone, 2 region, 3 everywhere.'),
  gauge('lb.config.last_reload.time', 's', 'Last successful reload, seconds since the epoch.'),
  gauge('system.network.connection.count', '{connection}', 'TCP connections of the machine, by state.'),
  gauge('lb.tls.certificate.not_after', 's', 'End of a certificate, seconds since the epoch.'),
];

const BY_NAME: ReadonlyMap<string, CanonicalMetric> = new Map(CANONICAL_METRICS.map((metric) => [metric.name, metric]));

export const canonicalMetric = (name: string): CanonicalMetric | undefined => BY_NAME.get(name);

/** Attributes of canonical series. */
export const ATTRIBUTE = {
  side: 'lb.side',
  responseClass: 'lb.response.class',
  responseSource: 'lb.response.source',
  statusCode: 'http.response.status_code',
  cluster: 'lb.upstream.cluster',
  zone: 'lb.upstream.zone',
  host: 'lb.upstream.host.name',
  /** Which of a balancer's connections to a host; a place in its pool, not an address. */
  connection: 'lb.upstream.connection',
  hostState: 'lb.host.state',
  listener: 'lb.listener',
  route: 'lb.route',
  flavor: 'lb.flavor',
  version: 'lb.version',
  errorType: 'error.type',
  ejectionReason: 'lb.ejection.reason',
  ejectionEnforced: 'lb.ejection.enforced',
  tlsResumed: 'tls.resumed',
  tlsKeyType: 'lb.tls.key.type',
  grpcStatus: 'lb.grpc.status',
  retryOutcome: 'lb.retry.outcome',
  layer: 'lb.layer',
  rejectionReason: 'lb.rejection.reason',
  mirrorOutcome: 'lb.mirror.outcome',
  certificate: 'lb.tls.certificate.name',
  renewalOutcome: 'lb.tls.certificate.renewal.outcome',
  ioDirection: 'network.io.direction',
  connectionState: 'network.connection.state',
  cpuState: 'lb.cpu.state',
  configVersion: 'lb.config.version',
  configKind: 'lb.config.kind',
  balancerZone: 'cloud.availability_zone',
  region: 'cloud.region',
  service: 'service.name',
  instance: 'service.instance.id',
} as const;

/** Alerts that slowburn itself raises. Each has a runbook of the same name. */
export const ALERT = {
  errorBudgetBurn: 'ErrorBudgetBurn',
  upstreamErrors: 'UpstreamErrors',
  hostEjections: 'HostEjections',
  fastFailSinkhole: 'FastFailSinkhole',
  hostOutlier: 'HostOutlier',
  ejectionCapReached: 'EjectionCapReached',
  healthCheckCascade: 'HealthCheckCascade',
  healthCheckFlapping: 'HealthCheckFlapping',
  zoneSkew: 'ZoneSkew',
  hostSkew: 'HostSkew',
  balancerSkew: 'BalancerSkew',
  noisyNeighbour: 'NoisyNeighbour',
  retryStorm: 'RetryStorm',
  admissionRejections: 'AdmissionRejections',
  trafficStopped: 'TrafficStopped',
  telemetryLost: 'TelemetryLost',
  handshakeStorm: 'HandshakeStorm',
  balancerSaturation: 'BalancerSaturation',
  stageTailShift: 'StageTailShift',
  acceptQueueSaturation: 'AcceptQueueSaturation',
  configPushRegression: 'ConfigPushRegression',
  configPushUnstaged: 'ConfigPushUnstaged',
  configDrift: 'ConfigDrift',
  configBudgetSpent: 'ConfigBudgetSpent',
  l4Rehash: 'L4Rehash',
  streamSaturation: 'StreamSaturation',
  drainCut: 'DrainCut',
  coldStart: 'ColdStart',
  certificateRenewalStalled: 'CertificateRenewalStalled',
  notificationsFailing: 'NotificationsFailing',
  watchdog: 'Watchdog',
} as const;
