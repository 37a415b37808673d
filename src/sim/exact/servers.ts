import { at } from '../columns.ts';

/** Several servers with one line in front: work is taken in order by whoever is free first. */
export class Servers {
  readonly #freeAt: Float64Array;

  constructor(servers: number) {
    this.#freeAt = new Float64Array(servers);
  }

  /** How long work that arrives now waits, ms, when only the first `servers` are there. */
  wait(now: number, servers: number = this.#freeAt.length): number {
    return Math.max(0, at(this.#freeAt, this.#first(servers)) - now);
  }

  /** Takes work of this length, ms; when it will be done. */
  take(now: number, workMs: number, servers: number = this.#freeAt.length): number {
    const server = this.#first(servers);
    const done = Math.max(now, at(this.#freeAt, server)) + workMs;
    this.#freeAt[server] = done;
    return done;
  }

  #first(servers: number): number {
    const count = Math.min(servers, this.#freeAt.length);
    let first = 0;
    for (let server = 1; server < count; server += 1) {
      if (at(this.#freeAt, server) < at(this.#freeAt, first)) first = server;
    }
    return first;
  }
}
