import type { FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import type { AppError } from '../base/app-error.ts';
import { type NamedSchema, named, text } from './schema-parts.ts';

/** Every way in which a request can fail, with its HTTP status and title (RFC 9110 names). */
const PROBLEMS = {
  API_BAD_REQUEST: { status: 400, title: 'Bad Request' },
  API_UNAUTHORIZED: { status: 401, title: 'Unauthorized' },
  API_FORBIDDEN: { status: 403, title: 'Forbidden' },
  API_NOT_FOUND: { status: 404, title: 'Not Found' },
  API_METHOD_NOT_ALLOWED: { status: 405, title: 'Method Not Allowed' },
  API_CONFLICT: { status: 409, title: 'Conflict' },
  API_PAYLOAD_TOO_LARGE: { status: 413, title: 'Content Too Large' },
  API_UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'Unsupported Media Type' },
  API_INTERNAL: { status: 500, title: 'Internal Server Error' },
  API_UNAVAILABLE: { status: 503, title: 'Service Unavailable' },
} as const;

export type ProblemCode = keyof typeof PROBLEMS;

/** What is wrong with one field of a request. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** A request that cannot be served. Thrown by routes, answered as problem details (RFC 9457). */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly code: ProblemCode;
  readonly fields: readonly FieldError[];

  constructor(code: ProblemCode, detail: string, fields: readonly FieldError[] = []) {
    super(detail);
    this.code = code;
    this.fields = fields;
  }
}

/** A request whose field `field` does not fit. */
export const badField = (field: string, message: string): ProblemError =>
  new ProblemError('API_BAD_REQUEST', `"${field}" ${message}`, [{ field, message }]);

/** The body of every answer that is not a success (RFC 9457, with our code and the fields at fault). */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly instance: string;
  readonly errors?: readonly FieldError[];
}

export const PROBLEM: NamedSchema = named(
  'Problem',
  Type.Object(
    {
      type: text('urn:slowburn:error: and the code.'),
      title: text('The status in words.'),
      status: Type.Integer({ description: 'The HTTP status.' }),
      detail: text('What is wrong and how to fix it.'),
      code: text('Stable code; docs/errors.md lists them.'),
      instance: text('Path of the request.'),
      errors: Type.Optional(
        Type.Array(
          Type.Object(
            { field: text('Name of the field.'), message: text('What is wrong with it.') },
            { title: 'FieldError' },
          ),
          { description: 'The fields at fault.' },
        ),
      ),
    },
    { description: 'Problem details, RFC 9457.', additionalProperties: false },
  ),
);

/** What any route may answer that asks for a token. */
const ALWAYS = ['API_UNAUTHORIZED', 'API_FORBIDDEN', 'API_INTERNAL'] as const;

/** For the `response` of a route: what else it may answer, besides what every route may. */
export function problemResponses(...codes: readonly ProblemCode[]): Record<number, TSchema> {
  const content = { 'application/problem+json': { schema: { $ref: 'Problem#' } } };
  return Object.fromEntries(
    [...codes, ...ALWAYS].map((code) => [
      PROBLEMS[code].status,
      Type.Unsafe({ description: `${PROBLEMS[code].title} (${code})`, content }),
    ]),
  );
}

/** The same for Alertmanager's API v2, whose clients read a failure as a JSON string. */
export function alertmanagerResponses(...codes: readonly ProblemCode[]): Record<number, TSchema> {
  const content = { 'application/json': { schema: { type: 'string' } } };
  return Object.fromEntries(
    [...codes, ...ALWAYS].map((code) => [
      PROBLEMS[code].status,
      Type.Unsafe({ description: `${PROBLEMS[code].title} (${code}): what is wrong, in words`, content }),
    ]),
  );
}

const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0] ?? '';

/** Answers with problem details. */
export function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  code: ProblemCode,
  detail: string,
  fields: readonly FieldError[] = [],
): FastifyReply {
  const { status, title } = PROBLEMS[code];
  return send(request, reply, { status, title, detail, code, fields });
}

/** A failure with a code of its own: one that may pass is 503 with Retry-After, any other 500. */
export function sendAppError(request: FastifyRequest, reply: FastifyReply, error: AppError): FastifyReply {
  const { status, title } = PROBLEMS[error.retryable ? 'API_UNAVAILABLE' : 'API_INTERNAL'];
  if (error.retryable) reply.header('retry-after', '5');
  const detail = error.hint === undefined ? error.message : `${error.message}; ${error.hint}`;
  return send(request, reply, { status, title, detail, code: error.code, fields: [] });
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  failure: { status: number; title: string; detail: string; code: string; fields: readonly FieldError[] },
): FastifyReply {
  const { status, title, detail, code, fields } = failure;
  if (pathOf(request).startsWith('/api/v2/')) {
    return reply
      .code(status)
      .type('application/json')
      .send(JSON.stringify(`${code} ${detail}`));
  }
  const problem: Problem = {
    type: `urn:slowburn:error:${code}`,
    title,
    status,
    detail,
    code,
    instance: pathOf(request),
    ...(fields.length === 0 ? {} : { errors: fields }),
  };
  return reply.code(status).type('application/problem+json').send(problem);
}
