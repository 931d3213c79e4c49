/**
 * An agent attached to a session: what is recorded, how a prompt ends an open run, and what is
 * refused.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  createAgentTool,
  requireApproval,
  type AgentMessage,
  type AgentOptions,
  type AgentTool,
} from "../../src/agent/index.ts";
import {
  attachSession,
  createMemoryStore,
  createSession,
  openSession,
  resumeSession,
  type Entry,
  type EntryBody,
  type Session,
  type Store,
} from "../../src/session/index.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";
import { scriptedToolCall, type ScriptedStep } from "../../src/testing/index.ts";
import { assertAccepted } from "../agent/context/rig.ts";
import { entriesIn, sessionOf } from "./agent-rig.ts";
import { collect, temporaryFolder } from "./support.ts";
import { call, hello, rig, tool } from "../support.ts";
import { code } from "../../../../test/support/error-code.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { texts } from "../../../../test/support/message-texts.ts";

const two: ScriptedStep = {
  content: [scriptedToolCall("a", {}, "1"), scriptedToolCall("b", {}, "2")],
};

async function attached(
  steps: readonly ScriptedStep[],
  tools: AgentTool[] = [],
  options: AgentOptions = {},
) {
  const store = createMemoryStore();
  const session = await createSession(store, { id: "s" });
  const made = rig(steps, tools, options);
  return { ...made, ...(await attachSession(made.agent, session)), store };
}

const kindsOf = (entries: readonly Entry[]): string[] => entries.map(({ type }) => type);
const entriesOf = (session: Session): Promise<Entry[]> =>
  collect(session.entries()) as Promise<Entry[]>;
const shown = async (session: Session): Promise<string[]> =>
  texts((await session.contextMessages()) as AgentMessage[]);

/** Entries of a run that called `a` and `b` and stopped there, followed by `more`. */
function leftOpen(...more: EntryBody[]): Entry[] {
  const answer = {
    role: "assistant",
    content: (two as { content: [] }).content,
    usage: { output: 1 },
    timestamp: 1,
  };
  const origin = {
    api: "scripted",
    provider: "scripted",
    model: "scripted",
    stopReason: "toolUse",
  };
  const bodies: EntryBody[] = [
    { type: "run_start", runId: "old" },
    { type: "message", runId: "old", message: hello },
    { type: "message", runId: "old", message: { ...answer, ...origin } as AgentMessage },
    ...more,
  ];
  return bodies.map((body, seq) => ({
    seq,
    id: `e${seq}`,
    parentId: seq === 0 ? null : `e${seq - 1}`,
    timestamp: 1,
    ...body,
  }));
}

const intent = (name: string, toolCallId: string): EntryBody => {
  const idempotencyKey = `old:1:${toolCallId}`;
  return {
    type: "tool_intent",
    runId: "old",
    toolCallId,
    toolName: name,
    args: {},
    replay: "never",
    idempotencyKey,
  };
};
const result = (toolCallId: string, text: string): EntryBody => ({
  type: "tool_result",
  runId: "old",
  toolCallId,
  idempotencyKey: `old:1:${toolCallId}`,
  result: {
    result: { content: [{ type: "text", text }] },
    isError: false,
    outcome: "finished",
    durationMs: 1,
  },
  isError: false,
});

/** A store with the session of the open run. */
async function storeOf(...more: EntryBody[]): Promise<Store> {
  const store = createMemoryStore();
  await sessionOf(store, "s", leftOpen(...more));
  return store;
}

describe("attachSession()", () => {
  it("records the agent's runs and restores its messages in the next process", async () => {
    const { agent, session, store } = await attached(
      [call("a"), "Done.", "Again."],
      [tool("a", () => "A")],
    );
    await agent.prompt("Go");
    await agent.prompt("More");
    const turn = ["message", "tool_intent", "tool_result", "message", "message"];
    const kinds = kindsOf(await entriesOf(session));
    assert.deepEqual(kinds, [
      "run_start",
      "message",
      ...turn,
      "run_end",
      "run_start",
      "message",
      "message",
      "run_end",
    ]);
    await session.close();
    const { agent: next, script } = rig(["Hello again."]);
    const again = await attachSession(next, await openSession(store, "s"));
    assert.deepEqual([again.interrupted, await again.resume()], [undefined, undefined]);
    assert.deepEqual(next.state.messages, agent.state.messages);
    await next.prompt("Still there?");
    assert.equal(script.calls[0]?.context.messages.length, 7);
  });

  it("writes each step to the log before the agent continues", async () => {
    await using folder = await temporaryFolder();
    const store = createJsonlStore(folder.path, { sync: "never" });
    const last = async (): Promise<string | undefined> =>
      (await entriesIn(store, "s")).at(-1)?.type;
    const seen: unknown[] = [];
    const { agent } = rig(
      [
        async () => {
          seen.push(await last());
          return call("a");
        },
        "Done.",
      ],
      [tool("a", async () => String(seen.push(await last())))],
    );
    await using session = await createSession(store, { id: "s" });
    await attachSession(agent, session);
    agent.subscribe(async ({ type }) => {
      if (type === "message_end" || type === "tool_execution_end" || type === "agent_end")
        seen.push(await last());
    });
    await agent.prompt("Go");
    const expected = [
      "message",
      "message",
      "message",
      "tool_intent",
      "tool_result",
      "message",
      "message",
      "run_end",
    ];
    assert.deepEqual(seen, expected);
  });

  it("refuses an agent that is attached or running", async () => {
    const { agent, session } = await attached(["Hello."]);
    await agent.prompt("Go");
    await assert.rejects(attachSession(agent, session), code("invalid_state"));
    const { agent: busy } = rig(["Hello."]);
    const running = busy.prompt("Go");
    await assert.rejects(attachSession(busy, session), code("invalid_state"));
    await running;
  });

  it("records nothing after detach(), and restores the agent's effects", async () => {
    const { agent } = rig(["Hello."]);
    const open = await createSession(createMemoryStore());
    const step = <T>(_name: string, fn: () => Promise<T>): Promise<T> => fn();
    agent.effects = { step };
    (await attachSession(agent, open)).detach();
    assert.deepEqual(agent.effects, { step });
    await agent.prompt("Go");
    assert.deepEqual(await entriesOf(open), []);
  });

  it("records around the program's own effects", async () => {
    const names: string[] = [];
    const step = <T>(name: string, fn: () => Promise<T>): Promise<T> => {
      names.push(name);
      return fn();
    };
    const { agent, session } = await attached([call("a"), "Done."], [tool("a", () => "A")], {
      effects: { step },
    });
    await agent.prompt("Go");
    assert.deepEqual(names, ["model:0", "tool:1:a", "model:1"]);
    assert.ok(kindsOf(await entriesOf(session)).includes("tool_result"));
  });

  it("records messages added between runs, and refuses a replaced transcript", async () => {
    const { agent, session } = await attached(["One.", "Two.", "never"]);
    agent.state.messages.push(hello);
    await agent.prompt("Go");
    assert.deepEqual(await shown(session), ["user: Hello", "user: Go", "assistant: One."]);
    agent.reset();
    const { reason, error } = await agent.prompt("Go");
    assert.deepEqual([reason, error?.code], ["error", "invalid_state"]);
    agent.state.messages = (await session.contextMessages()) as AgentMessage[];
    assert.equal((await agent.prompt("Go")).error?.code, "invalid_state");
    assert.deepEqual(await shown(session), ["user: Hello", "user: Go", "assistant: One."]);
  });

  it("refuses a transcript in which any message was replaced, whatever follows it", async () => {
    for (const change of [
      (messages: AgentMessage[]) => messages.with(0, hello),
      (messages: AgentMessage[]) =>
        messages.map((message, at) => (at === 1 ? { ...message } : message)),
      (messages: AgentMessage[]) => [...messages.slice(1), hello],
    ]) {
      const { agent, session, script } = await attached(["One.", "never"]);
      await agent.prompt("Go");
      agent.state.messages = change(agent.state.messages);
      const { error } = await agent.prompt("Go");
      assert.match(
        `${error?.code}: ${error?.message}`,
        /^invalid_state: .*messages\[[01]\] was replaced/,
      );
      assert.deepEqual(
        [await shown(session), script.calls.length],
        [["user: Go", "assistant: One."], 1],
      );
    }
  });

  it("records messages that the program adds during a run, in their place", async () => {
    const add = (text: string): void =>
      void agent.state.messages.push({ role: "user", content: text, timestamp: 1 });
    const note = tool("a", () => {
      add("from a tool");
      return "A";
    });
    const { agent, session, store } = await attached([call("a"), "Done.", "Again."], [note]);
    agent.subscribe(({ type }) => {
      if (type === "turn_end" || type === "agent_end") add(`at ${type}`);
    });
    await agent.prompt("Go");
    await agent.prompt("Go on");
    const kept = await shown(session);
    assert.deepEqual(kept, texts(agent.state.messages).slice(0, kept.length));
    assert.deepEqual(
      kept.filter((text) => /from|at /.test(text)),
      ["from a tool", "at turn_end", "at turn_end", "at agent_end", "at turn_end"].map(
        (text) => `user: ${text}`,
      ),
    );
    await session.close();
    const { agent: next } = rig([]);
    await attachSession(next, await openSession(store, "s"));
    assert.deepEqual(next.state.messages, agent.state.messages.slice(0, kept.length));
  });

  it("records messages added after the last answer before the run ends", async () => {
    const { agent, session } = await attached(["One."]);
    agent.subscribe(({ type }) => void (type === "turn_end" && agent.state.messages.push(hello)));
    await agent.prompt("Go");
    assert.deepEqual(await shown(session), ["user: Go", "assistant: One.", "user: Hello"]);
  });

  it("records messages added after a turn's results before the next request", async () => {
    const { agent, session } = await attached([call("a"), "Done."], [tool("a", () => "A")]);
    const kept: string[][] = [];
    agent.subscribe(async (event) => {
      if (event.type === "message_end" && event.message.role === "toolResult")
        agent.state.messages.push(hello);
      if (event.type === "turn_start") kept.push(await shown(session));
    });
    await agent.prompt("Go");
    assert.deepEqual(kept[1], ["user: Go", "assistant: toolCall", "toolResult: A", "user: Hello"]);
  });

  it("records each message once when aborted runs did not wait for a slow log", async () => {
    const { agent, session } = await attached(["One.", "Two.", "Last."]);
    const append = session.append.bind(session);
    const [begun, released] = [deferred(), deferred()];
    session.append = async (body, id) => {
      begun.resolve();
      await released.promise;
      return append(body, id);
    };
    agent.abortGraceMs = 1;
    const first = agent.prompt("Go");
    await begun.promise;
    agent.abort();
    await first;
    const second = agent.prompt("Go on");
    agent.abort();
    await second;
    released.resolve();
    await agent.prompt("Go to the end");
    assert.deepEqual(await shown(session), texts(agent.state.messages));
  });

  it("records no message twice when a listener inserts one before it, which the next run refuses", async () => {
    const { agent, session } = await attached(
      [call("a"), "Done.", "never"],
      [tool("a", () => "A")],
    );
    agent.subscribe(({ type }) => {
      if (type === "tool_execution_start") agent.state.messages.unshift(hello);
    });
    await agent.prompt("Go");
    assert.deepEqual(await shown(session), [
      "user: Go",
      "assistant: toolCall",
      "toolResult: A",
      "assistant: Done.",
    ]);
    assert.equal((await agent.prompt("Go on")).error?.code, "invalid_state");
  });

  it("records a nested run as part of its tool's step", async () => {
    const inner = createAgentTool({
      name: "helper",
      description: "Helps.",
      createAgent: () => rig([call("x"), "Helped."], [tool("x", () => "X")]).agent,
    });
    const asked: ScriptedStep = { content: [scriptedToolCall("helper", { prompt: "Help" })] };
    const { agent, session } = await attached([asked, "Done."], [inner]);
    await agent.prompt("Go");
    const kinds = [
      "run_start",
      "message",
      "message",
      "tool_intent",
      "tool_result",
      "message",
      "message",
      "run_end",
    ];
    assert.deepEqual(kindsOf(await entriesOf(session)), kinds);
  });
});

describe("a prompt while an earlier run is open", () => {
  it("ends that run with a known or unknown outcome for each call", async () => {
    const store = await storeOf(intent("a", "1"), intent("b", "2"), result("1", "A, before"));
    const ran: string[] = [];
    const { agent, script } = rig(
      [two, "Done."],
      [tool("a", () => (ran.push("a"), "A")), tool("b", () => "B")],
    );
    const session = await openSession(store, "s");
    const kept = await attachSession(agent, session);
    assert.deepEqual([kept.interrupted?.runId, kept.interrupted?.turns], ["old", 1]);
    const run = await agent.prompt("Something else");
    assert.deepEqual(
      [run.reason, kept.interrupted, await kept.resume()],
      ["done", undefined, undefined],
    );
    const all = await shown(session);
    assert.deepEqual(all.slice(2, 3), ["toolResult: A, before"]);
    assert.match(all[3] ?? "", /^toolResult: The process ended while b ran.*old:1:2\.$/);
    // The same ids in the same turn of another run are other calls.
    assert.deepEqual(all.slice(4), [
      "user: Something else",
      all[1],
      "toolResult: A",
      "toolResult: B",
      "assistant: Done.",
    ]);
    assert.deepEqual(ran, ["a"]);
    assertAccepted(script.calls[0]?.context.messages ?? []);
    const ends = (await entriesOf(session)).filter((entry) => entry.type === "run_end");
    assert.deepEqual(
      ends.map(({ runId, reason, usage }) => [runId, reason, usage?.output]),
      [
        ["old", "interrupted", 1],
        [run.runId, "done", undefined],
      ],
    );
  });

  it("reports in a fork that the open calls were not run", async () => {
    const from = await openSession(await storeOf(), "s", { readOnly: true });
    const fork = await from.fork();
    const { agent } = rig(["Done."]);
    const kept = await attachSession(agent, fork);
    assert.equal(kept.interrupted, undefined);
    await agent.prompt("Else");
    const notRun = "toolResult: Not run: the process ended first.";
    assert.deepEqual((await shown(fork)).slice(2), [
      notRun,
      notRun,
      "user: Else",
      "assistant: Done.",
    ]);
  });

  it("does not resume a run after a rewind into it", async () => {
    const { agent, session, store } = await attached([call("a"), "Done."], [tool("a", () => "A")]);
    await agent.prompt("Go");
    const [, , answer] = await entriesOf(session);
    await session.close();
    const again = await openSession(store, "s");
    await again.rewind(answer?.id ?? "");
    const { agent: next } = rig(["Else."]);
    const kept = await attachSession(next, again);
    assert.equal(kept.interrupted, undefined);
    assert.equal(next.state.messages.length, 2);
    assert.equal((await next.prompt("Go on")).reason, "done");
    assert.equal((await again.state()).run?.reason, "done");
  });
});

describe("a run that is resumed", () => {
  it("can go on with continue(), which adds no message", async () => {
    const { agent, session, store } = await attached(["Done."]);
    agent.state.messages.push(hello);
    await agent.continue();
    const entries = await entriesOf(session);
    assert.deepEqual(kindsOf(entries), ["message", "run_start", "message", "run_end"]);
    await sessionOf(store, "cut", entries.slice(0, 2));
    const { agent: next } = rig(["Resumed."]);
    const { result: run } = await resumeSession(store, "cut", next);
    assert.deepEqual(
      [run?.reason, texts(next.state.messages).at(-1)],
      ["done", "assistant: Resumed."],
    );
  });

  it("stays aborted, with the recorded outcomes of its calls", async () => {
    const store = await storeOf(intent("a", "1"), result("1", "A, before"), {
      type: "abort",
      runId: "old",
    });
    const { agent, script } = rig(["never"], [tool("a", () => "never"), tool("b", () => "never")]);
    const { result: run, session } = await resumeSession(store, "s", agent);
    assert.deepEqual([run?.reason, script.calls.length], ["aborted", 0]);
    assert.deepEqual((await shown(session)).slice(2), [
      "toolResult: A, before",
      "toolResult: Not run: The run was aborted.",
    ]);
    assert.equal((await session.state()).run?.reason, "aborted");
  });

  it("records an abort as it happens", async () => {
    const started = deferred();
    const wait = tool("a", async (signal) => {
      started.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return "stopped";
    });
    const { agent, session } = await attached([call("a"), "never"], [wait]);
    const running = agent.prompt("Go");
    await started.promise;
    agent.abort();
    assert.equal((await running).reason, "aborted");
    const kinds = kindsOf(await entriesOf(session));
    assert.deepEqual(kinds.slice(3), ["tool_intent", "abort", "tool_result", "message", "run_end"]);
  });

  it("uses recorded results when its budget is used up", async () => {
    const store = await storeOf(intent("a", "1"), result("1", "A, before"));
    const { agent } = rig(["never"], [tool("a", () => "never")], { budget: { maxTurns: 1 } });
    const { result: run, session } = await resumeSession(store, "s", agent);
    assert.equal(run?.reason, "budget");
    const [a, b] = (await shown(session)).slice(2);
    assert.equal(a, "toolResult: A, before");
    assert.match(b ?? "", /^toolResult: Not run: The run used its budget/);
  });

  it("asks again when a recorded approval was for other arguments", async () => {
    const ask = {
      type: "approval_request",
      approvalId: "old:1:1",
      toolCallId: "1",
      toolName: "a",
    } as const;
    for (const [args, isAsked] of [
      [{}, false],
      [{ path: "/" }, true],
    ] as const) {
      const store = await storeOf(
        { ...ask, args },
        { type: "approval_answer", approvalId: "old:1:1", decision: "allow" },
      );
      const { agent, events } = rig(["Done."], [tool("a", () => "A"), tool("b", () => "B")]);
      agent.beforeToolCall = requireApproval({
        needed: ({ toolCall }) => toolCall.name === "a",
        timeoutMs: 20,
      });
      const { session } = await resumeSession(store, "s", agent);
      const expected = isAsked
        ? "toolResult: Denied: there was no answer in time."
        : "toolResult: A";
      assert.equal((await shown(session))[2], expected);
      assert.equal(events.filter(({ type }) => type === "approval_answer").length, 1);
    }
  });

  it("releases the session when it cannot begin", async () => {
    const store = await storeOf();
    const { agent } = rig([]);
    delete agent.streamFn;
    await assert.rejects(resumeSession(store, "s", agent), code("invalid_argument"));
    await (await openSession(store, "s")).close();
  });
});
