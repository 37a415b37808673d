/** The five stages of a request, in the order in which it passes them. */
export const STAGES = ['accept_queue', 'tls', 'connect', 'backend', 'write'] as const;
export type StageName = (typeof STAGES)[number];

/** How well a series stands for what its canonical name promises, the best first. */
export const FIDELITIES = [
  'exact',
  'includes_tls',
  'whole_response',
  'includes_queue_and_retries',
  'average_only',
  'proxy_signal',
] as const;
export type Fidelity = (typeof FIDELITIES)[number];

/** Of one balancer and stage. `absent` = it sends nothing that tells the stage. */
export type StageFidelity = Fidelity | 'absent';
export type StageFidelities = Readonly<Record<StageName, StageFidelity>>;

/** The better of two; the order of the arguments does not matter. */
export const betterFidelity = (a: StageFidelity, b: StageFidelity): StageFidelity => (rank(a) <= rank(b) ? a : b);

const rank = (fidelity: StageFidelity): number =>
  fidelity === 'absent' ? FIDELITIES.length : FIDELITIES.indexOf(fidelity);

/** All five, absent where `known` has nothing. */
export function toStageFidelities(known: ReadonlyMap<StageName, StageFidelity>): StageFidelities {
  const of = (stage: StageName): StageFidelity => known.get(stage) ?? 'absent';
  return {
    accept_queue: of('accept_queue'),
    tls: of('tls'),
    connect: of('connect'),
    backend: of('backend'),
    write: of('write'),
  };
}

/** Of a balancer that tells nothing about any stage. */
export const NO_STAGES: StageFidelities = toStageFidelities(new Map());
