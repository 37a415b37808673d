/** Bounds the bytes that a process holds for requests that it has not answered yet. */
export interface InflightBytes {
  /** Opens an account for one request. */
  open(): ByteLease;
  heldBytes(): number;
}

/** What one request holds. */
export interface ByteLease {
  /** Takes `count` bytes more; false, and nothing taken, when the bound would be passed. */
  take(count: number): boolean;
  /** Gives back everything. Safe to call twice. */
  release(): void;
}

export function createInflightBytes(maxBytes: number): InflightBytes {
  let total = 0;
  const open = (): ByteLease => {
    let held = 0;
    return {
      take(count) {
        if (total + count > maxBytes) return false;
        held += count;
        total += count;
        return true;
      },
      release() {
        total -= held;
        held = 0;
      },
    };
  };
  return { open, heldBytes: () => total };
}
