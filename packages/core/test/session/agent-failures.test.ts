/** Values that cannot be written, full disks, read-only folders, and clocks that are set back. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  createCompaction,
  type Agent,
  type AgentMessage,
  type AgentTool,
} from "../../src/agent/index.ts";
import { BowlineError } from "../../src/errors.ts";
import type { Context } from "../../src/llm/message.ts";
import {
  attachSession,
  createMemoryStore,
  openSession,
  resumeSession,
  type Session,
  type Store,
} from "../../src/session/index.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";
import { scriptedToolCall } from "../../src/testing/index.ts";
import { asksForSummary, assertAccepted } from "../agent/context/rig.ts";
import { entriesIn, newLife, newSession, PROMPT, sessionOf } from "./agent-rig.ts";
import { temporaryFolder } from "./support.ts";
import { call, hello, rig, tool } from "../support.ts";
import { texts } from "../../../../test/support/message-texts.ts";

const cycle: Record<string, unknown> = {};
cycle.self = cycle;
const tree: { deep?: unknown } = {};
for (let at = tree, depth = 0; depth < 100_000; depth++) at = at.deep = {};

const giving = (details: unknown): AgentTool => ({
  ...tool("a", () => ""),
  execute: () => ({ content: [{ type: "text", text: "A" }], details }),
});

const shown = async (session: Session): Promise<string[]> =>
  texts((await session.contextMessages()) as AgentMessage[]);

/** A store whose appends fail from the `nth` on, `times` times. */
function failing(store: Store, nth: number, times = Infinity): Store {
  let count = 0;
  return {
    ...store,
    async open(id) {
      const writer = await store.open(id);
      return Object.create(writer, {
        append: {
          value: async (entries: Parameters<typeof writer.append>[0]) => {
            const at = count++;
            if (at >= nth && at < nth + times)
              throw new BowlineError("storage_failed", "There is no room left.");
            await writer.append(entries);
          },
        },
      }) as typeof writer;
    },
  };
}

describe("a tool result that JSON cannot represent", () => {
  for (const [what, details] of [
    ["a BigInt", { size: 1n }],
    ["a cycle", cycle],
    ["a value whose toJSON throws", { toJSON: () => assert.fail("no") }],
    ["a value that is too deep", tree],
  ] as const) {
    it(`is an error to the model, and the session goes on: ${what}`, async () => {
      const session = await newSession(createMemoryStore());
      const { agent } = rig([call("a"), "Done."], [giving(details)]);
      await attachSession(agent, session);
      const run = await agent.prompt("Go");
      assert.deepEqual([run.reason, run.tools[0]?.outcome], ["done", "failed"]);
      const told = (await shown(session))[2] ?? "";
      assert.match(
        told,
        /^toolResult: The tool ran, but its result is lost: it is not JSON and could not be stored\. ./,
      );
      assert.deepEqual(await session.contextMessages(), agent.state.messages);
    });
  }

  it("is stored without the values that JSON leaves out", async () => {
    const store = createMemoryStore();
    const session = await newSession(store);
    const details = {
      call: () => 1,
      nothing: undefined,
      when: new Date(0),
      map: new Map([[1, 2]]),
    };
    const { agent } = rig([call("a"), "Done."], [giving(details)]);
    await attachSession(agent, session);
    assert.equal((await agent.prompt("Go")).reason, "done");
    const [, , kept] = (await session.contextMessages()) as unknown as { details: unknown }[];
    assert.deepEqual(kept?.details, { when: "1970-01-01T00:00:00.000Z", map: {} });
  });

  it("is replaced by a description in arguments that a schema transformed", async () => {
    const session = await newSession(createMemoryStore());
    const made = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: () => ({ value: { id: 1n, self: cycle } }),
        jsonSchema: { input: () => ({ type: "object" }), output: () => ({ type: "object" }) },
      },
    };
    const ran: unknown[] = [];
    const a: AgentTool = {
      ...tool("a", () => ""),
      parameters: made,
      execute: (_id, args) => ({ details: ran.push(args) }),
    };
    const { agent } = rig([call("a"), "Done."], [a]);
    await attachSession(agent, session);
    assert.equal((await agent.prompt("Go")).reason, "done");
    assert.deepEqual(ran, [{ id: 1n, self: cycle }]);
    for await (const entry of session.entries()) {
      if (entry.type === "tool_intent")
        assert.equal((entry as { args?: unknown }).args, "an object");
    }
  });

  it("ends the run if it is a message, and nothing after it is stored", async () => {
    const session = await newSession(createMemoryStore());
    const { agent } = rig(["never"]);
    await attachSession(agent, session);
    const run = await agent.prompt({ ...hello, extra: 1n } as AgentMessage);
    assert.deepEqual([run.reason, run.error?.code], ["error", "invalid_argument"]);
    assert.deepEqual(await session.contextMessages(), []);
  });
});

describe("a store that fails", () => {
  it("at any entry ends the run, and another process finishes it from the stored entries", async () => {
    const whole = createMemoryStore();
    const first = newLife();
    await attachSession(first.agent, await newSession(whole));
    await first.agent.prompt(PROMPT);
    const { length } = await entriesIn(whole, "s");
    for (const times of [Infinity, 1]) {
      for (let nth = 0; nth < length; nth++) {
        const store = createMemoryStore();
        await sessionOf(store, "s", []);
        const life = newLife();
        const session = await openSession(failing(store, nth, times), "s");
        await attachSession(life.agent, session);
        const run = await life.agent.prompt(PROMPT);
        assert.deepEqual([run.reason, run.error?.code], ["error", "storage_failed"]);
        const { ran } = life;
        // Also when there is room again, because a new entry would follow a gap.
        assert.equal((await life.agent.prompt("More")).error?.code, "storage_failed");
        assert.equal(life.ran, ran);
        const kept = await entriesIn(store, "s");
        // When there is room again, a pending append of a concurrent tool may succeed.
        assert.ok(times === 1 ? kept.length >= nth && kept.length < nth + 3 : kept.length === nth);
        await session.close();
        const next = newLife();
        const { result, resume } = await resumeSession(store, "s", next.agent);
        assert.equal(await resume(), undefined);
        const end = result ?? (await next.agent.prompt(PROMPT));
        assert.equal(end.reason, "done");
        const twice = next.ran.filter((key) => ran.includes(key) && !key.endsWith("call_b"));
        assert.deepEqual(twice, []);
        for (const request of next.requests) assertAccepted(request);
      }
    }
  });
});

describe("a slow store", () => {
  it("does not delay an abort, and stores each message once", async () => {
    const store = createMemoryStore();
    await sessionOf(store, "s", []);
    let isSlow = false;
    const slow: Store = {
      ...store,
      async open(id) {
        const writer = await store.open(id);
        const append: typeof writer.append = async (entries) => {
          const written = writer.append(entries);
          if (isSlow) await new Promise((resolve) => setTimeout(resolve, 30));
          await written;
        };
        return Object.create(writer, { append: { value: append } }) as typeof writer;
      },
    };
    const { agent } = rig([call("a"), "Again."], [tool("a", () => "A")], { abortGraceMs: 5 });
    const session = await openSession(slow, "s");
    await attachSession(agent, session);
    agent.subscribe(({ type }) => {
      if (type !== "tool_execution_end") return;
      isSlow = true;
      agent.abort();
    });
    assert.equal((await agent.prompt("Go")).reason, "aborted");
    isSlow = false;
    assert.equal((await agent.prompt("More")).reason, "done");
    assert.deepEqual(await session.contextMessages(), agent.state.messages);
  });
});

describe("a clock that is set back", () => {
  it("between two processes has no effect", async () => {
    await using folder = await temporaryFolder();
    const store = createJsonlStore(folder.path, { sync: "never" });
    const whole = newLife();
    await using kept = await newSession(store, "whole");
    await attachSession(whole.agent, kept);
    await whole.agent.prompt(PROMPT);
    const entries = await entriesIn(store, "whole");
    await sessionOf(store, "s", entries.slice(0, 11));
    const clock = { now: () => 5, setTimer: () => () => {} };
    const life = newLife();
    life.agent.clock = clock;
    const { result, session } = await resumeSession(store, "s", life.agent, { clock });
    assert.equal(result?.reason, "done");
    await session.close();
    const after = await entriesIn(store, "s");
    assert.deepEqual(
      after.map(({ seq, type }) => [seq, type]),
      entries
        .toSpliced(11, 0, { ...(entries[0] as (typeof entries)[0]), type: "reopen", runId: "" })
        .map(({ type }, seq) => [seq, type]),
    );
    assert.ok((after.at(-1)?.timestamp ?? 0) < (after[0]?.timestamp ?? 0));
    const { sessions } = await store.list();
    assert.equal(sessions.find(({ id }) => id === "s")?.updatedAt, entries[10]?.timestamp);
  });
});

describe("a torn end", () => {
  it("of the file is treated as if the torn entry had not been written", async () => {
    await using folder = await temporaryFolder();
    const store = createJsonlStore(folder.path, { sync: "never" });
    const whole = newLife();
    await using kept = await newSession(store, "whole");
    await attachSession(whole.agent, kept);
    await whole.agent.prompt(PROMPT);
    const path = join(folder.path, "s.jsonl");
    const entries = await entriesIn(store, "whole");
    for (const cut of [7, 9, 11]) {
      await sessionOf(store, "s", entries.slice(0, cut));
      const bytes = await readFile(path);
      await writeFile(path, bytes.subarray(0, -20));
      const life = newLife();
      const { result, session } = await resumeSession(store, "s", life.agent);
      assert.equal(result?.reason, "done");
      assert.equal(session.damage.length, 1);
      await session.close();
      assertAccepted([...((await session.allMessages()) as AgentMessage[]), hello]);
      await store.delete("s");
    }
  });
});

describe("the context sent after reopening", () => {
  const long = "word ".repeat(400);

  /** Reads pages without end; returns what it was sent. */
  function reader(contextWindow: number): { agent: Agent; sent: string[][] } {
    let page = 0;
    const step = (context: Context): ReturnType<typeof call> | string => {
      if (asksForSummary(context)) return `Summary ${page}`;
      const id = `p${page++}`;
      return page % 3 === 0 ? `Read ${page}.` : { content: [scriptedToolCall("read", {}, id)] };
    };
    const { script } = rig(Array.from({ length: 60 }, () => step));
    const compaction = createCompaction({ maxSummaryTokens: 64 });
    const { agent } = rig([], [tool("read", () => long)], {
      transformContext: compaction.transformContext,
      streamFn: compaction.wrap(script.streamFn),
    });
    agent.state.model = { ...script.model, contextWindow };
    const sent = (): string[][] =>
      script.calls.flatMap(({ context }) =>
        asksForSummary(context) ? [] : [texts(context.messages)],
      );
    return {
      agent,
      get sent() {
        return sent();
      },
    };
  }

  for (const [what, contextWindow] of [
    ["summaries", 2600],
    ["shortened results", 700],
  ] as const) {
    it(`equals the context sent before: ${what}`, async () => {
      const store = createMemoryStore();
      await sessionOf(store, "s", []);
      let before: string[] = [];
      let compactions = 0;
      for (let life = 0; life < 8; life++) {
        const one = reader(contextWindow);
        const { agent } = one;
        const session = await openSession(store, "s");
        await attachSession(agent, session);
        assert.deepEqual(texts(agent.state.messages), before);
        const { reason, message } = await agent.prompt(`Task ${life}`);
        assert.equal(reason, "done");
        before = [
          ...(one.sent.at(-1) ?? []),
          `assistant: ${message === undefined ? "" : texts([message])[0]?.slice(11)}`,
        ];
        compactions = (await entriesIn(store, "s")).filter(
          ({ type }) => type === "compaction",
        ).length;
        await session.close();
      }
      assert.ok(compactions > 3, `${compactions} compactions`);
    });
  }
});
