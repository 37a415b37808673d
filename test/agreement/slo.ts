import type { Slo } from '../../src/slo/slo.ts';
import { sloOf } from '../support/raw-cells.ts';

/** 99.9 % of requests per cluster over 30 d, policy workbook. */
export const AGREEMENT_SLO: Slo = {
  ...sloOf({ policy: 'workbook', target: '0.999' }),
  indicator: {
    kind: 'events',
    counts: 'bad',
    part: {
      metric: 'lb.requests',
      where: [
        { kind: 'equals', attribute: 'lb.side', value: 'upstream' },
        { kind: 'equals', attribute: 'lb.response.class', value: '5xx' },
      ],
    },
    total: { metric: 'lb.requests', where: [{ kind: 'equals', attribute: 'lb.side', value: 'upstream' }] },
  },
  groupBy: ['lb.upstream.cluster'],
};
