import type { FastifyRequest } from 'fastify';
import type { Caller } from './access.ts';

/** Name of the request decoration that holds the caller; the access check sets it before any route runs. */
export const CALLER = 'slowburnCaller';

/** Who sent a request. */
export const callerOf = (request: FastifyRequest): Caller =>
  request.getDecorator<Caller | null>(CALLER) ?? { name: null };
