import type { Silence } from '../model/mute.ts';
import type { SilenceStore } from './silence-store.ts';

/** The silences of replays and tests. */
export function createMemorySilences(): SilenceStore {
  const held = new Map<string, Silence>();
  return {
    list: () => [...held.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    save(silences, forgetBefore) {
      for (const silence of silences) held.set(silence.id, silence);
      for (const { id, endsAt } of held.values()) if (endsAt < forgetBefore) held.delete(id);
    },
  };
}
