/**
 * Agents that a function of the application creates, one per run, for the user who sent the
 * message.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent, BowlineError, createBudget, defineTool, type AgentOptions } from "@bowline/core";
import { createMemoryStore, openSession, sessionToMarkdown } from "@bowline/core/session";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import { createMemoryPending, type Access, type CreateAgent, type User } from "bowline/gateway";
import { eventually } from "../../../../test/support/within.ts";
import { heldTool } from "../held-tool.ts";
import { madeHouse, scripted, whatWasSaid } from "./made-house.ts";

const users: Readonly<Record<string, Access>> = {
  "ann's token": { scope: "full", sessions: "ann/", user: "ann" },
  "bob's token": { scope: "full", user: "bob" },
  "a token": { scope: "full" },
};
const authorize = (given: string): Access | undefined => users[given];

const again = defineTool({
  name: "again",
  description: "Does nothing.",
  parameters: { type: "object", properties: { n: { type: "number" } } } as const,
  execute: ({ n }) => `done ${n}`,
});
const rounds = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ content: [scriptedToolCall("again", { n })] }));

describe("a gateway with a function that creates agents", () => {
  it("carries the transcript from run to run, each with a new agent", async () => {
    const keys: string[] = [];
    await using house = await madeHouse((sessionKey) => {
      keys.push(sessionKey);
      return scripted([whatWasSaid]);
    });
    const client = house.client();
    const first = await client.send({ sessionKey: "s", message: "one" });
    assert.equal((await first.result()).text, "user: one");
    const second = await client.send({ sessionKey: "s", message: "two" });
    assert.equal((await second.result()).text, "user: one | assistant: user: one | user: two");
    assert.deepEqual(keys, ["s", "s"]);
  });

  it("passes the user returned by authorize", async () => {
    const asked: User[] = [];
    const agents: CreateAgent = (_sessionKey, user) => {
      asked.push(user);
      return scripted([`Hello, ${user.id ?? "stranger"}.`]);
    };
    await using house = await madeHouse(agents, { authorize });
    const texts: string[] = [];
    for (const own of Object.keys(users)) {
      const run = await house.client(own).send({ sessionKey: "ann/1", message: "Hi" });
      texts.push((await run.result()).text);
    }
    assert.deepEqual(texts, ["Hello, ann.", "Hello, bob.", "Hello, stranger."]);
    assert.deepEqual(asked, [{ id: "ann", sessions: "ann/" }, { id: "bob" }, {}]);
    const answer = await fetch(`${house.gateway.url}/api/chat`, {
      method: "POST",
      headers: { authorization: "Bearer bob's token", "content-type": "application/json" },
      body: JSON.stringify({ sessionKey: "ann/1", message: "Hi" }),
    });
    assert.equal(answer.status, 202);
    await eventually("the run over HTTP has its agent", () => asked.length === 4);
    assert.deepEqual(asked[3], { id: "bob" });
  });

  it("resumes a run after a restart with the user whose message it answers", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    const asked: (User & { readonly sessionKey: string })[] = [];
    const kept = { store, pending, authorize };
    {
      const agents: CreateAgent = (sessionKey, user) => {
        asked.push({ ...user, sessionKey });
        return scripted(["word ".repeat(2000)], {}, { delayMs: 5 });
      };
      await using house = await madeHouse(agents, kept);
      const run = await house.client("bob's token").send({ sessionKey: "s", message: "go" });
      const queued = await house.client("a token").send({ sessionKey: "s", message: "then" });
      assert.equal(queued.runId === run.runId, false);
      for await (const { event } of run) if (event === "chat.delta") break;
    }
    const agents: CreateAgent = (sessionKey, user) => {
      asked.push({ ...user, sessionKey });
      return scripted([whatWasSaid]);
    };
    await using house = await madeHouse(agents, kept);
    const client = house.client("bob's token");
    const said = async (): Promise<string[]> => {
      const { messages } = await client.request("chat.history", { sessionKey: "s" });
      return messages.flatMap(({ message }) =>
        message.role === "assistant" && message.stopReason === "stop"
          ? message.content.map((part) => (part.type === "text" ? part.text : part.type))
          : [],
      );
    };
    await eventually("both runs are answered", async () => (await said()).length === 2);
    const [first = "", second = ""] = await said();
    assert.match(first, /^user: go/);
    assert.match(second, /user: then$/);
    assert.deepEqual(asked, [
      { id: "bob", sessionKey: "s" },
      { id: "bob", sessionKey: "s" },
      { sessionKey: "s" },
    ]);
  });

  it("passes the session's owner for a message stored without a user", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    const asked: User[] = [];
    const agents: CreateAgent = (_sessionKey, user) => {
      asked.push(user);
      return scripted(["Hello."]);
    };
    {
      await using house = await madeHouse(agents, { store, authorize });
      await house.client("ann's token").request("sessions.create", { sessionKey: "ann/1" });
    }
    for (const sessionKey of ["ann/1", "new"])
      await pending.add({
        id: `to ${sessionKey}`,
        kind: "send",
        sessionKey,
        agentId: "assistant",
        text: "go",
        timestamp: asked.length,
      });
    await using house = await madeHouse(agents, { store, pending, authorize });
    await house.client("a token").ready();
    await eventually("both have run", async () => (await pending.list()).length === 0);
    assert.deepEqual(asked, [{ id: "ann", sessions: "ann/" }, {}]);
  });

  it("creates the agents of a record by id", async () => {
    const agents = {
      writer: () => scripted(["I write."]),
      assistant: () => scripted(["I help."]),
      poet: () => scripted(["I sing."]),
    };
    const store = createMemoryStore();
    await using house = await madeHouse(agents, { store });
    const client = house.client();
    const say = async (agentId?: string): Promise<string> => {
      const run = await client.send({
        sessionKey: "s",
        message: "Hi",
        ...(agentId && { agentId }),
      });
      return (await run.result()).text;
    };
    assert.deepEqual([await say(), await say("writer")], ["I help.", "I write."]);
    await assert.rejects(say("reader"), /There is no agent "reader"/);
    await client.request("sessions.create", { sessionKey: "other" });
    const chosen = { sessionKey: "other", agentId: "writer" };
    const { session } = await client.request("sessions.patch", chosen);
    assert.deepEqual([session.agentId, session.model], ["writer", "scripted/scripted"]);
    const run = await client.send({ sessionKey: "other", message: "Hi" });
    assert.equal((await run.result()).text, "I write.");
    // The model of an agent is unknown until it is created.
    const unmade = await client.request("sessions.patch", { sessionKey: "other", agentId: "poet" });
    assert.deepEqual([unmade.session.agentId, unmade.session.model], ["poet", undefined]);
    const other = await openSession(store, "other", { readOnly: true });
    assert.match(await sessionToMarkdown(other), /The agent is now poet/);
    const sung = await client.send({ sessionKey: "other", message: "Hi" });
    assert.equal((await sung.result()).text, "I sing.");
  });

  it("answers queued messages with an agent that is chosen meanwhile, and lets the current run end", async () => {
    const { tool, release } = heldTool();
    const call = { content: [scriptedToolCall("wait", {})] };
    const agents = {
      one: () => scripted([call, "One."], { tools: [tool] }),
      two: () => scripted(["Two."]),
    };
    await using house = await madeHouse(agents);
    const client = house.client();
    const send = (message: string): ReturnType<typeof client.send> =>
      client.send({ sessionKey: "s", message, agentId: "one" });
    const first = await send("first");
    for await (const { event } of first) if (event === "chat.tool_call") break;
    const second = await send("second");
    const patch = { sessionKey: "s", agentId: "two" };
    assert.equal((await client.request("sessions.patch", patch)).session.agentId, "two");
    release();
    const ends = [await first.result(), await second.result()];
    assert.deepEqual(
      ends.map(({ text }) => text),
      ["One.", "Two."],
    );
  });

  it("lists its agents, with their models once created, and refuses another model", async () => {
    await using house = await madeHouse(() => scripted(["Hello."]));
    const client = house.client();
    const { model } = await client.ready();
    assert.deepEqual([model.agentId, model.wanted, model.model], ["assistant", "", ""]);
    const about = { id: "assistant", description: "", isPractice: false, isDefault: true };
    const { agents: before } = await client.request("agents.list", {});
    assert.deepEqual(before, [{ ...about, answeredBy: "", isModelFixed: true }]);
    await (await client.send({ sessionKey: "s", message: "Hi" })).result();
    const { agents: after } = await client.request("agents.list", {});
    const answeredBy = "scripted/scripted";
    assert.deepEqual(after, [{ ...about, model: answeredBy, answeredBy, isModelFixed: true }]);
    await assert.rejects(
      client.request("sessions.patch", { sessionKey: "s", model: "other/model" }),
      /The application sets the model of the agent "assistant"/,
    );
    const next = await house.client().ready();
    assert.deepEqual([next.model.provider, next.model.model], ["scripted", "scripted"]);
  });

  it("ends the run with a typed error when the function throws, and then serves the next run", async () => {
    const secret = "correct-horse-battery";
    const thrown: unknown[] = [
      new Error(`postgres://me:${secret}@db in /srv/app/db.ts`),
      new BowlineError("permission_denied", "Your plan has ended."),
      "a text",
    ];
    const agents: CreateAgent = () => {
      if (thrown.length > 0) throw thrown.shift();
      return scripted([whatWasSaid]);
    };
    await using house = await madeHouse(agents, { secrets: [secret] });
    const client = house.client();
    const failure = async (): Promise<unknown> => {
      const { end } = await (await client.send({ sessionKey: "s", message: "Hi" })).result();
      assert.equal(end.event, "chat.error");
      assert.doesNotMatch(JSON.stringify(end), /correct-horse|\/srv|\bat .*:\d+:\d+|stack/);
      return end.event === "chat.error" && [end.data.error.code, end.data.message];
    };
    const [code, message] = (await failure()) as string[];
    assert.equal(code, "hook_failed");
    assert.match(message ?? "", /^The agent could not be made: .* in db\.ts$/);
    assert.deepEqual(await failure(), ["permission_denied", "Your plan has ended."]);
    assert.deepEqual(await failure(), [
      "hook_failed",
      "The agent could not be made: it threw no Error",
    ]);
    const run = await client.send({ sessionKey: "s", message: "And now?" });
    assert.match((await run.result()).text, /user: And now\?$/);
  });

  it("refuses an agent that was returned before, has messages or is running", async () => {
    const same = scripted(["One.", "Two."]);
    const used = scripted(["Used."]);
    await used.prompt("Hi");
    const running = scripted(["word ".repeat(2000)], {}, { delayMs: 5 });
    const ended = running.prompt("Hi");
    const given: unknown[] = [same, same, used, running, {}, undefined];
    await using house = await madeHouse(() => given.shift() as Agent);
    const client = house.client();
    const ends: string[] = [];
    for (const sessionKey of ["a", "b", "c", "d", "e", "f"]) {
      const { end } = await (await client.send({ sessionKey, message: "Hi" })).result();
      ends.push(end.event === "chat.error" ? end.data.message : end.event);
    }
    running.abort();
    await ended;
    const refusal = (what: string): string =>
      `The function that makes agents ${what}. Return a new Agent from each call.`;
    assert.deepEqual(ends, [
      "chat.final",
      refusal("returned an agent that it had returned before"),
      refusal("returned an agent that has messages already"),
      refusal("returned an agent that is running"),
      refusal("returned no Agent"),
      refusal("returned no Agent"),
    ]);
  });

  it("stops a run whose agent is still being created", async () => {
    const isMaking = Promise.withResolvers<void>();
    const made = Promise.withResolvers<Agent>();
    const given = [made.promise, scripted(["Hello."])];
    await using house = await madeHouse(() => {
      isMaking.resolve();
      return given.shift() as Agent;
    });
    const client = house.client();
    const run = await client.send({ sessionKey: "s", message: "Hi" });
    await isMaking.promise;
    await client.request("chat.abort", { sessionKey: "s" });
    assert.equal((await run.result()).end.event, "chat.aborted");
    made.resolve(scripted(["Too late."]));
    const next = await client.send({ sessionKey: "s", message: "Hi" });
    assert.equal((await next.result()).text, "Hello.");
  });
});

describe("the limits of a created agent", () => {
  const turnsOf = async (agent: Agent, maxTurns: number): Promise<number> => {
    await using house = await madeHouse(() => agent, { limits: { maxTurns } });
    const run = await house.client().send({ sessionKey: "s", message: "go" });
    let turns = 0;
    for await (const { event } of run) if (event === "chat.turn") turns++;
    const { end } = await run.result();
    assert.equal(end.event === "chat.final" && end.data.stopReason, "budget");
    return turns;
  };
  const endless = (options: object): Agent => scripted(rounds(9), { tools: [again], ...options });

  it("are the smaller of the agent's and the gateway's", async () => {
    assert.equal(await turnsOf(endless({}), 3), 3);
    assert.equal(await turnsOf(endless({ budget: { maxTurns: 2 } }), 3), 2);
    assert.equal(await turnsOf(endless({ budget: { maxTurns: 5 } }), 3), 3);
    const shared = createBudget({ maxTurns: 2 });
    assert.equal(await turnsOf(endless({ budget: shared }), 3), 2);
    assert.equal(shared.used.turns, 2);
    assert.equal(await turnsOf(endless({ budget: createBudget({ maxTurns: 9 }) }), 3), 3);
  });

  it("end a run in time, by the agent's budget or the gateway's", async () => {
    for (const [maxTimeMs, runTimeoutMs] of [
      [50, 60_000],
      [60_000, 50],
    ] as const) {
      const agent = scripted(["word ".repeat(2000)], { budget: { maxTimeMs } }, { delayMs: 5 });
      await using house = await madeHouse(() => agent, { limits: { runTimeoutMs } });
      const { end } = await (
        await house.client().send({ sessionKey: "s", message: "go" })
      ).result();
      assert.equal(end.event === "chat.final" && end.data.stopReason, "budget");
    }
  });
});

describe("the context of a created agent", () => {
  const said = async (options: AgentOptions): Promise<{ text: string; calls: number }> => {
    const { model, streamFn, calls } = createScriptedModel(
      Array.from({ length: 9 }, () => ({ content: [{ type: "text", text: "word ".repeat(200) }] })),
    );
    const small = { ...model, contextWindow: 1200 };
    await using house = await madeHouse(() => new Agent({ model: small, streamFn, ...options }));
    const client = house.client();
    for (const message of ["one", "two", "three", "four", "five"]) {
      const run = await client.send({
        sessionKey: "s",
        message: `${message} ${"word ".repeat(200)}`,
      });
      const { end } = await run.result();
      assert.equal(end.event, "chat.final");
    }
    return { text: JSON.stringify(calls.at(-1)?.context.messages), calls: calls.length };
  };

  it("is compacted by the gateway", async () => {
    const { text, calls } = await said({});
    assert.ok(calls > 5, "a summary was asked for");
    assert.doesNotMatch(text, /"one word/);
  });

  it("is left to the agent's transformContext", async () => {
    const { text, calls } = await said({ transformContext: (messages) => messages.slice(-1) });
    assert.equal(calls, 5);
    assert.match(text, /^\[\{"role":"user","content":"five word/);
  });
});
