const metric = (role: string, spec: string): string =>
  `        ${role}: { metricSource: { type: slowburn, spec: { ${spec} } } }`;

/** An SLO per upstream cluster that counts what a balancer counts; it asks for so little that nothing pages. */
function sloOf(name: string, ...roles: readonly string[]): string {
  return `apiVersion: openslo/v1
kind: SLO
metadata:
  name: ${name}
  annotations: { slowburn/group-by: lb.upstream.cluster, slowburn/policy: workbook }
spec:
  service: interop
  indicator:
    metadata: { name: ${name} }
    spec:
      ratioMetric:
        counter: true
${roles.join('\n')}
  timeWindow: [{ duration: 30d, isRolling: true }]
  budgetingMethod: Occurrences
  objectives: [{ target: 0.5 }]
`;
}

/** Counts upstream requests and their 5xx, by cluster. */
export const COUNTED_SLO = sloOf(
  'counted',
  metric('bad', 'metric: lb.requests, where: { lb.side: upstream, lb.response.class: 5xx }'),
  metric('total', 'metric: lb.requests, where: { lb.side: upstream }'),
);

/** Counts durations of the backend stage; every answer of loopback is good. */
export const TIMED_SLO = sloOf(
  'timed',
  metric('good', 'metric: lb.stage.backend.duration, threshold: 10'),
  metric('total', 'metric: lb.stage.backend.duration'),
);
