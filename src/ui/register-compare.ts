import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ComparisonAsked, Queries } from '../model/views.ts';
import type { Html } from './html.ts';
import { comparePage } from './pages/compare.ts';

const ATTRIBUTES: readonly ComparisonAsked['attribute'][] = [
  'configVersion',
  'version',
  'zone',
  'region',
  'balancer',
  'cluster',
];
const FAULT = 0.001;
const CONFIDENCE = 0.95;

/** `/compare`: a form that asks by GET, so that an answer can be linked. */
export function registerComparePage(
  server: FastifyInstance,
  queries: Queries,
  send: (reply: FastifyReply, title: string, path: string, body: Html) => FastifyReply,
): void {
  server.get<{ Querystring: Readonly<Record<string, unknown>> }>('/compare', (request, reply) => {
    const given = (name: string): string => {
      const value = request.query[name];
      return typeof value === 'string' ? value.trim() : '';
    };
    const attribute = ATTRIBUTES.find((one) => one === given('attribute')) ?? 'configVersion';
    const form = { attribute, a: given('a'), b: given('b'), cluster: given('cluster') };
    if (form.a === '') return send(reply, 'Compare', '/fleet', comparePage(form, null));
    const found = queries.compare({
      attribute,
      a: form.a,
      b: form.b || null,
      configKind: given('kind') || null,
      cluster: attribute === 'zone' ? form.cluster || null : null,
      shadow: null,
      windowSeconds: null,
      fault: FAULT,
      confidence: CONFIDENCE,
    });
    const shown = 'missing' in found ? `There is nothing to compare: ${found.missing}.` : found;
    return send(reply, 'Compare', '/fleet', comparePage(form, shown));
  });
}
