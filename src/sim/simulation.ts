import { ExactEngine } from './exact/exact-engine.ts';
import type { TimedChange } from './faults/change.ts';
import { Fleet } from './fleet.ts';
import type { FleetSpec } from './fleet-spec.ts';
import { FluidEngine } from './fluid/fluid-engine.ts';

/** Requests per second from which on a run is fluid, unless it is asked for by name. */
export const EXACT_MAX_PER_S = 2000;

export type EngineName = 'exact' | 'fluid';

/** A fleet and what moves it through virtual time. */
export interface Simulation {
  readonly fleet: Fleet;
  readonly engine: EngineName;
  /** Runs everything up to and including this virtual time, ms; never backwards. */
  advanceTo(untilMs: number): void;
}

/** The most requests and new connections per second that the run will see, by its specification and its faults. */
export function peakPerS(spec: FleetSpec, timeline: readonly TimedChange[]): number {
  const requests = spec.clusters.reduce((sum, { requestsPerS }) => sum + requestsPerS, 0);
  let [timesRequests, timesConnections] = [1, 1];
  for (const { change } of timeline) {
    if (change.kind !== 'traffic') continue;
    timesRequests = Math.max(timesRequests, change.requests ?? 1);
    timesConnections = Math.max(timesConnections, change.connections ?? 1);
  }
  const swing = 1 + Math.abs(spec.clients.swing);
  return Math.max(requests * timesRequests, spec.clients.connectionsPerS * timesConnections) * swing;
}

/** The same specification, timeline and engine give the same run, to the last count. */
export function createSimulation(
  spec: FleetSpec,
  timeline: readonly TimedChange[] = [],
  engine: EngineName = peakPerS(spec, timeline) > EXACT_MAX_PER_S ? 'fluid' : 'exact',
): Simulation {
  const fleet = new Fleet(spec);
  const moved = engine === 'exact' ? new ExactEngine(fleet, timeline) : new FluidEngine(fleet, timeline);
  return { fleet, engine, advanceTo: (untilMs) => moved.advanceTo(untilMs) };
}
