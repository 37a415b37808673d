/** The text of an SLO file over one rolling month, of the two lines of its ratio. */
export const sloFile = (name: string, groupBy: string, ratio: readonly string[]): string => `apiVersion: openslo/v1
kind: SLO
metadata:
  name: ${name}
  annotations: { slowburn/group-by: "${groupBy}" }
spec:
  service: interop
  indicator:
    metadata: { name: ${name} }
    spec:
      ratioMetric:
        counter: true
${ratio.map((line) => `        ${line}`).join('\n')}
  timeWindow: [{ duration: 30d, isRolling: true }]
  budgetingMethod: Occurrences
  objectives: [{ target: 0.99 }]
`;

const source = (role: string, spec: string): string =>
  `${role}: { metricSource: { type: slowburn, spec: { ${spec} } } }`;

/** Server errors among the events of a counter, on one side. */
export const errorsOf = (metric: string, side: 'upstream' | 'downstream'): readonly string[] => [
  source('bad', `metric: ${metric}, where: { lb.side: ${side}, lb.response.class: 5xx }`),
  source('total', `metric: ${metric}, where: { lb.side: ${side} }`),
];

/** Events of a duration at or below a threshold in seconds. */
export const within = (metric: string, thresholdS: number): readonly string[] => [
  source('good', `metric: ${metric}, threshold: ${thresholdS}`),
  source('total', `metric: ${metric}`),
];
