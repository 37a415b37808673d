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
import { PushSchedule } from './push-schedule.ts';
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
  const schedule = new PushSchedule(plan.fleet, plan.pushMs);
  let points = 0;
  try {
    // Whether anybody is there is known before anything is waited for.
    await watch.look(epochMs(epoch + fromMs));
    for (let now = fromMs + TICK_MS; now <= plan.untilMs; now += TICK_MS) {
      for (const { atMs, balancers } of schedule.between(now - TICK_MS, now)) {
        await pace.until(epochMs(epoch + atMs));
        simulation.advanceTo(atMs);
        points += await pushOverWire(emitter, options.target, atMs, balancers);
      }
      await pace.until(epochMs(epoch + now));
      advance(simulation, meter, now);
      await watch.look(epochMs(epoch + now));
      onProgress?.((now - fromMs) / (plan.untilMs - fromMs));
    }
  } catch (error) {
    return wireMessage(error);
  }
  const expected = flavor === 'envoy' ? plan.expectedOfEnvoy : plan.expected;
  const span = { faultAtMs: epoch + plan.faultAtMs, overAtMs: epoch + plan.overAtMs };
  return { verdict: judge(watch.cases(), expected, plan.expected, span), impact: meter.impact(), points };
}

function advance(simulation: Simulation, meter: ImpactMeter, now: number): void {
  simulation.advanceTo(now);
  meter.sample(now);
}

/** Incidents of a running service that were opened since then, as looked at now and again. */
export class IncidentWatch {
  readonly #api: string;
  readonly #since: EpochMs;
  readonly #cases = new Map<number, Watched>();

  constructor(api: string, since: EpochMs) {
    this.#api = api.replace(/\/+$/, '');
    this.#since = since;
  }

  async look(at: EpochMs): Promise<void> {
    const { items } = await this.#get<Page<IncidentView>>('/api/v1/incidents');
    for (const { id, openedAt } of items) {
      if (Date.parse(openedAt) < this.#since) continue;
      const incident = await this.#get<IncidentDetailView>(`/api/v1/incidents/${id}`);
      const known = this.#cases.get(id) ?? newlyWatched(Date.parse(openedAt));
      countPages(incident, known);
      known.sightings.push(sightingOf(incident, at, known.pages.size));
      this.#cases.set(id, known);
    }
  }

  cases(): readonly Case[] {
    return [...this.#cases]
      .map(([id, { openedAtMs, sightings, pages }]) => ({ id, openedAtMs, sightings, pages: [...pages.values()] }))
      .sort((a, b) => a.id - b.id);
  }

  async #get<T>(path: string): Promise<T> {
    const response = await fetch(`${this.#api}${path}`);
    if (!response.ok) throw new Error(`${this.#api}${path} answered ${response.status}`);
    return (await response.json()) as T;
  }
}

interface Watched {
  readonly openedAtMs: number;
  readonly sightings: Sighting[];
  /** Messages that paged, by what tells them apart; and those that were sent while it was a ticket. */
  readonly pages: Map<string, PageSent>;
  readonly tickets: Set<string>;
}

const newlyWatched = (openedAtMs: number): Watched => ({
  openedAtMs,
  sightings: [],
  pages: new Map(),
  tickets: new Set(),
});

/** Stands for the messages of a service that has no receiver. */
const UNSENT = '';

/** One per message, however many receivers. A service without receivers sends nothing: its page counts once. */
function countPages({ severity, sends, openedAt }: IncidentDetailView, { pages, tickets }: Watched): void {
  for (const { reason, at, episode } of sends) {
    const key = `${episode} ${reason} ${at}`;
    if (CLOSING.includes(reason) || tickets.has(key) || pages.has(key)) continue;
    if (severity === 'page') pages.set(key, { atMs: Date.parse(at), reason });
    else tickets.add(key);
  }
  if (severity !== 'page') return;
  if (pages.size === 0) pages.set(UNSENT, { atMs: Date.parse(openedAt), reason: 'opened' });
  else if (pages.size > 1) pages.delete(UNSENT);
}

function sightingOf(incident: IncidentDetailView, atMs: number, pages: number): Sighting {
  const { severity, tier, state, runbook, title, members, lead } = incident;
  const texts = (): string[] => [
    title,
    ...members.flatMap(({ alert }) => [alert.summary, ...alert.evidence.map(({ text }) => text)]),
  ];
  const names = members.map(({ alert }) => alert.name);
  return { atMs, lead: lead.name, severity, tier, state, runbook, members: names, texts, pages };
}
