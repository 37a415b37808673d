import Type, { type TSchema } from 'typebox';
import { LOSSES } from '../correlate/settings.ts';
import { SIDES } from '../model/alert.ts';
import { ALERT } from '../model/conventions.ts';
import { DETECTOR_THRESHOLDS, type ThresholdKind } from './detector-thresholds.ts';

/**
 * The shape of our own files. What a shape cannot say (a duration, a known metric, a reference) is checked in
 * `resolve-*`. `expected` completes the sentence "write ..." of a finding.
 */
const STRICT = { additionalProperties: false } as const;

const text = (description: string, expected = 'a text') => Type.String({ minLength: 1, description, expected });
const flag = (description: string) => Type.Boolean({ description, expected: 'true or false' });
const oneOf = (values: string[], description: string) =>
  Type.Enum(values, { description, expected: `one of ${values.join(', ')}` });
const duration = (description: string) => text(description, 'a duration such as 5m, 1h30m or 30d');
const matcherList = (description: string) =>
  Type.Array(text('Prometheus matcher, for example team=edge.'), {
    minItems: 1,
    description,
    expected: 'a list of matchers',
  });
const list = <T extends TSchema>(item: T, description: string) => Type.Array(item, { description, expected: 'a list' });
const labelNames = (description: string) =>
  Type.Array(Type.String({ minLength: 1, expected: 'a label name' }), {
    description,
    expected: 'a list of label names',
  });

export const SEVERITIES = ['page', 'ticket'];
export const OWNERS = ['edge', 'service', 'network', 'partner'];
export const ROLES = ['push', 'read', 'operate'];
export const SCOPES = ['service', 'cluster', 'zone', 'region', 'host', 'balancer', 'all'];

export const RECEIVER_TYPES = ['webhook', 'alertmanager-webhook', 'alertmanager', 'pagerduty', 'slack', 'email'];
export const TLS_MODES = ['starttls', 'implicit', 'none'];

/** Which keys belong to which type is checked in resolve-receivers. */
export const ReceiverSchema = Type.Object(
  {
    name: text('Unique; routes refer to it.'),
    type: oneOf(RECEIVER_TYPES, 'How it is told.'),
    url: Type.Optional(text('Where messages are posted.', 'an http or https URL')),
    secret: Type.Optional(text('Key of the HMAC-SHA256 signature header; none = unsigned.')),
    routingKey: Type.Optional(text('PagerDuty: the integration key.')),
    token: Type.Optional(text('Slack: the bot token; messages are then edited and have threads.')),
    channel: Type.Optional(text('Slack: where the bot posts.', 'the id of a channel')),
    host: Type.Optional(text('E-mail: the SMTP server.', 'host:port, for example mail.example.com:587')),
    tls: Type.Optional(oneOf(TLS_MODES, 'E-mail: how the connection is encrypted.')),
    user: Type.Optional(text('E-mail: login of the SMTP server; none = no login.')),
    password: Type.Optional(text('E-mail: password of that login.')),
    from: Type.Optional(text('E-mail: the sender.', 'an address')),
    to: Type.Optional(
      Type.Array(text('An address.', 'an address'), {
        minItems: 1,
        description: 'E-mail: who gets it.',
        expected: 'a list of addresses',
      }),
    ),
    sendResolved: Type.Optional(flag('Whether it is told when an incident is over.')),
    pageBudget: Type.Optional(
      Type.Object(
        {
          pages: Type.Integer({ minimum: 1, description: 'Pages that may ring.', expected: 'a count, 1 or more' }),
          per: duration('In this time; at most 24h.'),
        },
        STRICT,
      ),
    ),
  },
  STRICT,
);

export const ServiceSchema = Type.Object(
  {
    listen: Type.Optional(
      Type.Object(
        {
          http: Type.Optional(text('UI, API, /metrics, health.', 'host:port, for example 127.0.0.1:8080')),
          otlpHttp: Type.Optional(text('OTLP over HTTP.', 'host:port, for example 127.0.0.1:4318')),
          otlpGrpc: Type.Optional(text('OTLP over gRPC.', 'host:port, for example 127.0.0.1:4317')),
        },
        STRICT,
      ),
    ),
    data: Type.Optional(text('Data directory; one process per directory.', 'a path')),
    rules: Type.Optional(text('Rules folder over the shipped rules.', 'a path')),
    runbooks: Type.Optional(text('Folder with one <AlertName>.md per alert.', 'a path')),
    externalUrl: Type.Optional(text('Where people reach the UI; links in messages start with it.', 'an http URL')),
    grafanaUrl: Type.Optional(
      text('Where people reach Grafana; dashboard links in messages lead to the shipped dashboards.', 'an http URL'),
    ),
    insecure: Type.Optional(flag('Allows other than loopback addresses without any token.')),
    identityHeader: Type.Optional(text('Header that names a balancer when its resource does not.', 'a header name')),
    otlp: Type.Optional(
      Type.Object(
        {
          path: Type.Optional(text('Path of OTLP over HTTP.', 'a path such as /v1/metrics')),
          maxBytes: Type.Optional(
            Type.Integer({
              minimum: 1024,
              maximum: 134_217_728,
              description: 'Largest request, as received and again after decompression.',
              expected: 'bytes, 1024 to 134217728',
            }),
          ),
        },
        STRICT,
      ),
    ),
    tokens: Type.Optional(
      list(
        Type.Object(
          { name: text('Shown in the audit.'), role: oneOf(ROLES, 'What it allows.'), value: text('The token.') },
          STRICT,
        ),
        'Bearer tokens.',
      ),
    ),
    receivers: Type.Optional(list(ReceiverSchema, 'Where notifications go.')),
    engine: Type.Optional(Type.Object({ type: oneOf(['embedded'], 'Where series are kept.') }, STRICT)),
  },
  STRICT,
);

const TierSchema = Type.Object(
  {
    name: duration('The same duration as exhaustsWithin.'),
    severity: oneOf(SEVERITIES, 'What the tier does.'),
    exhaustsWithin: duration('The whole budget would be gone in this time.'),
    long: duration('Long alert window.'),
    short: duration('Short alert window.'),
    minBurn: oneOf(['half', 'full'], 'Share of the textbook factor that both windows must burn at.'),
    minBadEvents: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Bad events that the long window must hold.',
        expected: 'a count, 0 or more',
      }),
    ),
  },
  STRICT,
);

export const TiersSchema = Type.Object(
  {
    policies: Type.Record(
      Type.String(),
      Type.Object(
        {
          confidence: Type.Optional(
            Type.Union([Type.Null(), Type.Number({ exclusiveMinimum: 0.5, exclusiveMaximum: 1 })], {
              description: 'null = the two plain burns only; 0.98 = the bound and exhaustion test of countdown.',
              expected: 'null or a number between 0.5 and 1',
            }),
          ),
          tiers: Type.Array(TierSchema, {
            minItems: 1,
            description: 'At least one tier.',
            expected: 'a list of tiers',
          }),
        },
        STRICT,
      ),
    ),
  },
  STRICT,
);

const THRESHOLD_SCHEMAS: Readonly<Record<ThresholdKind, (text: string) => TSchema>> = {
  duration,
  count: (description) => Type.Integer({ minimum: 0, description, expected: 'a count, 0 or more' }),
  share: (description) => Type.Number({ minimum: 0, maximum: 1, description, expected: 'a share between 0 and 1' }),
  factor: (description) => Type.Number({ exclusiveMinimum: 0, description, expected: 'a number above 0' }),
};

const detectorSchema = (name: string, thresholds: Readonly<Record<string, { kind: ThresholdKind; text: string }>>) =>
  Type.Object(
    {
      enabled: Type.Optional(flag('Whether it runs.')),
      severity: Type.Optional(oneOf(SEVERITIES, 'What it raises.')),
      owner: Type.Optional(oneOf(OWNERS, 'Who acts first; routes can match it.')),
      runbook: Type.Optional(text('Runbook file without .md, or an absolute URL.')),
      ...(name === ALERT.watchdog
        ? { receiver: Type.Optional(text('Receiver of the heartbeat.', 'the name of a receiver')) }
        : {}),
      ...Object.fromEntries(
        Object.entries(thresholds).map(([name, { kind, text: description }]) => [
          name,
          Type.Optional(THRESHOLD_SCHEMAS[kind](description)),
        ]),
      ),
    },
    STRICT,
  );

export const DetectorsSchema = Type.Object(
  Object.fromEntries(
    Object.entries(DETECTOR_THRESHOLDS).map(([name, thresholds]) => [
      name,
      Type.Optional(detectorSchema(name, thresholds)),
    ]),
  ),
  STRICT,
);

export const CorrelationSchema = Type.Object(
  {
    causes: Type.Optional(
      list(
        Type.Object(
          {
            cause: text('Alert name.', 'an alert name'),
            effect: text('Alert name that the cause explains.', 'an alert name'),
            scope: oneOf(SCOPES, 'Both lie in the same one.'),
            within: duration('Both start within this time of each other.'),
            atStart: Type.Optional(
              Type.Boolean({ description: 'Only effects that start within that time of the start of the cause.' }),
            ),
            of: Type.Optional(oneOf([...LOSSES], 'Only burns of this.')),
            side: Type.Optional(oneOf([...SIDES], 'Only effects that are measured on this side, or on no known one.')),
          },
          STRICT,
        ),
        'The cause graph.',
      ),
    ),
    subjects: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Array(Type.String({ minLength: 1 }), { minItems: 1, expected: 'a list of labels' }),
      ),
    ),
    inhibit: Type.Optional(
      list(
        Type.Object(
          {
            source: matcherList('Alerts that mute others while they fire.'),
            target: matcherList('Alerts that they mute.'),
            equal: Type.Array(Type.String({ minLength: 1 }), {
              description: 'Labels or parts of the place that must be the same.',
              expected: 'a list of labels; [] = anywhere',
            }),
          },
          STRICT,
        ),
        'Which alerts mute which others.',
      ),
    ),
    muteIntervals: Type.Optional(
      list(
        Type.Object(
          {
            name: text('Unique; timelines name it.'),
            weekdays: Type.Optional(
              Type.Union([Type.String(), Type.Array(Type.String())], {
                description: 'Days on which it begins.',
                expected: 'a range such as mon..fri, or a list of days',
              }),
            ),
            between: text('Local times of day.', 'two times such as 02:00-04:00'),
            zone: text('Time zone of the clocks.', 'an IANA time zone such as Europe/Berlin'),
            matchers: matcherList('Alerts that it mutes.'),
          },
          STRICT,
        ),
        'Times of the week in which some alerts are muted.',
      ),
    ),
    storm: Type.Optional(
      Type.Object(
        {
          clusters: Type.Optional(
            Type.Integer({
              minimum: 2,
              description: 'Clusters in which a kind starts.',
              expected: 'a count, 2 or more',
            }),
          ),
          share: Type.Optional(
            Type.Number({
              exclusiveMinimum: 0,
              maximum: 1,
              description: 'Share of the known clusters that these are.',
              expected: 'a share above 0, at most 1',
            }),
          ),
          within: Type.Optional(duration('They start within this time of each other.')),
        },
        STRICT,
      ),
    ),
    settings: Type.Optional(
      Type.Object(
        {
          openAfter: Type.Optional(duration('An alert fires for this long before an incident opens.')),
          resolveHold: Type.Optional(duration('All members are quiet for this long before it resolves.')),
          reopenWithin: Type.Optional(duration('A page that comes back within this time reopens its incident.')),
          reopenWithinTicket: Type.Optional(duration('The same for an incident that resolved as a ticket.')),
          ackLapse: Type.Optional(duration('An acknowledgement lapses after this time if a page still holds.')),
          minAlerts: Type.Optional(
            Type.Integer({ minimum: 1, description: 'Alerts that an incident needs.', expected: 'a count, 1 or more' }),
          ),
          replicaLabels: Type.Optional(labelNames('Labels that only tell equal senders apart; dropped.')),
          ignoreLabels: Type.Optional(labelNames('Labels that carry a measured value; no part of identity.')),
        },
        STRICT,
      ),
    ),
  },
  STRICT,
);

const hookTarget = {
  name: text('Unique among hooks; timelines name it.'),
  url: text('Where it is called, by POST.', 'an http or https URL'),
  secret: Type.Optional(text('Key of the HMAC-SHA256 signature header; none = unsigned.')),
  alerts: Type.Array(text('Alert name.', 'an alert name'), {
    minItems: 1,
    description: 'Alerts that make it call.',
    expected: 'a list of alert names',
  }),
};
const countUpTo = (maximum: number, description: string) =>
  Type.Integer({ minimum: 1, maximum, description, expected: `a count, 1 to ${maximum}` });

export const HooksSchema = Type.Object(
  {
    capture: Type.Optional(
      list(
        Type.Object(
          {
            ...hookTarget,
            what: Type.Optional(oneOf(['packets', 'profile'], 'What is asked for.')),
            balancers: Type.Optional(list(text('Id of a balancer.'), 'Who is asked; none = those the alert is about.')),
            maxBalancers: Type.Optional(countUpTo(10, 'Balancers that are asked at most.')),
            maxDuration: Type.Optional(duration('How long it may take, up to 5m.')),
            maxBytes: Type.Optional(countUpTo(1_073_741_824, 'How large it may be.')),
            every: Type.Optional(duration('At most one per incident in this time, 1m or more.')),
            maxPerHour: Type.Optional(countUpTo(60, 'Calls an hour at most.')),
          },
          STRICT,
        ),
        'Hooks that ask for a packet capture or a profile.',
      ),
    ),
    remediate: Type.Optional(
      list(
        Type.Object(
          {
            ...hookTarget,
            perHost: Type.Optional(duration('At most one per host in this time, 1h or more.')),
            poolShare: Type.Optional(
              Type.Number({
                description: 'At most this share of a pool in that time.',
                expected: 'a share above 0, at most 0.1',
              }),
            ),
            notWhile: Type.Optional(list(text('Alert name.', 'an alert name'), 'Alerts that forbid it.')),
          },
          STRICT,
        ),
        'Hooks that ask for a host to be replaced.',
      ),
    ),
  },
  STRICT,
);

const shareOf = (description: string) =>
  Type.Number({ exclusiveMinimum: 0, maximum: 1, description, expected: 'a share above 0, at most 1' });
const countAtMost = (description: string) => Type.Integer({ minimum: 0, description, expected: 'a count, 0 or more' });
const amountOf = (description: string) =>
  Type.Number({ exclusiveMinimum: 0, description, expected: 'a number above 0' });

export const ScorecardSchema = Type.Object(
  {
    targets: Type.Optional(
      Type.Object(
        {
          addedLatencyP99: Type.Optional(duration('Below it: what balancers add to requests, in the slowest zone.')),
          resumptionAtPeak: Type.Optional(shareOf('Above it: handshakes that resume a session in the busiest hour.')),
          configBudget: Type.Optional(shareOf('Below it: what config rollouts have used of any error budget.')),
          retryingServices: Type.Optional(countAtMost('At most: services that more than one layer retries for.')),
          amplifiedIncidents: Type.Optional(countAtMost('At most: incidents that a balancing layer made larger.')),
          crowdedPools: Type.Optional(countAtMost('At most: shared pools with too many long-lived connections.')),
        },
        STRICT,
      ),
    ),
    amplifying: Type.Optional(list(text('Alert name.', 'an alert name'), 'Alerts that tell of amplification.')),
    longLived: Type.Optional(
      Type.Object(
        {
          connections: Type.Optional(countAtMost('Open connections of a shared pool that are not too many.')),
          livesFor: Type.Optional(duration('A connection that lives longer on average is long-lived.')),
        },
        STRICT,
      ),
    ),
    handshakeMs: Type.Optional(
      Type.Object(
        {
          full: amountOf('CPU time of a full handshake on one core, ms.'),
          resumed: amountOf('CPU time of a resumed one, ms.'),
        },
        { ...STRICT, expected: 'what a full and a resumed handshake cost' },
      ),
    ),
    balancerCores: Type.Optional(amountOf('Cores of a balancer that does not tell them.')),
  },
  STRICT,
);

export const RoutesSchema = Type.Object(
  {
    receivers: Type.Optional(list(ReceiverSchema, 'Receivers beside those of slowburn.yaml.')),
    routes: Type.Optional(
      list(
        Type.Object(
          {
            receiver: text('Name of a receiver.'),
            severity: Type.Optional(
              Type.Array(oneOf(SEVERITIES, 'A severity.'), { minItems: 1, expected: 'a list of page, ticket' }),
            ),
            matchers: Type.Optional(list(text('Prometheus matcher, for example team=edge.'), 'All must match.')),
            owner: Type.Optional(Type.Array(oneOf(OWNERS, 'An owner.'), { minItems: 1, expected: 'a list of owners' })),
            service: Type.Optional(Type.Array(text('A service.'), { minItems: 1, expected: 'a list of services' })),
            times: Type.Optional(
              Type.Object(
                {
                  weekdays: Type.Optional(text('Days on which it begins.', 'days such as mon..fri or sat,sun')),
                  between: Type.Optional(text('From and to, on the clocks of the zone.', 'times such as 09:00-18:00')),
                  zone: Type.Optional(text('IANA name; none = UTC.', 'a time zone such as Europe/Berlin')),
                },
                STRICT,
              ),
            ),
          },
          STRICT,
        ),
        'Every route that matches sends.',
      ),
    ),
  },
  STRICT,
);
