/** How long work on requests may hold the event loop before sockets and timers get their turn, in milliseconds. */
const TURN_MS = 10;

/** Work in steps, each of a millisecond or a few. */
export type Steps<T> = Iterator<void, T>;

/**
 * Shares the event loop between requests and everything else: pieces of work run one after the other, in order of
 * arrival, none inside another; after some milliseconds of it the loop goes round once.
 */
export interface Turns {
  /** Runs the steps, at once when nothing waits and this turn of the loop has time left. */
  run<T>(steps: Steps<T>): Promise<T>;
  /** The same, before what waits and has not begun. */
  runNext<T>(steps: Steps<T>): Promise<T>;
  /** The same for work of a single step. */
  runOne<T>(work: () => T): Promise<T>;
  /**
   * Runs `work` between two pieces of work: at once unless one is half done, else as soon as that one is, before those
   * that wait. For what must not see half a request.
   */
  between(work: () => void): void;
}

interface Piece {
  /** Or else to come before what has not. */
  started: boolean;
  /** One step more; true when it was the last. */
  step(): boolean;
}

/** `now` is a monotonic clock in milliseconds; `later` runs its argument in the next turn of the event loop. */
export function createTurns(
  now: () => number = () => performance.now(),
  later: (work: () => void) => void = (work) => void setImmediate(work),
): Turns {
  const waiting: Piece[] = [];
  let spentMs = 0;
  let awaitsTurn = false;

  const nextTurn = (): void => {
    if (awaitsTurn) return;
    awaitsTurn = true;
    later(() => {
      awaitsTurn = false;
      spentMs = 0;
      work();
    });
  };

  const work = (): void => {
    if (waiting.length === 0) return;
    nextTurn();
    const from = now();
    const allowedMs = TURN_MS - spentMs;
    let passedMs = 0;
    for (let piece = waiting[0]; piece !== undefined && passedMs < allowedMs; piece = waiting[0]) {
      piece.started = true;
      if (piece.step()) waiting.shift();
      passedMs = now() - from;
    }
    spentMs += passedMs;
  };

  const add = (piece: Piece, place = waiting.length): void => {
    waiting.splice(place, 0, piece);
    if (waiting.length === 1 && spentMs < TURN_MS) work();
  };
  /** Behind all that has begun. */
  const placeOfNext = (): number => {
    const first = waiting.findIndex(({ started }) => !started);
    return first < 0 ? waiting.length : first;
  };

  return {
    run: (steps) => new Promise((resolve, reject) => add(pieceOf(steps, resolve, reject))),
    runNext: (steps) =>
      new Promise((resolve, reject) => add({ ...pieceOf(steps, resolve, reject), started: true }, placeOfNext())),
    runOne: (one) => new Promise((resolve, reject) => add(pieceOf(single(one), resolve, reject))),
    between(one) {
      if (waiting[0]?.started !== true) one();
      else {
        const step = (): boolean => {
          one();
          return true;
        };
        waiting.splice(placeOfNext(), 0, { started: true, step });
      }
    },
  };
}

const single = <T>(work: () => T): Steps<T> => ({ next: () => ({ done: true, value: work() }) });

function pieceOf<T>(steps: Steps<T>, resolve: (value: T) => void, reject: (error: unknown) => void): Piece {
  return {
    started: false,
    step() {
      try {
        const step = steps.next();
        if (step.done !== true) return false;
        resolve(step.value);
      } catch (error) {
        reject(error);
      }
      return true;
    },
  };
}
