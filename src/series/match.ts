import type { Labels } from '../model/labels.ts';
import type { Condition, MetricQuery } from '../slo/slo.ts';

/** Tests the attributes of a canonical series; an absent attribute has the value `""`. */
export type QueryMatcher = (metric: string, attributes: Labels) => boolean;

/** Compiles a query once, so that binding a series costs no parsing. Patterns are anchored at both ends. */
export function compileQuery(query: MetricQuery): QueryMatcher {
  const tests = query.where.map(compileCondition);
  return (metric, attributes) => metric === query.metric && tests.every((holds) => holds(attributes));
}

function compileCondition(condition: Condition): (attributes: Labels) => boolean {
  const { attribute } = condition;
  const valueIn = (attributes: Labels): string => attributes.get(attribute) ?? '';
  switch (condition.kind) {
    case 'equals':
      return (attributes) => valueIn(attributes) === condition.value;
    case 'not':
      return (attributes) => valueIn(attributes) !== condition.value;
    case 'in': {
      const values = new Set(condition.values);
      return (attributes) => values.has(valueIn(attributes));
    }
    case 'matches': {
      const pattern = new RegExp(`^(?:${condition.pattern})$`, 's');
      return (attributes) => pattern.test(valueIn(attributes));
    }
  }
}
