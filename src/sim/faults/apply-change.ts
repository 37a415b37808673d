import { assertNever } from '../../base/assert.ts';
import { add, at } from '../columns.ts';
import { type Fleet, PROBES, REACH } from '../fleet.ts';
import type { L4Change } from '../l4/l4-tier.ts';
import type { Change, HostBehaviour } from './change.ts';

/** A change of hosts reaches balancers in this time, ms. Ours. */
const PROPAGATION_MS = 200;

/** Changes the world as a fault says. Engines call it at the fault's time, between two events. */
export function applyChange(fleet: Fleet, now: number, change: Change): void {
  switch (change.kind) {
    case 'hosts':
      for (const host of fleet.chosenHosts(change.cluster, change.hosts)) {
        behave(fleet, at(fleet.firstHost, change.cluster) + host, change.set);
      }
      return;
    case 'membership':
      changeMembers(fleet, now, change);
      return;
    case 'dependency': {
      const dependency = fleet.dependencies[change.dependency];
      if (dependency === undefined) throw new RangeError(`no dependency ${change.dependency}`);
      dependency.serviceMs = change.serviceMs ?? dependency.serviceMs;
      dependency.failShare = change.failShare ?? dependency.failShare;
      dependency.hangShare = change.hangShare ?? dependency.hangShare;
      return;
    }
    case 'config':
      pushConfig(fleet, change);
      return;
    case 'config_updates':
      for (const balancer of fleet.chosenBalancers(change.balancers)) {
        fleet.balancers.updatesRefused[balancer] = change.accepted ? 0 : 1;
      }
      return;
    case 'ticket_keys_rotated':
      fleet.keys.rotate(change.overlap);
      return;
    case 'ticket_key_restored':
      fleet.keys.restore(change.key);
      return;
    case 'certificate':
      fleet.keyType = change.keyType ?? fleet.keyType;
      fleet.certificateNotAfterMs = change.notAfterMs ?? fleet.certificateNotAfterMs;
      return;
    case 'traffic':
      changeTraffic(fleet, change);
      return;
    case 'retries':
      fleet.retriesMax[change.cluster] = change.balancers;
      fleet.clientRetriesMax[change.cluster] = change.clients;
      return;
    case 'streams_stalled':
      for (const host of fleet.chosenHosts(change.cluster, change.hosts)) {
        for (let balancer = 0; balancer < fleet.balancerCount; balancer += 1) {
          const place = balancer * fleet.hostCount + at(fleet.firstHost, change.cluster) + host;
          fleet.streams.stall(place, change.connections);
        }
      }
      return;
    case 'copies_dropped':
      fleet.copiesDropped[change.cluster] = change.share;
      return;
    case 'hot_key':
      fleet.hotKeyShare[change.cluster] = change.share;
      return;
    case 'nat':
      fleet.nat = { sources: change.sources, share: change.share };
      return;
    case 'l4_nodes':
      reset(fleet, fleet.l4.nodesChanged(change.nodes));
      return;
    case 'balancers':
      for (const balancer of fleet.chosenBalancers(change.balancers)) {
        fleet.balancers.present[balancer] = change.present ? 1 : 0;
      }
      reset(fleet, fleet.l4.balancersChanged(fleet.presentBalancers()));
      fleet.balancersMoved();
      return;
    case 'telemetry':
      for (const balancer of fleet.chosenBalancers(change.balancers)) {
        fleet.balancers.unheard[balancer] = change.arrives ? 0 : 1;
      }
      return;
    case 'accept_rate':
      for (const balancer of fleet.chosenBalancers(change.balancers)) {
        fleet.balancers.acceptsPerS[balancer] = change.acceptsPerS;
      }
      return;
    default:
      assertNever(change);
  }
}

function behave(fleet: Fleet, host: number, set: HostBehaviour): void {
  const { hosts } = fleet;
  hosts.failShare[host] = set.failShare ?? at(hosts.failShare, host);
  hosts.failMs[host] = set.failMs ?? at(hosts.failMs, host);
  hosts.slow[host] = set.slow ?? at(hosts.slow, host);
  hosts.capacity[host] = set.capacity ?? at(hosts.capacity, host);
  if (set.reach !== undefined) hosts.reach[host] = REACH[set.reach];
  if (set.probes !== undefined) hosts.probes[host] = PROBES[set.probes];
}

function changeMembers(fleet: Fleet, now: number, change: Change & { kind: 'membership' }): void {
  const members = fleet.members[change.cluster] ?? [];
  const chosen = fleet.chosenHosts(change.cluster, change.hosts);
  for (const local of chosen) {
    const member = members[local];
    const host = at(fleet.firstHost, change.cluster) + local;
    if (member === undefined) throw new RangeError(`cluster ${change.cluster} has no host ${local}`);
    member.draining = change.state === 'draining';
    if (change.state === 'left') {
      member.member = false;
      fleet.hosts.leftAt[host] = now;
    } else if (change.state === 'joined') {
      member.member = true;
      member.joinedAt = now;
      fleet.hosts.warmAt[host] = now + (change.cold?.warmUpMs ?? 0);
      fleet.hosts.coldFactor[host] = change.cold?.factor ?? 1;
    }
  }
  for (let balancer = 0; balancer < fleet.balancerCount; balancer += 1) {
    fleet.route(balancer, change.cluster).pool.refresh();
    const cell = balancer * fleet.clusterCount + change.cluster;
    fleet.measures.propagation.record(cell, (change.propagationMs ?? PROPAGATION_MS) / 1000, chosen.length);
  }
}

function pushConfig(fleet: Fleet, change: Change & { kind: 'config' }): void {
  let version = fleet.configVersions.indexOf(change.version);
  if (version < 0) version = fleet.configVersions.push(change.version) - 1;
  for (const balancer of fleet.chosenBalancers(change.balancers)) {
    if (at(fleet.balancers.updatesRefused, balancer) === 1) {
      // What it has already is no update.
      if (at(fleet.balancers.config, balancer) !== version) add(fleet.balancers.configRejected, balancer, 1);
      continue;
    }
    fleet.balancers.config[balancer] = version;
    fleet.balancers.cpuFactor[balancer] = change.effect.cpuFactor ?? 1;
    fleet.balancers.addedMs[balancer] = change.effect.addedMs ?? 0;
    fleet.balancers.failShare[balancer] = change.effect.failShare ?? 0;
  }
}

function changeTraffic(fleet: Fleet, change: Change & { kind: 'traffic' }): void {
  const { traffic } = fleet;
  if (change.requests !== undefined) {
    if (change.cluster === undefined) traffic.requests.fill(change.requests);
    else traffic.requests[change.cluster] = change.requests;
  }
  if (change.cluster === undefined) {
    traffic.connections = change.connections ?? traffic.connections;
    traffic.newShare = change.newShare ?? traffic.newShare;
    for (const service of traffic.services) service.newShare = change.newShare ?? service.newShare;
    return;
  }
  const service = traffic.services[change.cluster];
  if (service === undefined) throw new RangeError(`no cluster ${change.cluster}`);
  if (change.connections === undefined && change.newShare === undefined) return;
  const before = connectionsOf(traffic);
  service.connections = change.connections ?? service.connections;
  service.newShare = change.newShare ?? service.newShare;
  const after = connectionsOf(traffic);
  traffic.connections *= after.all / before.all;
  traffic.newShare = after.fresh / after.all;
}

/** Of all services together, in multiples of what the specification says: new connections, and those of new clients. */
function connectionsOf({ services }: Fleet['traffic']): { readonly all: number; readonly fresh: number } {
  let [all, fresh] = [0, 0];
  for (const { weight, connections, newShare } of services) {
    all += weight * connections;
    fresh += weight * connections * newShare;
  }
  return { all, fresh };
}

/** Flows that lost their balancer: their connections are gone, their clients come back. */
function reset(fleet: Fleet, change: L4Change): void {
  const { connections, reconnecting, present } = fleet.balancers;
  const open = connections.reduce((sum, count) => sum + count, 0);
  if (open === 0) return;
  const gone = connections.reduce((sum, count, balancer) => sum + (at(present, balancer) === 1 ? 0 : count), 0);
  const lost = open * change.resets;
  const kept = open > gone ? 1 - Math.max(0, lost - gone) / (open - gone) : 0;
  const shares = fleet.l4.shares();
  for (let balancer = 0; balancer < fleet.balancerCount; balancer += 1) {
    const share = shares.get(balancer) ?? 0;
    // The flows arrive where they are hashed now; the balancer there has no such connection and resets them.
    add(fleet.measures.resets, balancer, Math.round(lost * share));
    add(fleet.measures.l4Misses, balancer, Math.round(open * change.misses * share));
    add(reconnecting, balancer, Math.round(lost * share));
    connections[balancer] = at(present, balancer) === 1 ? Math.round(at(connections, balancer) * kept) : 0;
  }
}
