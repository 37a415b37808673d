import type { FastifyError, FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify';
import { AppError } from '../base/app-error.ts';
import { type FieldError, ProblemError, sendAppError, sendProblem } from './problem.ts';
import type { RouteTable } from './route-table.ts';

/** Turns whatever a route threw into problem details. What nobody expected is logged and told without its text. */
export function answerFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error instanceof ProblemError) return sendProblem(request, reply, error.code, error.message, error.fields);
  if (error instanceof AppError) {
    request.log.error({ err: error }, 'request failed');
    return sendAppError(request, reply, error);
  }
  const failure = error as Partial<FastifyError>;
  if (failure.validation !== undefined) {
    const errors = failure.validation.map(fieldError);
    const detail = errors.map(({ field, message }) => `"${field}" ${message}`).join('; ');
    return sendProblem(request, reply, 'API_BAD_REQUEST', detail, errors);
  }
  const { statusCode = 500, message = 'bad request' } = failure;
  if (statusCode === 413) {
    const mebibytes = (request.routeOptions.bodyLimit ?? request.server.initialConfig.bodyLimit ?? 0) / 1_048_576;
    return sendProblem(request, reply, 'API_PAYLOAD_TOO_LARGE', `A body may have ${mebibytes} MiB.`);
  }
  if (statusCode === 415) {
    return sendProblem(
      request,
      reply,
      'API_UNSUPPORTED_MEDIA_TYPE',
      'Send the body as Content-Type: application/json.',
    );
  }
  if (statusCode >= 400 && statusCode < 500) return sendProblem(request, reply, 'API_BAD_REQUEST', message);
  request.log.error({ err: error }, 'request failed');
  return sendProblem(request, reply, 'API_INTERNAL', 'slowburn could not do this; its log says why.');
}

/** Answers a path that does not exist, or exists for other methods. */
export function answerUnknownRoute(routes: RouteTable, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = request.url.split('?', 1)[0] ?? '';
  const methods = routes.methodsOf(path);
  if (methods.length === 0) {
    return sendProblem(
      request,
      reply,
      'API_NOT_FOUND',
      `There is nothing at ${path}; /api/openapi.json lists what there is.`,
    );
  }
  reply.header('allow', methods.join(', '));
  return sendProblem(
    request,
    reply,
    'API_METHOD_NOT_ALLOWED',
    `${path} takes ${methods.join(', ')}, not ${request.method}.`,
  );
}

function fieldError({ instancePath, keyword, message, params }: FastifySchemaValidationError): FieldError {
  const path = instancePath.slice(1).replaceAll('/', '.');
  const named = (name: unknown): string => (path === '' ? String(name) : `${path}.${String(name)}`);
  if (keyword === 'additionalProperties') {
    return { field: named(params['additionalProperty']), message: 'is not a field of this request' };
  }
  if (keyword === 'required') return { field: named(params['missingProperty']), message: 'is missing' };
  const allowed = params['allowedValues'];
  if (keyword === 'enum' && Array.isArray(allowed))
    return { field: path, message: `must be one of ${allowed.join(', ')}` };
  return { field: path === '' ? 'body' : path, message: message ?? 'does not fit' };
}
