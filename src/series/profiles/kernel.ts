import { ATTRIBUTE } from '../../model/conventions.ts';
import { type CanonicalSeries, type Profile, textOf } from './profile.ts';
import { counter, current, type Entry, level, type Table, toSeries, total, value } from './table.ts';

const netstat = (field: string, metric: string): readonly [string, Entry] => [
  `node_netstat_${field}`,
  total(value(metric)),
];
const cpuTime = counter(value('lb.cpu.time'));

/**
 * The machine beneath a balancer. node_exporter's netstat fields have no type and come as gauges, though all but
 * `CurrEstab` are totals.
 */
const TABLE: Table = new Map<string, Entry>([
  netstat('TcpExt_ListenOverflows', 'lb.accept_queue.overflows'),
  netstat('TcpExt_ListenDrops', 'lb.host.tcp.listen_drops'),
  netstat('TcpExt_SyncookiesSent', 'lb.host.tcp.syncookies_sent'),
  netstat('TcpExt_TCPSynRetrans', 'lb.host.tcp.syn_retransmits'),
  netstat('TcpExt_TCPTimeouts', 'lb.host.tcp.timeouts'),
  netstat('Tcp_RetransSegs', 'lb.host.tcp.retransmits'),
  netstat('Tcp_OutRsts', 'lb.host.tcp.resets_sent'),
  ['node_netstat_Tcp_CurrEstab', connections('established')],
  ['node_sockstat_TCP_tw', connections('time_wait')],
  ['system.network.connections', level(value('system.network.connection.count'))],
  ['system.network.connection.count', level(value('system.network.connection.count'))],
  ['node_cpu_seconds_total', cpuTime],
  ['system.cpu.time', cpuTime],
]);

function connections(state: string): Entry {
  return current(value('system.network.connection.count', [[ATTRIBUTE.connectionState, state]]));
}

/** States in which a processor does nothing. */
const IDLE: ReadonlySet<string> = new Set(['idle', 'iowait', 'wait']);

/** node_exporter scraped by a Collector, and the Collector's own host metrics. What they tell is not a balancer's kind. */
export const kernel: Profile = {
  name: 'kernel',
  flavor: null,
  translate(description): readonly CanonicalSeries[] | null {
    const { name, attributes } = description;
    const entry = TABLE.get(name);
    if (entry === undefined) return null;
    const protocol = textOf(attributes, 'protocol') ?? textOf(attributes, 'network.transport');
    if (protocol !== undefined && protocol !== 'tcp') return [];
    const state = textOf(attributes, 'state') ?? textOf(attributes, ATTRIBUTE.connectionState);
    const mode = textOf(attributes, 'mode') ?? textOf(attributes, 'cpu.mode') ?? state;
    const isCpu = entry === cpuTime;
    if (isCpu && mode === undefined) return null;
    return toSeries(description, entry, [
      isCpu
        ? [ATTRIBUTE.cpuState, IDLE.has(mode ?? '') ? 'idle' : 'busy']
        : [ATTRIBUTE.connectionState, state?.toLowerCase()],
    ]);
  },
};
