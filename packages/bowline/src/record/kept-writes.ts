/** Wraps a store's writes, so that the journal of a recorded run learns when each was done. */
import type { SessionWriter, Store } from "@bowline/core/session";

/** Performs a write, and may settle later than it. Called when the write is requested. */
export type Through = <T>(write: () => Promise<T>) => Promise<T>;

export function keptWrites(store: Store, through: () => Through): Store {
  const wrap = (writer: SessionWriter): SessionWriter => ({
    header: writer.header,
    damage: writer.damage,
    get last() {
      return writer.last;
    },
    get nextSeq() {
      return writer.nextSeq;
    },
    append: (entries) => through()(() => writer.append(entries)),
    close: () => writer.close(),
  });
  return {
    ...store,
    create: async (header, entries) => wrap(await store.create(header, entries)),
    open: async (id) => wrap(await store.open(id)),
  };
}
