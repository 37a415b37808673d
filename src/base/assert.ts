/** Thrown when the program contradicts itself; never for bad input. */
export class BugError extends Error {
  override readonly name = 'BugError';
}

/** Throws BugError when an invariant of the program does not hold. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new BugError(`BUG: ${message}`);
}

/** Ends a switch over a union: compiles only when every member has a case. */
export function assertNever(value: never): never {
  throw new BugError(`BUG: unexpected case ${JSON.stringify(value)}`);
}

/** Returns `value`, or throws BugError when it is undefined. For look-ups that cannot miss. */
export function present<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new BugError(`BUG: ${what} is missing`);
  return value;
}
