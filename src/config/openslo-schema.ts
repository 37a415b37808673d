import Type from 'typebox';

/**
 * The shape of an OpenSLO v1 SLO document. Keys of the standard that slowburn does not support are known here, so that
 * `resolve-*` can name them instead of calling them typing errors.
 */
const STRICT = { additionalProperties: false } as const;

const text = (expected: string) => Type.String({ minLength: 1, expected });
const optionalText = Type.Optional(text('a text'));
const anything = Type.Optional(Type.Unknown());
const texts = Type.Optional(Type.Record(Type.String(), Type.Unknown(), { expected: 'a map of names to texts' }));

const Metadata = { displayName: optionalText, labels: texts, annotations: texts };

const MetricDefinition = Type.Object(
  {
    metricSource: Type.Object(
      {
        metricSourceRef: anything,
        type: Type.Optional(text('slowburn')),
        spec: Type.Object(
          {
            metric: text('a metric name such as lb.requests'),
            where: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { expected: 'a map of attribute: value' })),
            threshold: anything,
          },
          STRICT,
        ),
      },
      STRICT,
    ),
  },
  STRICT,
);

const Indicator = Type.Object(
  {
    metadata: Type.Optional(Type.Object({ name: optionalText, ...Metadata }, STRICT)),
    spec: Type.Object(
      {
        description: anything,
        ratioMetric: Type.Optional(
          Type.Object(
            {
              counter: Type.Optional(Type.Boolean({ expected: 'true' })),
              good: Type.Optional(MetricDefinition),
              bad: Type.Optional(MetricDefinition),
              total: Type.Optional(MetricDefinition),
              raw: anything,
              rawType: anything,
            },
            STRICT,
          ),
        ),
        thresholdMetric: Type.Optional(MetricDefinition),
      },
      STRICT,
    ),
  },
  STRICT,
);

const Objective = Type.Object(
  {
    displayName: optionalText,
    target: anything,
    targetPercent: anything,
    op: anything,
    value: anything,
    timeSliceTarget: anything,
    timeSliceWindow: anything,
    indicator: Type.Optional(Indicator),
    indicatorRef: anything,
    compositeWeight: anything,
  },
  STRICT,
);

export const SloSchema = Type.Object(
  {
    apiVersion: text('openslo/v1'),
    kind: text('SLO'),
    metadata: Type.Object({ name: text('a name such as checkout-availability'), ...Metadata }, STRICT),
    spec: Type.Object(
      {
        description: anything,
        service: text('the name of the service'),
        indicator: Type.Optional(Indicator),
        indicatorRef: anything,
        timeWindow: Type.Array(
          Type.Object(
            {
              duration: anything,
              isRolling: Type.Optional(Type.Boolean()),
              calendar: Type.Optional(Type.Object({ startTime: anything, timeZone: anything }, STRICT)),
            },
            STRICT,
          ),
          { minItems: 1, expected: 'one window, for example [{ duration: 30d, isRolling: true }]' },
        ),
        budgetingMethod: Type.Optional(text('Occurrences')),
        objectives: Type.Array(Objective, { minItems: 1, expected: 'at least one objective: [{ target: 0.999 }]' }),
        alertPolicies: anything,
      },
      STRICT,
    ),
  },
  STRICT,
);

/** What every OpenSLO document has; for kinds that are accepted but not read. */
export const DocumentSchema = Type.Object({
  apiVersion: text('openslo/v1'),
  kind: text('SLO'),
  metadata: Type.Object({ name: text('a name') }),
});
