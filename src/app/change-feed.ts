/** Tells those who look that incidents or alerts have changed; what has changed they read as they read it first. */
export interface ChangeFeed {
  /** Of what is there now. Differs after each change, also from that of another process. */
  version(): string;
  noteChange(): void;
  /** Calls `listener` after each change until the returned function is called. */
  subscribe(listener: () => void): () => void;
}

export function createChangeFeed(startedAt: number): ChangeFeed {
  const listeners = new Set<() => void>();
  let changes = 0;
  return {
    version: () => `${startedAt}-${changes}`,
    noteChange() {
      changes += 1;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
