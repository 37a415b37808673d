import type { Attributes } from './binding.ts';

/** Who sent a request, as far as the transport knows. */
export interface Sender {
  /** Address without port. */
  readonly peer: string;
  readonly identityHeader: string | null;
}

/** The same text for the same set of typed attributes, in whatever order they were sent. */
export function attributesKey(attributes: Attributes): string {
  const sorted = [...attributes].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return JSON.stringify(sorted.map(([name, { type, text }]) => [name, type, text]));
}

/**
 * Which balancer this is (design section 7): the resource's own word, else the identity header, else the peer's
 * address. `own` tells whether the resource named itself.
 */
export function balancerOf(resource: Attributes, sender: Sender): { readonly id: string; readonly own: boolean } {
  const of = (name: string): string | undefined => resource.get(name)?.text || undefined;
  const host = of('host.name');
  const pid = of('process.pid');
  const named =
    of('service.instance.id') ??
    of('k8s.pod.uid') ??
    of('k8s.pod.name') ??
    (host === undefined || pid === undefined ? host : `${host}/${pid}`) ??
    of('container.id') ??
    // What a Collector scraped, and the instance that NGINX Agent looks after.
    of('haproxy.addr') ??
    of('instance.id');
  if (named !== undefined) return { id: named, own: true };
  return { id: sender.identityHeader || sender.peer, own: false };
}
