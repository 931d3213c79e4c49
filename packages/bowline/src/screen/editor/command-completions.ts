import type { CompletionItem, CompletionSource } from "./completion.ts";
import { candidate, rank } from "./fuzzy.ts";

/** Completes commands. Their names are without the slash. `commands` is called for each query. */
export function commandCompletions(commands: () => readonly CompletionItem[]): CompletionSource {
  return {
    trigger: "/",
    find: (query, limit) => {
      const all = commands();
      if (query === "") return { items: all.slice(0, limit), total: all.length, isListing: false };
      const { names, total } = rank(
        query,
        all.map(({ name }) => candidate(name)),
        limit,
      );
      const items = names.flatMap((name) => all.find((item) => item.name === name) ?? []);
      return { items, total, isListing: false };
    },
    textFor: ({ name }) => `/${name} `,
  };
}
