import { setTimeout as sleep } from 'node:timers/promises';
import { TICK_MS, tickAtOrAfter } from '../../app/ticker.ts';
import { type EpochMs, epochMs } from '../../base/units.ts';
import { CLOSING } from '../../model/incident.ts';
import type { IncidentDetailView, IncidentView, Page } from '../../model/views.ts';
import { createEmitter, type EmittedFlavor } from '../emit/emitter.ts';
import type { Plan } from '../scenarios/scenario.ts';
import { createSimulation, type Simulation } from '../simulation.ts';
import type { Case, PageSent, Sighting } from './case-book.ts';
import { ImpactMeter } from './impact.ts';
import { pushOverWire, wireMessage } from './push.ts';
import type { Rehearsal } from './rehearse.ts';
import { judge } from './verdict.ts';

/** A scenario that goes on longer is for virtual time. */
const LONGEST_MS = 6 * 3_600_000;

export interface WireOptions {
  readonly plan: Plan;
  readonly flavor: EmittedFlavor;
  /** Base URL of OTLP over HTTP, and of the API. */
  readonly target: string;
  readonly api: string;
  /** How long the fleet is shown in good health before the fault; the scenario's own time where it is shorter. */
  readonly warmUpMs: number | null;
  readonly onProgress?: (share: number) => void;
  /** Real time unless given. */
  readonly pace?: Pace;
}

/** How time passes. */
export interface Pace {
  now(): EpochMs;
  until(at: EpochMs): Promise<void>;
}

const REAL_PACE: Pace = {
  now: () => epochMs(Date.now()),
  async until(at) {
    await sleep(Math.max(0, at - Date.now()));
  },
};

/**
 * A scenario over the wire in real time: the fleet's requests are posted to a running service, its incidents are asked
 * for over its API. What the fleet did before the first push is skipped in virtual time. A message where the service
 * cannot be reached.
 */
export async function rehearseOverWire(options: WireOptions): Promise<Rehearsal | string> {
  const { plan, flavor, api, onProgress, pace = REAL_PACE } = options;
  const fromMs = Math.max(0, plan.faultAtMs - (options.warmUpMs ?? plan.faultAtMs));
  if (plan.untilMs - fromMs > LONGEST_MS) {
    return `in real time this would take ${Math.round((plan.untilMs - fromMs) / 3_600_000)} h; leave --target out`;
  }
  const simulation = createSimulation(plan.fleet, plan.timeline, plan.engine ?? undefined);
  simulation.advanceTo(fromMs);
  const epoch = epochMs(tickAtOrAfter(pace.now()) - fromMs);
  const emitter = createEmitter(simulation.fleet, flavor, epoch, fromMs);
  const meter = new ImpactMeter(simulation.fleet, plan.faultAtMs);
  const watch = new IncidentWatch(api, epochMs(epoch + fromMs));
  let points = 0;
  try {
    // Whether anybody is there is known before anything is waited for.
    await watch.look(epochMs(epoch + fromMs));
    for (let now = fromMs + TICK_MS; now <= plan.untilMs; now += TICK_MS) {
      await pace.until(epochMs(epoch + now));
      advance(simulation, meter, now);
      if ((now - fromMs) % plan.pushMs === 0) points += await pushOverWire(emitter, options.target, now);
      await watch.look(epochMs(epoch + now));
      onProgress?.((now - fromMs) / (plan.untilMs - fromMs));
    }
  } catch (error) {
    return wireMessage(error);
  }
  const expected = flavor === 'envoy' ? plan.expectedOfEnvoy : plan.expected;
  const span = { faultAtMs: epoch + plan.faultAtMs, overAtMs: epoch + plan.overAtMs };
  return { verdict: judge(watch.cases(), expected, span), impact: meter.impact(), points };
}

function advance(simulation: Simulation, meter: ImpactMeter, now: number): void {
  simulation.advanceTo(now);
  meter.sample(now);
}

/** Incidents of a running service that were opened since the drill began. */
class IncidentWatch {
  readonly #api: string;
  readonly #since: EpochMs;
  readonly #cases = new Map<number, { openedAtMs: number; sightings: Sighting[]; pages: readonly PageSent[] }>();

  constructor(api: string, since: EpochMs) {
    this.#api = api.replace(/\/+$/, '');
    this.#since = since;
  }

  async look(at: EpochMs): Promise<void> {
    const { items } = await this.#get<Page<IncidentView>>('/api/v1/incidents');
    for (const { id, openedAt } of items) {
      if (Date.parse(openedAt) < this.#since) continue;
      const incident = await this.#get<IncidentDetailView>(`/api/v1/incidents/${id}`);
      const known = this.#cases.get(id) ?? { openedAtMs: Date.parse(openedAt), sightings: [], pages: [] };
      known.pages = pagesOf(incident, known.pages);
      known.sightings.push(sightingOf(incident, at, known.pages.length));
      this.#cases.set(id, known);
    }
  }

  cases(): readonly Case[] {
    return [...this.#cases].map(([id, one]) => ({ id, ...one })).sort((a, b) => a.id - b.id);
  }

  async #get<T>(path: string): Promise<T> {
    const response = await fetch(`${this.#api}${path}`);
    if (!response.ok) throw new Error(`${this.#api}${path} answered ${response.status}`);
    return (await response.json()) as T;
  }
}

/** One per message, however many receivers. A service without receivers sends nothing: its page counts once. */
function pagesOf({ severity, sends, openedAt }: IncidentDetailView, before: readonly PageSent[]): readonly PageSent[] {
  if (severity !== 'page') return before;
  const told = new Map<string, PageSent>();
  for (const { reason, at, episode } of sends) {
    if (!CLOSING.includes(reason)) told.set(`${episode} ${reason} ${at}`, { atMs: Date.parse(at), reason });
  }
  if (told.size > 0) return [...told.values()];
  return before.length > 0 ? before : [{ atMs: Date.parse(openedAt), reason: 'opened' }];
}

function sightingOf(incident: IncidentDetailView, atMs: number, pages: number): Sighting {
  const { severity, tier, state, runbook, title, members, lead } = incident;
  const texts = (): string[] => [
    title,
    ...members.flatMap(({ alert }) => [alert.summary, ...alert.evidence.map(({ text }) => text)]),
  ];
  return { atMs, lead: lead.name, severity, tier, state, runbook, texts, pages };
}
