/** What the store keeps: any JSON, files and large values once, titles and texts that are searched. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Agent } from "@bowline/core";
import {
  attachSession,
  createSession,
  openSession,
  resumeSession,
  type AnyEntry,
} from "@bowline/core/session";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import { defineTool } from "@bowline/core/agent";
import { fromColumn, toColumn } from "../src/rows/column-text.ts";
import { entry, errorOf, message, readAll, skip, startRig } from "./support.ts";

const rig = await startRig();

describe("text in a column", { skip }, () => {
  it("is any text, without U+0000 and lone surrogates in the column", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 40 }),
        fc.constantFrom("", "\0", "\uD800", "\\0", "\\u0000"),
        (some, odd) => {
          for (const text of [some + odd, odd + some]) {
            const column = toColumn(text);
            assert.ok(!/\0|\p{Surrogate}/u.test(column), column);
            assert.equal(fromColumn(column), text);
          }
        },
      ),
    );
  });
});

describe("a large value", { skip }, () => {
  it("is stored once for a session, and read byte by byte", async () => {
    const store = rig.open();
    const long = 'x"\\\uD800\0é'.repeat(10_000);
    const details = { rows: Array.from({ length: 5000 }, (_, n) => ({ n, text: `row ${n}` })) };
    const file = {
      type: "file",
      data: Buffer.alloc(100_000, 7).toString("base64"),
      mimeType: "a/b",
    };
    const result = { content: [{ type: "text", text: long }, file], details };
    const all = [
      entry(0, { type: "tool_result", result: { result, isError: false } }),
      entry(1, { type: "message", message: { role: "toolResult", ...result } }),
      // It looks like what the store writes, and is not.
      entry(2, { storedFile: "0".repeat(64), parts: [[0, "1"]], long }),
    ];
    const writer = await store.create({ id: "large", createdAt: 1 }, all.slice(0, 1));
    await writer.append(all.slice(1));
    await writer.close();

    const read = await readAll(rig.open(), "large");
    assert.equal(JSON.stringify(read), JSON.stringify(all));
    const sizes = await rig.server.sql(
      "select count(*), sum(octet_length(bytes)) from bowline.blobs",
      "test_1",
    );
    const once = JSON.stringify(long).length + JSON.stringify(details.rows).length + 100_000;
    const [count, bytes] = sizes.split("|").map(Number);
    assert.equal(count, 3);
    assert.ok(Math.abs(Number(bytes) - once) < 0.2 * once, `${bytes} bytes instead of ${once}`);
  });

  it("that is damaged in the database is reported, and its entry is left out", async () => {
    const store = rig.open();
    const lost = entry(1, { value: "y".repeat(20_000) });
    const file = {
      type: "file",
      data: Buffer.alloc(30_000, 1).toString("base64"),
      mimeType: "a/b",
    };
    await (
      await store.create({ id: "damaged", createdAt: 1 }, [entry(0), lost, message(2, [file])])
    ).close();
    await rig.server.sql(
      "update bowline.blobs set bytes = 'broken' where session = (select number from bowline.sessions where id = 'damaged')",
      "test_1",
    );
    const damage: string[] = [];
    const onDamage = ({ message: text }: { message: string }): void => void damage.push(text);
    const read = await readAll(store, "damaged", { onDamage });
    assert.deepEqual(
      read.map(({ seq }) => seq),
      [0, 2],
    );
    assert.match(JSON.stringify(read[1]), /A file of 30000 bytes \(a\/b\) is missing or damaged/);
    assert.match(
      damage.join("\n"),
      /A value of entry 1 is missing.*\nThe file [0-9a-f]{64} is missing/,
    );
    await rig.server.sql(
      "delete from bowline.entries where seq = 0 and session = (select number from bowline.sessions where id = 'damaged')",
      "test_1",
    );
    damage.length = 0;
    await readAll(store, "damaged", { onDamage, reverse: true });
    assert.ok(damage.includes("The entry 0 is missing in the database."), damage.join("\n"));
  });

  it("refuses an entry whose id the session has already", async () => {
    const writer = await rig.open().create({ id: "twice", createdAt: 1 }, [entry(0)]);
    const error = await errorOf(writer.append([entry(1, { id: "e0" })]));
    assert.equal(error.code, "invalid_argument");
    assert.match(error.message, /already has an entry with one of these ids/);
    await writer.append([entry(1)]);
    await writer.close();
  });
});

describe("the list of sessions", { skip }, () => {
  it("is bounded with 10,000 sessions, also when it searches", async () => {
    const store = rig.open({ schema: "many" });
    await store.migrate();
    await rig.server.sql(
      `insert into many.sessions (number, id, header, metadata, updated_at, title, title_lower)
      select n, 's' || n, '{"id":"s' || n || '","createdAt":' || n || '}', '{}', n, 'Title ' || n, 'title ' || n
      from generate_series(1, 10000) as n`,
      "test_1",
    );
    const started = performance.now();
    const page = await store.list();
    assert.equal(page.sessions.length, 50);
    assert.deepEqual([page.sessions[0]?.id, page.sessions[0]?.title], ["s10000", "Title 10000"]);
    const found = await store.list({ search: "TITLE 777" });
    assert.equal(found.sessions.length, 11);
    assert.deepEqual(await store.list({ search: "nowhere" }), { sessions: [] });
    const plan = await rig.server.sql(
      "explain select id from many.sessions where updated_at <= 5000 order by updated_at desc, id limit 50",
      "test_1",
    );
    assert.match(plan, /Index (?:Only )?Scan using sessions_updated/);
    let ids = 0;
    for (let cursor: string | undefined; ;) {
      const next = await store.list({ limit: 1000, cursor });
      ids += next.sessions.length;
      ({ cursor } = next);
      if (cursor === undefined) break;
    }
    assert.equal(ids, 10_000);
    assert.ok(performance.now() - started < 5000);
  });

  it("finds sessions by the words of their messages", async () => {
    const store = rig.open({ schema: "words" });
    const said: Record<string, string> = {
      a: "Please deploy the ÉTÉ branch, it's foo-bar's turn.",
      b: "Deployment is done: see https://example.com/log?x=1 and 'quoted' \\ back\0slash.",
      c: "x".repeat(5000),
      d: `${"word ".repeat(30_000)} beyond`,
    };
    for (const [id, text] of Object.entries(said))
      await (
        await store.create({ id, createdAt: 1 }, [message(0, text), entry(1, { text: "hidden" })])
      ).close();
    await (
      await store.create({ id: "e", createdAt: 2 }, [
        message(0, [{ type: "text", text: "in parts" }]),
        message(1, "deploy", "assistant"),
      ])
    ).close();
    const search = async (text: string): Promise<string> =>
      (await store.searchTexts(text)).sessions.map(({ id }) => id).join("");
    assert.equal(await search("deploy"), "eab");
    assert.equal(await search("DEPLOY été"), "a");
    assert.equal(await search("foo-bar"), "a");
    assert.equal(await search("parts deploy"), "e");
    assert.equal(await search("quoted back"), "b");
    assert.equal(await search("example.com"), "b");
    for (const nothing of ["", "  ", "***", "hidden", "beyond", "deploy zzz", "' | !('x:*", "\\"])
      assert.equal(await search(nothing), "", nothing);
    const first = await store.searchTexts("deploy", { limit: 2 });
    assert.deepEqual(
      first.sessions.map(({ id }) => id),
      ["e", "a"],
    );
    const rest = await store.searchTexts("deploy", { limit: 2, cursor: first.cursor });
    assert.deepEqual(
      rest.sessions.map(({ id }) => id),
      ["b"],
    );
    const plan = await rig.server.sql(
      "set enable_seqscan = off; explain select session from words.entries where words @@ 'deploy:*'",
      "test_1",
    );
    assert.match(plan, /entries_words/);
  });
});

describe("an agent with a session in PostgreSQL", { skip }, () => {
  it("is resumed by another process after it stopped in the middle of a run", async () => {
    const ran: string[] = [];
    const tool = defineTool({
      name: "charge",
      description: "Charges.",
      parameters: { type: "object" },
      execute: () => {
        ran.push("charge");
        return "Charged.";
      },
    });
    const agentWith = (steps: Parameters<typeof createScriptedModel>[0]): Agent => {
      const script = createScriptedModel(steps);
      return new Agent({ model: script.model, tools: [tool], streamFn: script.streamFn });
    };
    const first = rig.open();
    const session = await createSession(first, { id: "agent", metadata: { user: "ada" } });
    const agent = agentWith([{ content: [scriptedToolCall("charge", {}, "c1")] }, "Never said."]);
    await attachSession(agent, session);
    agent.subscribe((event) => {
      // The process dies with the second request: its store is gone, and nothing more is written.
      if (event.type === "turn_end") return first.close();
      return undefined;
    });
    const { reason } = await agent.prompt("Charge it.");
    assert.equal(reason, "error");

    const store = rig.open();
    const { result, session: again } = await resumeSession(store, "agent", agentWith(["Done."]));
    assert.equal(result?.text, "Done.");
    assert.deepEqual(ran, ["charge"]);
    await again.close();
    const read = await openSession(store, "agent", { readOnly: true });
    const roles = (await read.contextMessages()).map(({ role }) => role);
    assert.deepEqual(roles, ["user", "assistant", "toolResult", "assistant"]);
    assert.equal((await store.list({ search: "charge IT" })).sessions[0]?.id, "agent");
    const types = (await readAll(store, "agent")).map(({ type }: AnyEntry) => type);
    assert.equal(types.at(-1), "run_end");
  });
});
