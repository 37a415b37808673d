import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { AlertsReceived, Commands } from '../../model/views.ts';
import type { Api, RouteDeps } from '../deps.ts';
import { alertmanagerResponses, ProblemError, sendProblem } from '../problem.ts';
import { listOf, ref, text, viewSchema, wholeOf } from '../schema-parts.ts';

const BODY_BYTES_MAX = 4 * 1_048_576;
/** Messages being read at one time; more are told to come again, so that their bodies bound the memory. */
const READING_MAX = 16;
const RETRY_AFTER_SECONDS = 5;

/** Where other systems send their alerts; a token of role push is enough. */
export const PUSH_PATHS: ReadonlySet<string> = new Set(['/api/v2/alerts', '/api/v2/webhook']);

export const REFUSED_ALERT = viewSchema<AlertsReceived['refused'][number]>(
  'RefusedAlert',
  'An alert that was not taken.',
  { index: wholeOf('Its place in the message, from 0.'), reason: text('Why.') },
);

export const ALERTS_RECEIVED = viewSchema<AlertsReceived>('AlertsReceived', 'What became of the alerts of a message.', {
  accepted: wholeOf('Stored, and correlated within the next tick.'),
  ignored: wholeOf('Older than what is known, nothing new, or the end of what nobody knows.'),
  bad: wholeOf('Not understood.'),
  overLimit: wholeOf('No room for them.'),
  refused: listOf(ref<AlertsReceived['refused'][number]>(REFUSED_ALERT), 'The first of those that were not taken.'),
});

/**
 * Alerts of other systems. Senders drop a message at any answer but 2xx, and Alertmanager takes 429 as final: so an
 * answer is 2xx as soon as one alert of the message is good, and overload is 503.
 */
export function registerForeignAlertRoutes(app: Api, { commands }: RouteDeps): void {
  let reading = 0;
  const counted = new WeakSet<FastifyRequest>();
  const admit = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (reading >= READING_MAX) {
      sendProblem(request, reply.header('retry-after', RETRY_AFTER_SECONDS), 'API_UNAVAILABLE', OVERLOADED);
      return;
    }
    reading += 1;
    counted.add(request);
    reply.raw.once('close', () => {
      if (counted.delete(request)) reading -= 1;
    });
    done();
  };
  const answers = {
    response: {
      200: ref<AlertsReceived>(ALERTS_RECEIVED),
      ...alertmanagerResponses(
        'API_BAD_REQUEST',
        'API_PAYLOAD_TOO_LARGE',
        'API_UNSUPPORTED_MEDIA_TYPE',
        'API_UNAVAILABLE',
      ),
    },
  };

  app.post(
    '/api/v2/alerts',
    {
      bodyLimit: BODY_BYTES_MAX,
      onRequest: admit,
      schema: {
        operationId: 'receiveAlerts',
        tags: ['alerts'],
        summary: 'Alerts as Prometheus, vmalert, Mimir and Thanos send them to an Alertmanager.',
        body: Type.Unknown({ description: 'A list of alerts of the Alertmanager API v2.' }),
        ...answers,
      },
    },
    (request, reply): AlertsReceived => {
      const alerts: unknown = request.body;
      if (!Array.isArray(alerts)) throw new ProblemError('API_BAD_REQUEST', 'The body must be a list of alerts.');
      return receive(reply, commands, alerts, 'alerts');
    },
  );

  app.post(
    '/api/v2/webhook',
    {
      bodyLimit: BODY_BYTES_MAX,
      onRequest: admit,
      schema: {
        operationId: 'receiveWebhook',
        tags: ['alerts'],
        summary: 'The webhook of an Alertmanager, version 4; its groups do not matter.',
        body: Type.Unknown({ description: 'A message of the Alertmanager webhook.' }),
        ...answers,
      },
    },
    (request, reply): AlertsReceived => {
      const alerts = (request.body as { readonly alerts?: unknown } | null)?.alerts;
      if (!Array.isArray(alerts)) {
        throw new ProblemError('API_BAD_REQUEST', 'The body must be an object with a list "alerts".');
      }
      return receive(reply, commands, alerts, 'webhook');
    },
  );
}

const OVERLOADED = 'Too many messages with alerts arrive at one time; send this one again.';

/** The way that the alerts came decides what no end means. */
function receive(
  reply: FastifyReply,
  commands: Commands,
  alerts: readonly unknown[],
  way: 'alerts' | 'webhook',
): AlertsReceived {
  const received = commands.receiveAlerts(alerts, way);
  if (received.overLimit > 0) {
    reply.header('retry-after', RETRY_AFTER_SECONDS);
    const detail = `${received.accepted} alerts were taken, ${received.overLimit} were not: ${reasonsOf(received)}`;
    throw new ProblemError('API_UNAVAILABLE', detail, fieldsOf(received));
  }
  if (received.bad > 0 && received.accepted + received.ignored === 0) {
    throw new ProblemError('API_BAD_REQUEST', `No alert was understood: ${reasonsOf(received)}`, fieldsOf(received));
  }
  return received;
}

const fieldsOf = ({ refused }: AlertsReceived) =>
  refused.map(({ index, reason }) => ({ field: String(index), message: reason }));

const reasonsOf = ({ refused }: AlertsReceived): string =>
  `${refused
    .slice(0, 3)
    .map(({ index, reason }) => `[${index}] ${reason}`)
    .join('; ')}${refused.length > 3 ? '; and so on' : ''}.`;
