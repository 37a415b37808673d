import { formatDuration } from '../base/duration.ts';
import { type EpochMs, HOUR, MINUTE } from '../base/units.ts';
import type { Alert } from '../model/alert.ts';
import type { CaptureHook, Hook, HookCall, HookRules, RefusalCode, RemediateHook } from '../model/hook.ts';
import type { Incident } from '../model/incident.ts';
import { type Mute, muteText } from '../model/mute.ts';

/** A balancer that may be asked for a capture. */
export interface KnownBalancer {
  readonly id: string;
  readonly zone: string | null;
  readonly region: string | null;
  readonly clusters: readonly string[];
  readonly stale: boolean;
}

/** The hosts of one cluster that take requests now. */
export interface Pool {
  /** Null = nobody knows. */
  readonly size: number | null;
  readonly hosts: ReadonlySet<string>;
}

/** All that decides about hooks at one moment. */
export interface Situation {
  readonly now: EpochMs;
  /** In the order of their ids. */
  readonly incidents: readonly Incident[];
  readonly firing: readonly Alert[];
  readonly mutesOf: (alert: Alert) => readonly Mute[];
  readonly balancers: () => readonly KnownBalancer[];
  readonly pools: () => ReadonlyMap<string, Pool>;
  /** Those of the last day, and all of the incidents above; oldest first. */
  readonly calls: readonly HookCall[];
}

/** Failed captures are asked for again: so often in all, with this pause. */
const CAPTURE_TRIES = 3;
const CAPTURE_PAUSE = MINUTE;

/**
 * What to call now, and what to refuse. Decided from what fires and from what was called before, not from what changed:
 * after a restart nothing is forgotten and nothing is called twice. A refusal is said once per alert and reason.
 */
export function planHooks(rules: HookRules, situation: Situation): readonly HookCall[] {
  if (rules.length === 0) return [];
  const planned: HookCall[] = [];
  for (const hook of rules) {
    for (const { incident, alert } of candidates(hook, situation)) {
      const calls = [...situation.calls, ...planned];
      const decided =
        hook.kind === 'capture'
          ? capture(hook, incident, alert, situation, calls)
          : remediate(hook, alert, situation, calls);
      if (decided === null) continue;
      if (decided.refusal !== null && isSaid(hook, alert, decided.refusal, calls)) continue;
      planned.push(toCall(hook, incident, alert, decided, situation.now, planned.length));
    }
  }
  return planned;
}

interface Decided {
  readonly refusal: RefusalCode | null;
  readonly reason: string;
  readonly balancers?: readonly string[];
  readonly host?: string;
  readonly clusters?: readonly string[];
}

/** Firing members of open incidents, longest firing first. */
function candidates({ alerts }: Hook, { incidents }: Situation): readonly { incident: Incident; alert: Alert }[] {
  return incidents
    .filter(({ state, seq }) => state !== 'resolved' && seq > 0)
    .flatMap((incident) =>
      incident.members
        .filter(({ state, alert }) => state === 'firing' && alerts.includes(alert.name))
        .map(({ alert }) => ({ incident, alert })),
    )
    .sort((a, b) => a.alert.since - b.alert.since || (a.alert.key < b.alert.key ? -1 : 1));
}

const refuse = (refusal: RefusalCode, reason: string): Decided => ({ refusal, reason });
const isFor = (call: HookCall, hook: Hook, alert: Alert): boolean =>
  call.hook === hook.name && call.alert === alert.key && call.alertSince === alert.since;
const isSaid = (hook: Hook, alert: Alert, refusal: RefusalCode, calls: readonly HookCall[]): boolean =>
  calls.some((call) => isFor(call, hook, alert) && call.refusal === refusal);
/** It was sent, or may have been. */
const isCall = ({ state }: HookCall): boolean => state !== 'refused';

function capture(
  hook: CaptureHook,
  incident: Incident,
  alert: Alert,
  situation: Situation,
  all: readonly HookCall[],
): Decided | null {
  const { now } = situation;
  const calls = all.filter((call) => call.hook === hook.name && isCall(call));
  const own = calls.filter((call) => isFor(call, hook, alert));
  const last = own.at(-1);
  const isAgain = last?.state === 'failed' && own.length < CAPTURE_TRIES && now - last.at >= CAPTURE_PAUSE;
  if (last !== undefined && !isAgain) return null;
  const recent = calls.findLast((call) => call.incident === incident.id && !own.includes(call));
  if (recent !== undefined && now - recent.at < hook.every) {
    const ago = formatDuration(hook.every);
    return refuse('asked_lately', `incident ${incident.id} has had one, and gets at most one in ${ago}`);
  }
  if (calls.filter(({ at }) => now - at < HOUR).length >= hook.maxPerHour) {
    return refuse('too_many_captures', `${hook.maxPerHour} were asked for in the last hour, as many as are allowed`);
  }
  const balancers = balancersFor(hook, alert, situation);
  if (balancers.length === 0) return refuse('no_balancer', 'none of its balancers is heard');
  return { refusal: null, reason: `${hook.what} of ${balancers.join(', ')}`, balancers };
}

/** Those that the rule names, else those that the alert is about, as far as they are heard; a few of them. */
function balancersFor(hook: CaptureHook, { place }: Alert, { balancers }: Situation): readonly string[] {
  const heard = balancers().filter(({ stale }) => !stale);
  const fits = (one: KnownBalancer): boolean =>
    hook.balancers.length > 0
      ? hook.balancers.includes(one.id)
      : (place.balancer ?? one.id) === one.id &&
        (place.region ?? one.region) === one.region &&
        (place.cluster === undefined || one.clusters.includes(place.cluster));
  const found = heard.filter(fits);
  // A zone is that of hosts as often as that of balancers: those in it come first.
  const isNear = ({ zone }: KnownBalancer): number => (place.zone !== undefined && zone === place.zone ? 0 : 1);
  return [...found]
    .sort((a, b) => isNear(a) - isNear(b) || (a.id < b.id ? -1 : 1))
    .slice(0, hook.maxBalancers)
    .map(({ id }) => id);
}

function remediate(hook: RemediateHook, alert: Alert, situation: Situation, all: readonly HookCall[]): Decided | null {
  const { now, firing, mutesOf } = situation;
  const { host, cluster } = alert.place;
  if (host === undefined || cluster === undefined) return refuse('no_host', 'the alert names no host of a cluster');
  if (alert.foreign !== undefined) return refuse('foreign', 'it was raised elsewhere, where nobody vouches for it');
  // Of all hooks together: two of them must not share out the bounds.
  const recent = all.filter((call) => call.kind === 'remediate' && isCall(call) && now - call.at < hook.perHost);
  const before = recent.findLast((call) => call.host === host);
  if (before !== undefined) {
    if (isFor(before, hook, alert)) return null;
    return refuse('host_bound', `${host} has had one, and gets at most one in ${formatDuration(hook.perHost)}`);
  }
  const [mute] = mutesOf(alert);
  if (mute !== undefined) return refuse('muted', `it is muted: ${muteText(mute)}`);
  const other = firing.find(
    ({ name, place }) => hook.notWhile.includes(name) && (place.cluster === undefined || place.cluster === cluster),
  );
  if (other !== undefined) return refuse('not_while', `${other.name} fires: it is not one host`);
  const pools = situation.pools();
  const clusters = [...pools].flatMap(([name, pool]) => (name === cluster || pool.hosts.has(host) ? [name] : []));
  if (!clusters.includes(cluster)) return refuse('pool_unknown', `nobody knows how many hosts ${cluster} has`);
  for (const name of clusters) {
    const refusal = poolRefusal(hook, name, pools.get(name), recent);
    if (refusal !== null) return refusal;
  }
  return { refusal: null, reason: `replace ${host} of ${clusters.join(', ')}`, host, clusters };
}

/** Why one more of a pool would be too many; null = it is not. */
function poolRefusal(
  { poolShare, perHost }: RemediateHook,
  name: string,
  pool: Pool | undefined,
  recent: readonly HookCall[],
): Decided | null {
  if (pool === undefined || pool.size === null) {
    return refuse('pool_unknown', `nobody knows how many hosts ${name} has`);
  }
  const isOf = ({ host, clusters }: HookCall): boolean =>
    clusters.includes(name) || (host !== null && pool.hosts.has(host));
  const gone = new Set(recent.filter(isOf).map(({ host }) => host)).size;
  const most = Math.floor(poolShare * pool.size);
  if (gone + 1 <= most) return null;
  const share = `${Number((poolShare * 100).toPrecision(3))} %`;
  const bound = `${share} of the ${pool.size} hosts of ${name} ${most === 1 ? 'is one' : most === 0 ? 'is none' : `are ${most}`}`;
  return refuse('pool_bound', `${bound}, and ${gone} went in the last ${formatDuration(perHost)}`);
}

function toCall(
  hook: Hook,
  incident: Incident,
  alert: Alert,
  { refusal, reason, balancers = [], host, clusters }: Decided,
  now: EpochMs,
  index: number,
): HookCall {
  return {
    // Sent as a header, so it holds no character that a header cannot.
    id: `${encodeURIComponent(hook.name)}-${incident.id}-${now}-${index}`,
    hook: hook.name,
    kind: hook.kind,
    incident: incident.id,
    alert: alert.key,
    alertName: alert.name,
    alertSince: alert.since,
    at: now,
    balancers,
    host: host ?? alert.place.host ?? null,
    clusters: clusters ?? (alert.place.cluster === undefined ? [] : [alert.place.cluster]),
    state: refusal === null ? 'calling' : 'refused',
    refusal,
    reason,
    link: null,
    endedAt: refusal === null ? null : now,
  };
}
