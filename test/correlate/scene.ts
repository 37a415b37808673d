import { type EpochMs, epochMs } from '../../src/base/units.ts';
import { createCorrelator } from '../../src/correlate/correlate.ts';
import type { Correlator, KnownFleet } from '../../src/correlate/correlator.ts';
import type { MuteBook } from '../../src/correlate/mute.ts';
import type { CorrelationSettings } from '../../src/correlate/settings.ts';
import type { Alert, AlertChange } from '../../src/model/alert.ts';
import type { Incident, IncidentAction, IncidentChange, Notification } from '../../src/model/incident.ts';
import { type AlertFields, alertOf, MINUTE, SETTINGS, T0 } from '../support/alerts.ts';

export const CHECKOUT = { cluster: 'checkout' };

/** A burn that pages, of `checkout` unless told otherwise. */
export const pageOf = (place: object = CHECKOUT, fields: AlertFields = {}): Alert =>
  alertOf('ErrorBudgetBurn', { service: 'shop', ...place }, { severity: 'page', tier: '50h', ...fields });

export const minuteOf = (minute: number): EpochMs => epochMs(T0 + minute * MINUTE);

export type Step = readonly [kind: AlertChange['kind'], alert: Alert];

export const changeOf = ([kind, alert]: Step, at: EpochMs): AlertChange =>
  kind === 'resolved' ? { kind, at, alert, reason: 'recovered' } : { kind, at, alert };

/** A correlator with all that it said so far; minutes count from T0. */
export class Scene {
  correlator: Correlator;
  readonly #settings: CorrelationSettings;
  /** What is muted; null = nothing. */
  mutes: MuteBook | null = null;
  readonly #firing = new Map<string, Alert>();
  readonly #fleet: KnownFleet;
  readonly changes: IncidentChange[] = [];
  readonly notifications: Notification[] = [];
  /** Incidents as a store would have them. */
  readonly stored = new Map<number, Incident>();

  constructor(settings: Partial<CorrelationSettings> = {}, fleet: KnownFleet = { clusters: () => [] }) {
    this.#settings = { ...SETTINGS, ...settings };
    this.#fleet = fleet;
    this.correlator = createCorrelator(this.#settings);
  }

  at(minute: number, ...steps: readonly Step[]): this {
    const now = minuteOf(minute);
    for (const [kind, alert] of steps) {
      if (kind === 'resolved') this.#firing.delete(alert.key);
      else this.#firing.set(alert.key, alert);
    }
    this.#keep(
      this.correlator.correlate(
        steps.map((step) => changeOf(step, now)),
        now,
        this.mutes?.over(this.#firing.values(), now),
        this.#fleet,
      ),
    );
    return this;
  }

  /** A tick each minute, both ends included. */
  ticks(from: number, to: number): this {
    for (let minute = from; minute <= to; minute += 1) this.at(minute);
    return this;
  }

  act(minute: number, action: IncidentAction, incident: number | 'newest_open' = 1): string {
    const acted = this.correlator.act(incident, action, minuteOf(minute));
    if (acted.kind === 'done') this.#keep(acted.result);
    return acted.kind;
  }

  /** A new process: only what was stored is known. */
  restart(): this {
    this.correlator = createCorrelator(this.#settings);
    this.correlator.restore([...this.stored.values()].reverse(), Math.max(0, ...this.stored.keys()) + 1);
    return this;
  }

  /** `<incident>/<episode> <reason>` of each notification. */
  get said(): string[] {
    return this.notifications.map(({ incident, reason }) => `${incident.id}/${incident.episode} ${reason}`);
  }

  /** `<incident> <change>` of each line of the timelines. */
  get timeline(): string[] {
    return this.changes.map(({ incident, change }) => `${incident} ${change}`);
  }

  get open(): readonly Incident[] {
    return this.correlator.incidents().filter(({ state }) => state !== 'resolved');
  }

  #keep(result: ReturnType<Correlator['correlate']>): void {
    this.changes.push(...result.changes);
    this.notifications.push(...result.notifications);
    for (const incident of result.incidents) this.stored.set(incident.id, incident);
  }
}
