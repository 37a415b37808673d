import { ALERT } from '../model/conventions.ts';
import { type Family, labelText, type Sample } from './exposition.ts';
import type { MetricsSource } from './metrics.ts';

/** Ingest, fleet, alerts and incidents as they are now. */
export function stateFamilies(source: MetricsSource): readonly Family[] {
  return [
    {
      name: 'slowburn_otlp_points_total',
      type: 'counter',
      help: 'Data points since the start, by what became of them.',
      samples: () => [...source.pointCounts()].map(([result, count]): Sample => [labelText({ result }), count]),
    },
    {
      name: 'slowburn_series',
      type: 'gauge',
      help: 'Series held in memory.',
      samples: (): Sample[] => [['', source.seriesCount()]],
    },
    {
      name: 'slowburn_balancers',
      type: 'gauge',
      help: 'Balancers that have pushed, by whether they still do.',
      samples() {
        const balancers = source.balancers();
        const stale = balancers.filter((balancer) => balancer.stale).length;
        return counts('state', { reporting: balancers.length - stale, stale });
      },
    },
    {
      name: 'slowburn_alerts_firing',
      type: 'gauge',
      help: 'Alerts that fire, by name and severity; 0 for those of ours that do not.',
      samples: () =>
        tally(
          source.firing().map(({ name, severity }) => labelText({ alert: name, severity })),
          ALERT_LABELS,
        ),
    },
    {
      name: 'slowburn_foreign_alerts',
      type: 'gauge',
      help: 'Alerts of other systems that are held, those that ended lately included.',
      samples: (): Sample[] => [['', source.foreignAlerts()]],
    },
    {
      name: 'slowburn_incidents',
      type: 'gauge',
      help: 'Incidents that are not resolved, by severity and state.',
      samples() {
        const found = source.incidents().map(({ severity, state }) => labelText({ severity, state }));
        return tally(found, INCIDENT_LABELS);
      },
    },
  ];
}

const ALERT_LABELS = Object.values(ALERT).flatMap((alert) =>
  ['page', 'ticket'].map((severity) => labelText({ alert, severity })),
);
const INCIDENT_LABELS = ['page', 'ticket'].flatMap((severity) =>
  ['open', 'acknowledged'].map((state) => labelText({ severity, state })),
);

const counts = (label: string, values: Readonly<Record<string, number>>): Sample[] =>
  Object.entries(values).map(([value, count]) => [labelText({ [label]: value }), count]);

/** How often each label set occurs; those of `always` are there even with 0. */
function tally(labels: readonly string[], always: readonly string[] = []): Iterable<Sample> {
  const found = new Map(always.map((one) => [one, 0]));
  for (const one of labels) found.set(one, (found.get(one) ?? 0) + 1);
  return found;
}
