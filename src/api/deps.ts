import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { Commands, Queries } from '../model/views.ts';

/** The server as routes see it: schemas give the types of params, query and body. */
export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** A text of metrics to scrape. */
export interface MetricsText {
  readonly contentType: string;
  render(): Promise<string>;
}

export interface RouteDeps {
  readonly queries: Queries;
  readonly commands: Commands;
}
