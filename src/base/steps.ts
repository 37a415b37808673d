/** Runs all steps at once; what the last one gave. */
export function drained<T>(steps: Iterator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
