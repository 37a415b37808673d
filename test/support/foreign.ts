import { createForeignAlerts, type ForeignAlerts } from '../../src/app/foreign-alerts.ts';
import { formatInstant } from '../../src/base/instant.ts';
import { type EpochMs, epochMs } from '../../src/base/units.ts';
import { createCorrelator } from '../../src/correlate/correlate.ts';
import type { Correlator } from '../../src/correlate/correlator.ts';
import type { Way } from '../../src/correlate/foreign/record.ts';
import type { ReportingBalancer } from '../../src/correlate/foreign/telemetry.ts';
import type { CorrelationSettings } from '../../src/correlate/settings.ts';
import type { Alert, AlertChange } from '../../src/model/alert.ts';
import type { Incident, IncidentChange, Notification } from '../../src/model/incident.ts';
import type { AlertsReceived } from '../../src/model/views.ts';
import { createMemoryForeignAlerts } from '../../src/store/foreign-alert-store.ts';
import { SETTINGS, T0 } from './alerts.ts';

export const atSecond = (second: number): EpochMs => epochMs(T0 + second * 1000);
const instant = (second: number): string => formatInstant(atSecond(second));

export interface Sent {
  /** Seconds after T0. */
  readonly startsAt?: number;
  readonly endsAt?: number;
  readonly status?: 'firing' | 'resolved';
  readonly annotations?: Readonly<Record<string, string>>;
  readonly generatorURL?: string;
}

/** An alert as a sender writes it. */
export const sent = (labels: Readonly<Record<string, string>>, fields: Sent = {}): object => ({
  ...fields,
  labels,
  ...(fields.startsAt === undefined ? {} : { startsAt: instant(fields.startsAt) }),
  ...(fields.endsAt === undefined ? {} : { endsAt: instant(fields.endsAt) }),
});

/** Foreign alerts and a correlator behind them, on a clock in seconds after T0; ticks run every 10 s. */
export class ForeignScene {
  foreign: ForeignAlerts;
  correlator: Correlator;
  balancers: readonly ReportingBalancer[] = [];
  readonly settings: CorrelationSettings;
  readonly store = createMemoryForeignAlerts();
  readonly alerts: AlertChange[] = [];
  readonly changes: IncidentChange[] = [];
  readonly notifications: Notification[] = [];
  readonly stored = new Map<number, Incident>();
  readonly warnings: string[] = [];
  readonly #firing = new Map<string, Alert>();
  readonly #capacity: number | undefined;
  #tickedTo = 0;

  constructor(settings: Partial<CorrelationSettings> = {}, capacity?: number) {
    this.settings = { ...SETTINGS, ...settings };
    this.#capacity = capacity;
    this.foreign = this.#createForeign();
    this.correlator = createCorrelator(this.settings);
  }

  /** Runs the ticks before this second, then takes the alerts. */
  receive(second: number, alerts: readonly unknown[], way: Way = 'alerts'): AlertsReceived {
    this.to(second);
    return this.foreign.receive(alerts, way, atSecond(second));
  }

  /** Runs every tick before this second. */
  to(second: number): this {
    for (; this.#tickedTo < second; this.#tickedTo += 10) this.#tick(atSecond(this.#tickedTo));
    return this;
  }

  /** A new process: only what was stored is known. */
  restart(): this {
    this.foreign = this.#createForeign();
    this.correlator = createCorrelator(this.settings);
    this.correlator.restore([...this.stored.values()], Math.max(0, ...this.stored.keys()) + 1);
    return this;
  }

  /** `<second> <kind> <alert name>` of each change, heartbeats left out. */
  get told(): string[] {
    return this.alerts
      .filter(({ kind }) => kind !== 'updated')
      .map(({ at, kind, alert }) => `${(at - T0) / 1000} ${kind} ${alert.name}`);
  }

  /** `<incident>/<episode> <reason>` of each notification. */
  get said(): string[] {
    return this.notifications.map(({ incident, reason }) => `${incident.id}/${incident.episode} ${reason}`);
  }

  get firing(): readonly Alert[] {
    return [...this.#firing.values()];
  }

  #createForeign(): ForeignAlerts {
    return createForeignAlerts({
      settings: this.settings,
      store: this.store,
      firing: () => [...this.#firing.values()],
      balancers: () => this.balancers,
      onWarning: (_, message) => this.warnings.push(message),
      ...(this.#capacity === undefined ? {} : { capacity: this.#capacity }),
    });
  }

  #tick(now: EpochMs): void {
    const changes = this.foreign.due(now);
    for (const { kind, alert } of changes) {
      if (kind === 'resolved') this.#firing.delete(alert.key);
      else this.#firing.set(alert.key, alert);
    }
    const result = this.correlator.correlate(changes, now);
    this.alerts.push(...changes);
    this.changes.push(...result.changes);
    this.notifications.push(...result.notifications);
    for (const incident of result.incidents) this.stored.set(incident.id, incident);
  }
}

/** A balancer that last reported at this second. */
export const balancerAt = (
  id: string,
  newestSecond: number,
  stale: boolean,
  fields: { readonly clusters?: readonly string[]; readonly zone?: string } = {},
): ReportingBalancer => ({
  id,
  zone: fields.zone ?? null,
  clusters: fields.clusters ?? [],
  newestPointAt: atSecond(newestSecond),
  stale,
});
