/**
 * The model and agent that a client chooses for a session: validated by the server and recorded in
 * the log.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BowlineError } from "@bowline/core";
import { createMemoryStore, type AnyEntry, type Store } from "@bowline/core/session";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import { createMemoryPending } from "../../src/gateway/runs/pending.ts";
import { loadRules } from "../../src/policy/rules.ts";
import { heldTool } from "../held-tool.ts";
import { gatewayWith, type TestGateway, type TestOptions } from "./gateway.ts";
import type { Backend } from "../../src/models/backend.ts";

const agents = [
  { id: "assistant", model: "house/small", description: "Helps." },
  { id: "writer", model: "house/fine", description: "Writes." },
];

/** A gateway's options, and the models whose servers were called, in order. */
interface House {
  readonly asked: string[];
  readonly options: TestOptions;
}

/** Answers with the name of the model. `slow` calls a tool first, once. */
function house(options: TestOptions = {}): House {
  const asked: string[] = [];
  const { streamFn } = createScriptedModel(
    Array.from(
      { length: 50 },
      () =>
        ({ messages }: { messages: readonly { role: string; content?: unknown }[] }) => {
          const last = messages.at(-1);
          return last?.role === "user" && last.content === "use the tool"
            ? { content: [scriptedToolCall("wait", {})] }
            : "Hello.";
        },
    ),
  );
  const backendFor = ({ model: reference }: { readonly model: string }): Backend => {
    const [provider = "", id = ""] = reference.split("/");
    if (provider !== "house")
      throw new BowlineError("invalid_argument", `${reference} names no provider.`);
    const notice = { code: "practice_model", message: `${reference} has no key.` } as const;
    const model = { ...createScriptedModel([]).model, provider, id };
    const noted: Backend["streamFn"] = (...call) => {
      assert.equal(call[0].id, id, "the server has the model");
      asked.push(id);
      return streamFn(...call);
    };
    return { model, streamFn: noted, isPractice: false, ...(id === "dear" && { notice }) };
  };
  return { asked, options: { agents: () => agents, backendFor, ...options } };
}

async function say(server: TestGateway, more: { readonly agentId?: string } = {}): Promise<void> {
  const client = await server.client();
  const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go", ...more });
  assert.equal((await client.end(runId)).event, "chat.final");
}

async function changesIn(store: Store): Promise<unknown[]> {
  const changes: unknown[] = [];
  for await (const batch of store.read("s")) {
    for (const entry of batch as readonly (AnyEntry & {
      provider?: string;
      model?: string;
      agent?: string;
    })[]) {
      if (entry.type === "model_change") changes.push([entry.provider, entry.model, entry.agent]);
    }
  }
  return changes;
}

describe("a model that is chosen for a session", () => {
  it("is used from the next turn, is recorded in the log, and is announced to every client", async () => {
    const { asked, options } = house();
    await using server = await gatewayWith([], options);
    const [client, other] = [await server.client(), await server.client()];
    await say(server);
    const { session } = await client.call("sessions.patch", {
      sessionKey: "s",
      model: "house/large",
    });
    assert.deepEqual([session.model, session.agentId], ["house/large", "assistant"]);
    const told = await other.until(
      ({ event, data }) => event === "sessions.changed" && data?.model === "house/large",
    );
    assert.deepEqual(told.data, {
      sessionKey: "s",
      change: "updated",
      model: "house/large",
      agentId: "assistant",
    });
    await say(server);
    await say(server, { agentId: "writer" });
    await say(server);
    assert.deepEqual(asked, ["small", "large", "fine", "large"]);
    assert.deepEqual(await changesIn(server.store), [["house", "large", undefined]]);
    const [listed] = (await client.call("sessions.list", {})).sessions;
    assert.deepEqual([listed?.model, listed?.agentId], ["house/large", "assistant"]);
  });

  it("is used by the current run from its next model call", async () => {
    let go = (): void => {};
    let started = (): void => {};
    const isRunning = new Promise<void>((resolve) => (started = resolve));
    const tools = (): ReturnType<NonNullable<TestOptions["tools"]>> => [
      {
        name: "wait",
        description: "Waits.",
        parameters: { type: "object", properties: {} },
        execute: async () => {
          started();
          await new Promise<void>((resolve) => (go = resolve));
          return { content: [{ type: "text", text: "Waited." }] };
        },
      },
    ];
    const { asked, options } = house({
      tools,
      rules: await loadRules([{ action: "allow", tool: "wait" }]),
    });
    await using server = await gatewayWith([], options);
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "use the tool" });
    await isRunning;
    await client.call("sessions.patch", { sessionKey: "s", model: "house/large" });
    go();
    await client.end(runId);
    assert.deepEqual(asked, ["small", "large"]);
    const models = client
      .ofRun(runId)
      .flatMap(({ event, data }) => (event === "chat.turn" ? [data?.model] : []));
    assert.equal(models.length, 2);
  });

  it("survives a restart, a reset and a fork", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    {
      const { options } = house({ store, pending });
      await using server = await gatewayWith([], options);
      const client = await server.client();
      await client.call("sessions.create", { sessionKey: "s" });
      await client.call("sessions.patch", {
        sessionKey: "s",
        model: "house/large",
        agentId: "writer",
        title: "T",
      });
    }
    const { asked, options } = house({ store, pending });
    await using server = await gatewayWith([], options);
    const client = await server.client();
    await say(server);
    await client.call("sessions.reset", { sessionKey: "s" });
    await say(server);
    await client.call("sessions.fork", { sessionKey: "s", newSessionKey: "f" });
    const { runId } = await client.call("chat.send", { sessionKey: "f", message: "go" });
    await client.end(runId);
    const { session } = await client.call("sessions.get", { sessionKey: "f" });
    assert.deepEqual(
      [asked, session.model, session.agentId],
      [["large", "large", "large"], "house/large", "writer"],
    );
    const { title } = (await client.call("sessions.get", { sessionKey: "s" })).session;
    assert.equal(title, "T");
  });

  it("is that of an agent also for the open runs of an earlier process", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    const { tool } = heldTool();
    const rules = await loadRules([{ action: "allow", tool: "wait" }]);
    {
      const { options } = house({ store, pending, rules, tools: () => [tool] });
      await using server = await gatewayWith([], options);
      const client = await server.client();
      const first = { sessionKey: "s", message: "use the tool", idempotencyKey: "first" };
      await client.call("chat.send", first);
      await client.event("chat.tool_call", "first");
      const second = { sessionKey: "s", message: "go", idempotencyKey: "second" };
      assert.equal((await client.call("chat.send", second)).status, "queued");
      await client.call("sessions.patch", { sessionKey: "s", agentId: "writer" });
    }
    const { asked, options } = house({ store, pending });
    await using server = await gatewayWith([], options);
    const client = await server.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId: "second" });
    assert.equal((await client.end("second")).event, "chat.final");
    assert.deepEqual(asked, ["fine", "fine"]);
  });

  it("is replaced by the model of an agent that is chosen later", async () => {
    const { asked, options } = house();
    await using server = await gatewayWith([], options);
    const client = await server.client();
    await say(server);
    await client.call("sessions.patch", { sessionKey: "s", model: "house/large" });
    const { session } = await client.call("sessions.patch", { sessionKey: "s", agentId: "writer" });
    assert.deepEqual([session.model, session.agentId], ["house/fine", "writer"]);
    await say(server);
    assert.deepEqual(asked, ["small", "fine"]);
  });

  it("fails as the server's models fail, unless they cannot be used", async () => {
    const { options } = house();
    const faults: Record<string, Error> = {
      "house/busy": new BowlineError("overloaded", "The models are busy.", { retryable: true }),
      "house/odd": Object.assign(new Error("A secret."), { code: "invalid_argument" }),
    };
    await using server = await gatewayWith([], {
      ...options,
      backendFor(agent) {
        const fault = faults[agent.model ?? ""];
        if (fault !== undefined) throw fault;
        return options.backendFor?.(agent) as Backend;
      },
    });
    await say(server);
    const client = await server.client();
    const codes = Object.keys(faults).map((model) =>
      client.refused("sessions.patch", { sessionKey: "s", model }),
    );
    assert.deepEqual(await Promise.all(codes), ["overloaded", "internal"]);
  });

  it("is refused when this server cannot use it, and nothing changes", async () => {
    const { options } = house();
    await using server = await gatewayWith([], options);
    const client = await server.client();
    await say(server);
    const refused: readonly [object, string][] = [
      [{ model: "large" }, "bad_params"],
      [{ model: "elsewhere/large" }, "bad_params"],
      [{ model: "house/dear", title: "Not this either" }, "bad_params"],
      [{ agentId: "nobody" }, "not_found"],
      [{}, "bad_params"],
    ];
    for (const [params, code] of refused)
      assert.equal(
        await client.refused("sessions.patch", { sessionKey: "s", ...params }),
        code,
        JSON.stringify(params),
      );
    assert.equal(
      await client.refused("sessions.patch", { sessionKey: "none", model: "house/large" }),
      "not_found",
    );
    assert.deepEqual(await changesIn(server.store), []);
    assert.equal((await client.call("sessions.get", { sessionKey: "s" })).session.title, "go");
    const reader = await server.client({ token: "for-reading-only" });
    assert.equal(
      await reader.refused("sessions.patch", { sessionKey: "s", model: "house/large" }),
      "forbidden",
    );
  });
});

describe("an agent that there is not", () => {
  it("is named by the error, as is a list without one", async () => {
    for (const [all, more, message] of [
      [agents, { agentId: "nobody" }, 'There is no agent "nobody".'],
      [[], {}, "There are no agents: AGENTS.md names none."],
    ] as const) {
      const { options } = house();
      await using server = await gatewayWith([], { ...options, agents: () => all });
      const client = await server.client();
      const asked = client.call("chat.send", { sessionKey: "s", message: "go", ...more });
      await assert.rejects(asked, { message });
    }
  });
});

describe("the chosen model", () => {
  it("applies in a fork, also under a key that was looked up before", async () => {
    const { asked, options } = house();
    await using server = await gatewayWith([], options);
    const client = await server.client();
    await say(server);
    await client.call("sessions.patch", { sessionKey: "s", model: "house/large" });
    assert.equal(
      await client.refused("sessions.patch", { sessionKey: "fork", model: "house/large" }),
      "not_found",
    );
    await client.call("sessions.fork", { sessionKey: "s", newSessionKey: "fork" });
    await client.end((await client.call("chat.send", { sessionKey: "fork", message: "go" })).runId);
    assert.deepEqual(asked, ["small", "large"]);
  });
});

describe("a session that another process has open", () => {
  it("is listed with that process", async () => {
    const store = createMemoryStore();
    const elsewhere: Store = {
      ...store,
      holder: async (id) =>
        id === "b" ? { isThisProcess: false, pid: 4711, host: "box", since: 5 } : store.holder(id),
    };
    for (const id of ["a", "b"]) await (await store.create({ id, createdAt: 1 })).close();
    const held = await store.open("a");
    await using server = await gatewayWith([], { store: elsewhere });
    const client = await server.client();
    const { sessions } = await client.call("sessions.list", {});
    assert.deepEqual(
      Object.fromEntries(sessions.map(({ sessionKey, heldBy }) => [sessionKey, heldBy])),
      {
        a: undefined,
        b: { pid: 4711, host: "box", since: 5 },
      },
    );
    await held.close();
  });
});
