import type { EpochMs } from '../../base/units.ts';
import { at } from '../columns.ts';
import type { Fleet } from '../fleet.ts';
import { canonicalSeries } from './canonical.ts';
import { envoySeries } from './envoy.ts';
import { MessageTemplate } from './message.ts';
import { type BalancerSeries, type EmittedSeries, hasBegun } from './series.ts';

/** Vocabularies that a fleet can speak. */
export const EMITTED_FLAVORS = ['canonical', 'envoy'] as const;
export type EmittedFlavor = (typeof EMITTED_FLAVORS)[number];

export interface Export {
  readonly balancer: string;
  /** An ExportMetricsServiceRequest as protobuf. Good until the next export. */
  readonly body: Uint8Array;
  readonly points: number;
}

export interface Emitter {
  /**
   * One request per balancer that is present and heard, with its counts at virtual time `nowMs`; never backwards. `balancers`: only
   * these, by index.
   */
  exportAt(nowMs: number, balancers?: readonly number[]): Iterable<Export>;
}

const SOURCES = { canonical: canonicalSeries, envoy: envoySeries } as const;

/** `epochMs` is the time since 1970 at virtual 0; `fromMs` the virtual time from which on it is asked. */
export function createEmitter(fleet: Fleet, flavor: EmittedFlavor, epochMs: EpochMs, fromMs = 0): Emitter {
  const senders = fleet.spec.balancers.map(
    ({ name }, balancer) => new Sender(name, SOURCES[flavor](fleet, balancer, epochMs), epochMs, fromMs),
  );
  const all = [...senders.keys()];
  return {
    *exportAt(nowMs, balancers = all) {
      for (const balancer of balancers) {
        const sender = senders[balancer] as Sender;
        if (at(fleet.balancers.present, balancer) === 0) sender.skip(nowMs);
        else if (at(fleet.balancers.unheard, balancer) === 0) yield sender.exportAt(nowMs);
      }
    },
  };
}

class Sender {
  readonly #name: string;
  readonly #source: BalancerSeries;
  readonly #epochMs: number;
  #template: MessageTemplate | null = null;
  #shape = -1;
  /** Series that hold nothing yet. */
  #waiting: readonly EmittedSeries[] = [];
  #startMs = 0;
  #lastMs: number;

  constructor(name: string, source: BalancerSeries, epochMs: number, fromMs: number) {
    this.#name = name;
    this.#source = source;
    this.#epochMs = epochMs;
    this.#lastMs = fromMs;
    source.refresh(0);
  }

  /** It is not there: when it comes, it starts from here. */
  skip(nowMs: number): void {
    this.#lastMs = nowMs;
    if (this.#template === null) this.#startMs = nowMs;
  }

  exportAt(nowMs: number): Export {
    this.#source.refresh(nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    const template = this.#current();
    return { balancer: this.#name, body: template.fill(this.#epochMs + nowMs), points: template.points };
  }

  /** The template, made anew where series have begun or changed since the last export. */
  #current(): MessageTemplate {
    const shape = this.#source.shape();
    if (this.#template !== null && shape === this.#shape && !this.#waiting.some(hasBegun)) return this.#template;
    this.#shape = shape;
    const { series } = this.#source;
    this.#waiting = series.filter((one) => !hasBegun(one));
    this.#template = new MessageTemplate(this.#source, series.filter(hasBegun), this.#epochMs + this.#startMs);
    return this.#template;
  }
}
