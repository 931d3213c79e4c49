/** Conformance cases for deleting and listing. */
import {
  check,
  entries,
  entry,
  fails,
  headerOf,
  messageEntry,
  readAll,
  same,
  titleEntry,
  using,
  type StoreCase,
} from "./checks.ts";

export const listing: Readonly<Record<string, StoreCase>> = {
  async "deletes a session and frees its id"(store, reopen) {
    await using(await store.create(headerOf("s"), entries(3)));
    await store.delete("s");
    await fails("not_found", (await reopen()).load("s"));
    same((await store.list()).sessions, []);
    await using(await store.create({ id: "s", createdAt: 9 }));
    same(await readAll(store, "s"), []);
    same((await store.list()).sessions, [
      { id: "s", createdAt: 9, updatedAt: 9, entryCount: 0, messageCount: 0 },
    ]);
  },

  async "lists the model that was used or chosen last"(store) {
    const [asked, chosen] = [
      { provider: "p", model: "a", thinkingLevel: "low" },
      { provider: "p", model: "b", agent: "x" },
    ];
    const first = [entry(0, { type: "run_start", runId: "r", model: asked })];
    await using(await store.create(headerOf("s"), first), async (writer) => {
      same((await store.list()).sessions[0]?.model, asked);
      await writer.append([entry(1, { type: "model_change", ...chosen }), entry(2)]);
      same((await store.list()).sessions[0]?.model, chosen);
      await writer.append([entry(3, { type: "run_start", runId: "t", model: asked })]);
      same((await store.list()).sessions[0]?.model, { ...asked, agent: "x" });
    });
  },

  async "lists titles, times and counts"(store, reopen) {
    const header = { ...headerOf("a"), metadata: { folder: "/x" } };
    const said = [
      messageEntry(0, "assistant", "Hi"),
      messageEntry(1, "user", `  Mend the\n roof ${"x".repeat(80)}`),
      { ...messageEntry(2, "user", "no"), timestamp: 99 },
      messageEntry(3, "assistant", "ok"),
    ];
    await using(await store.create(header), (writer) => writer.append(said));
    await using(
      await store.create({ id: "b", createdAt: 500 }, [messageEntry(0, "user", "First")]),
      async (writer) => {
        await store.list();
        await writer.append([titleEntry(1, "Named")]);
      },
    );
    const title = `Mend the roof ${"x".repeat(41)}…`;
    const a = { ...header, title, updatedAt: 99, entryCount: 4, messageCount: 4 };
    const b = {
      id: "b",
      createdAt: 500,
      title: "Named",
      updatedAt: 500,
      entryCount: 2,
      messageCount: 1,
    };
    for (const one of [store, await reopen(), store]) same(await one.list(), { sessions: [b, a] });
  },

  async "searches a list by title and returns it in pages"(store) {
    for (let at = 0; at < 25; at++) {
      const header = { id: `s${at}`, createdAt: 1000 + Math.floor(at / 3) };
      await using(
        await store.create(header, [titleEntry(0, at % 2 === 0 ? `Éven ${at}` : `Odd ${at}`)]),
      );
    }
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.list({ limit: 4, cursor, search: "éVEN" });
      check(page.sessions.length <= 4, "the page is too long");
      ids.push(...page.sessions.map(({ id }) => id));
      cursor = page.cursor;
      await using(
        await store.create({ id: `new${ids.length}`, createdAt: 2000 }, [
          titleEntry(0, "Even newer"),
        ]),
      );
    } while (cursor !== undefined);
    same(ids.toSorted(), Array.from({ length: 13 }, (_, at) => `s${at * 2}`).toSorted());
    same((await store.list({ search: "nowhere" })).sessions, []);
    await fails("invalid_argument", store.list({ cursor: "?" }));
  },
};
