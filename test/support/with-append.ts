/** Wraps a store so that `append` decides how its writers append: late, or not at all. */
import type { SessionWriter, Store } from "@bowline/core/session";

type Append = SessionWriter["append"];

export function withAppend(
  store: Store,
  instead: (append: Append, entries: Parameters<Append>[0]) => Promise<void>,
): Store {
  const changed = (writer: SessionWriter): SessionWriter =>
    Object.create(writer, {
      append: {
        value: (entries: Parameters<Append>[0]) => instead((all) => writer.append(all), entries),
      },
    }) as SessionWriter;
  return {
    ...store,
    create: async (...asked) => changed(await store.create(...asked)),
    open: async (id) => changed(await store.open(id)),
  };
}
