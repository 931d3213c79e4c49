import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  Agent,
  createAgentTool,
  createBudget,
  requireApproval,
  type AgentEvent,
  type AgentOptions,
  type AgentTool,
} from "../../src/agent/index.ts";
import { BowlineError } from "../../src/errors.ts";
import { messageText, type Message } from "../../src/llm/message.ts";
import {
  createScriptedModel,
  scriptedToolCall,
  type ScriptedModel,
  type ScriptedStep,
} from "../../src/testing/index.ts";
import { call, rig, tool } from "../support.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { ManualClock, settle } from "../../../../test/support/manual-clock.ts";
import { texts } from "../../../../test/support/message-texts.ts";

const ask = (name: string, prompt: string, id: string = name): ScriptedStep => ({
  content: [scriptedToolCall(name, { prompt }, id)],
});

/** Two calls in one answer, `a` and `b`. */
const askTwice = (name: string): ScriptedStep => ({
  content: ["a", "b"].map((id) => scriptedToolCall(name, { prompt: id }, id)),
});

function helper(
  name: string,
  steps: readonly ScriptedStep[],
  tools: AgentTool[] = [],
  options: AgentOptions = {},
): { tool: AgentTool; script: ScriptedModel } {
  const script = createScriptedModel(steps);
  const createAgent = (): Agent =>
    new Agent({
      initialState: { model: script.model, tools },
      streamFn: script.streamFn,
      ...options,
    });
  return { script, tool: createAgentTool({ name, description: "Helps.", createAgent }) };
}

describe("an agent as a tool", () => {
  it("has its own default limit of 50 turns, which do not count against its caller's", async () => {
    const steps = [...Array.from({ length: 60 }, () => call("look")), "Never said."];
    const { tool: research, script } = helper("research", steps, [tool("look", () => "42")]);
    const { agent } = rig([ask("research", "a"), ask("research", "b"), "Done."], [research]);
    const { reason, turns } = await agent.prompt("Hi");
    assert.deepEqual([reason, turns], ["done", 3]);
    assert.equal(script.calls.length, 60 + 1); // 50 by the first helper, and the remaining ones by the second
  });

  it("takes the turn limit of its caller's budget", async () => {
    const steps = [...Array.from({ length: 60 }, () => call("look")), "All seen."];
    const { tool: research } = helper("research", steps, [tool("look", () => "42")]);
    const { agent } = rig([ask("research", "a"), "Done."], [research], {
      budget: { maxTurns: Infinity },
    });
    const { messages } = await agent.prompt("Hi");
    assert.equal(texts(messages)[2], "toolResult: All seen.");
  });

  it("runs the task it is given and answers with its final text", async () => {
    const { tool: research, script } = helper(
      "research",
      [call("look"), "Forty-two."],
      [tool("look", () => "42")],
    );
    const { agent } = rig([ask("research", "What is it?"), "It is 42."], [research]);
    const { messages, usage } = await agent.prompt("Hi");
    assert.deepEqual(texts(messages).slice(2), ["toolResult: Forty-two.", "assistant: It is 42."]);
    assert.equal(script.calls[0]?.context.messages[0]?.content, "What is it?");
    const result = messages[2];
    assert.ok(result?.role === "toolResult");
    const { reason, turns } = result.details as { reason: string; turns: number };
    assert.deepEqual([reason, turns, usage], ["done", 2, {}]);
  });

  it("says when a token limit cut its answer", async () => {
    const { tool: research } = helper("research", [
      { content: [{ type: "text", text: "Forty-" }], stopReason: "length" },
    ]);
    const { agent } = rig([ask("research", "What is it?"), "Hm."], [research]);
    const { messages } = await agent.prompt("Hi");
    assert.equal(
      texts(messages)[2],
      "toolResult: Forty-\n\n[Not finished: A limit cut the answer.]",
    );
  });

  it("emits its events to the caller's listeners with the caller's run as parent, numbered per run", async () => {
    const { tool: research } = helper("research", ["Found."]);
    const { agent, events } = rig([ask("research", "Look"), "Done."], [research]);
    const { runId } = await agent.prompt("Hi");
    const own = events.filter((event) => event.runId === runId);
    const nested = events.filter((event) => event.runId !== runId);
    assert.deepEqual(
      own.map(({ seq }) => seq),
      own.map((_, index) => index),
    );
    assert.deepEqual(
      nested.map(({ seq }) => seq),
      nested.map((_, index) => index),
    );
    assert.ok(nested.every(({ parentRunId }) => parentRunId === runId));
    assert.ok(own.every(({ parentRunId }) => parentRunId === undefined));
    assert.equal(nested.at(0)?.type, "agent_start");
    assert.equal(nested.at(-1)?.type, "agent_end");
    const at = (type: AgentEvent["type"]): number =>
      own.find((event) => event.type === type)?.seq ?? -1;
    assert.ok(at("tool_execution_end") > at("tool_execution_start"));
    assert.equal(agent.state.messages.length, 4);
    assert.equal(agent.state.errorMessage, undefined);
  });

  it("names the call that started it in its events, so that listeners can distinguish parallel calls", async () => {
    const { tool: research } = helper("research", ["One.", "Two."]);
    const { agent, events } = rig([askTwice("research"), "Done."], [research]);
    const { runId } = await agent.prompt("Hi");
    const nested = events.filter((event) => event.parentRunId !== undefined);
    assert.ok(nested.some(({ type }) => type === "message_update"));
    for (const id of ["a", "b"]) {
      const ofCall = nested.filter(({ parentToolCallId }) => parentToolCallId === id);
      assert.equal(new Set(ofCall.map((event) => event.runId)).size, 1);
      assert.deepEqual([ofCall.at(0)?.type, ofCall.at(-1)?.type], ["agent_start", "agent_end"]);
    }
    for (const event of nested)
      assert.deepEqual([event.parentRunId, event.parentToolName], [runId, "research"]);
    const own = events.find((event) => event.runId === runId);
    assert.ok(own && !("parentToolCallId" in own) && !("parentToolName" in own));
  });

  it("names the direct parent's call at each level", async () => {
    const deepest = helper("deepest", ["Bottom."]);
    const middle = helper("middle", [ask("deepest", "Down", "2"), "Middle."], [deepest.tool]);
    const { agent, events } = rig([ask("middle", "Down", "1"), "Top."], [middle.tool]);
    await agent.prompt("Hi");
    const starts = events.filter(({ type }) => type === "agent_start");
    const [top, below] = starts.map((event) => event.runId);
    assert.deepEqual(
      starts.map((event) => [event.parentRunId, event.parentToolCallId, event.parentToolName]),
      [
        [undefined, undefined, undefined],
        [top, "1", "middle"],
        [below, "2", "deepest"],
      ],
    );
  });

  it("forwards events through several levels and shares one budget", async () => {
    const budget = createBudget({ maxTurns: 10 });
    const deepest = helper("deepest", ["Bottom."]);
    const middle = helper("middle", [ask("deepest", "Down"), "Middle."], [deepest.tool]);
    const { agent, events } = rig([ask("middle", "Down"), "Top."], [middle.tool], { budget });
    const { messages } = await agent.prompt("Hi");
    assert.equal(texts(messages)[2], "toolResult: Middle.");
    assert.equal(new Set(events.map((event) => event.runId)).size, 3);
    assert.equal(budget.used.turns, 5);
  });

  it("draws on the caller's budget, and may have a smaller one of its own", async () => {
    const endless = Array.from({ length: 9 }, () => call("look"));
    const first = helper("research", endless, [tool("look", () => "42")]);
    const run = await rig([ask("research", "Look"), "never"], [first.tool], {
      budget: { maxTurns: 4 },
    }).agent.prompt("Hi");
    assert.equal(run.reason, "budget");
    assert.equal(first.script.calls.length, 3);
    const second = helper(
      "research",
      [
        { content: [{ type: "text", text: "So far." }, scriptedToolCall("look", {}, "l")] },
        ...endless,
      ],
      [tool("look", () => "42")],
      {
        budget: { maxTurns: 2 },
      },
    );
    const other = await rig([ask("research", "Look"), "Done."], [second.tool], {
      budget: { maxTurns: 9 },
    }).agent.prompt("Hi");
    assert.equal(other.reason, "done");
    assert.equal(
      texts(other.messages)[2],
      "toolResult: So far.\n\n[Not finished: The run used its budget of 2 turns.]",
    );
  });

  it("aborts with its caller and settles within the caller's grace period", async () => {
    const clock = new ManualClock();
    const { tool: research } = helper(
      "research",
      [call("stubborn")],
      [tool("stubborn", () => new Promise(() => {}))],
      {
        clock,
      },
    );
    const { agent, events } = rig([ask("research", "Look")], [research], {
      clock,
      abortGraceMs: 200,
    });
    const run = agent.prompt("Hi");
    await settle();
    agent.abort();
    await clock.advance(100);
    const ended = await Promise.race([run, settle()]);
    assert.deepEqual([ended?.reason, ended?.tools[0]?.outcome], ["aborted", "stopped"]);
    const inner = events.find(
      (event) => event.type === "tool_execution_end" && event.parentRunId !== undefined,
    );
    assert.equal(inner?.type === "tool_execution_end" && inner.outcome, "left_running");
    assert.equal(clock.pending, 0);
  });

  it("has its answer so far in the result when it is aborted", async () => {
    const { tool: research } = helper("research", ["One half is in the cellar."]);
    const { agent, events } = rig([ask("research", "Look")], [research]);
    agent.subscribe((event) => {
      if (event.type === "message_update" && event.parentRunId !== undefined) agent.abort();
    });
    const { tools, messages } = await agent.prompt("Hi");
    assert.equal(tools[0]?.outcome, "stopped", JSON.stringify(events.at(-1)));
    assert.match(
      texts(messages)[2] ?? "",
      /^toolResult: The tool was stopped after less than 1 s\. The run was aborted\. Its answer until then:\nOne half/,
    );
  });

  it("emits nothing to a caller whose run has ended, even when its own listeners take longer", async () => {
    const clock = new ManualClock();
    const script = createScriptedModel(["Looked."]);
    let hasEnded = false;
    const research = createAgentTool({
      name: "research",
      description: "Helps.",
      createAgent() {
        const inner = new Agent({
          initialState: { model: script.model },
          streamFn: script.streamFn,
          clock,
        });
        for (let hanging = 0; hanging < 3; hanging++)
          inner.subscribe(({ type }) => (type === "turn_end" ? new Promise(() => {}) : undefined));
        inner.subscribe(({ type }) => void (hasEnded ||= type === "agent_end"));
        return inner;
      },
    });
    const { agent, events } = rig([ask("research", "Look")], [research], {
      clock,
      abortGraceMs: 200,
    });
    const run = agent.prompt("Hi");
    await settle();
    agent.abort();
    await clock.advance(200);
    const ended = await Promise.race([run, settle()]);
    assert.deepEqual([ended?.tools[0]?.outcome, hasEnded], ["left_running", false]);
    const { length } = events;
    await clock.advance(1000);
    assert.deepEqual([hasEnded, events.length], [true, length]);
  });

  it("is aborted when its caller was aborted during createAgent", async () => {
    const script = createScriptedModel(["Never asked."]);
    const research = createAgentTool({
      name: "research",
      description: "Helps.",
      createAgent() {
        agent.abort();
        return new Agent({ initialState: { model: script.model }, streamFn: script.streamFn });
      },
    });
    const { agent } = rig([ask("research", "Look")], [research]);
    const { reason, tools } = await agent.prompt("Hi");
    assert.deepEqual([reason, tools[0]?.outcome, script.calls.length], ["aborted", "stopped", 0]);
  });

  it("asks for approval through the outermost caller", async () => {
    const options = { beforeToolCall: requireApproval() };
    const deepest = helper(
      "deepest",
      [call("write"), "Written."],
      [tool("write", () => "ok")],
      options,
    );
    const middle = helper("middle", [ask("deepest", "Write"), "Middle."], [deepest.tool]);
    const { agent, events } = rig([ask("middle", "Write"), "Top."], [middle.tool]);
    const run = agent.prompt("Hi");
    while (!events.some(({ type }) => type === "approval_request")) await settle();
    const requests = events.filter((event) => event.type === "approval_request");
    assert.equal(requests.length, 1);
    assert.equal(agent.answer(requests[0]?.approvalId ?? "", { decision: "allow" }), true);
    assert.equal(texts((await run).messages)[2], "toolResult: Middle.");
    assert.equal(deepest.script.calls.length, 2);
  });

  it("runs several calls at once, each with its own transcript", async () => {
    const gate = deferred();
    // The nested runs ask in any order.
    const answer: ScriptedStep = async ({ messages: [prompt] }) => {
      const isFirst = messageText(prompt as Message) === "1";
      if (isFirst) await gate.promise;
      else gate.resolve();
      return isFirst ? "One." : "Two.";
    };
    const { tool: research, script } = helper("research", [answer, answer]);
    const both: ScriptedStep = {
      content: [
        scriptedToolCall("research", { prompt: "1" }, "a"),
        scriptedToolCall("research", { prompt: "2" }, "b"),
      ],
    };
    const { agent } = rig([both, "Done."], [research]);
    const { messages } = await agent.prompt("Hi");
    assert.deepEqual(texts(messages).slice(2, 4), ["toolResult: One.", "toolResult: Two."]);
    assert.deepEqual(
      script.calls.map(({ context }) => context.messages.length),
      [1, 1],
    );
  });

  it("respects the parent of its own budget", async () => {
    const all = createBudget({ maxTurns: 1 });
    const research = helper("research", [call("look"), "never"], [tool("look", () => "42")], {
      budget: createBudget({ maxTurns: 9 }, all),
    });
    const { agent } = rig([ask("research", "Look"), "Done."], [research.tool], {
      budget: createBudget({ maxTurns: 9 }),
    });
    await agent.prompt("Hi");
    assert.deepEqual([research.script.calls.length, all.used.turns], [1, 1]);
  });

  it("may reuse one agent for sequential calls: each counts once in the caller's budget, and the agent's settings are restored", async () => {
    const script = createScriptedModel(["One.", "Two.", "Alone."]);
    const own = { maxTurns: 50 };
    const one = new Agent({
      initialState: { model: script.model },
      streamFn: script.streamFn,
      budget: own,
    });
    const research = createAgentTool({
      name: "research",
      description: "Helps.",
      createAgent: () => one,
    });
    const budget = createBudget({ maxTurns: 100 });
    const { agent } = rig(
      [ask("research", "a", "1"), ask("research", "b", "2"), "Done."],
      [research],
      { budget },
    );
    await agent.prompt("Hi");
    assert.equal(budget.used.turns, 5);
    const events: AgentEvent[] = [];
    one.subscribe((event) => void events.push(event));
    await one.prompt("Alone");
    assert.equal(budget.used.turns, 5);
    assert.deepEqual(
      [one.budget, one.abortGraceMs, events[0]?.parentRunId, events[0]?.parentToolCallId],
      [own, undefined, undefined, undefined],
    );
    assert.deepEqual([one.parentToolCallId, one.parentToolName], [undefined, undefined]);
  });

  it("emits nothing to its caller from a run that a reused agent has by itself", async () => {
    const script = createScriptedModel(["Looked.", "Alone."]);
    const one = new Agent({ initialState: { model: script.model }, streamFn: script.streamFn });
    const research = createAgentTool({
      name: "research",
      description: "Helps.",
      createAgent: () => one,
    });
    let alone = "";
    const answers: ScriptedStep = async () => {
      alone = (await one.prompt("Alone")).runId;
      return "Done.";
    };
    const { agent, events } = rig([ask("research", "Look"), answers], [research]);
    await agent.prompt("Hi");
    assert.notEqual(alone, "");
    assert.deepEqual(
      events.filter(({ runId }) => runId === alone),
      [],
    );
  });

  it("fails the second of two concurrent calls on one agent, and emits no event twice", async () => {
    const script = createScriptedModel(["One."]);
    const one = new Agent({ initialState: { model: script.model }, streamFn: script.streamFn });
    const research = createAgentTool({
      name: "research",
      description: "Helps.",
      createAgent: () => one,
    });
    const both: ScriptedStep = {
      content: [
        scriptedToolCall("research", { prompt: "1" }, "a"),
        scriptedToolCall("research", { prompt: "2" }, "b"),
      ],
    };
    const { agent } = rig([both, "Done."], [research]);
    const starts: AgentEvent[] = [];
    agent.subscribe(
      (event) => void (event.type === "turn_start" && event.parentRunId && starts.push(event)),
    );
    const { messages } = await agent.prompt("Hi");
    assert.equal(texts(messages)[2], "toolResult: One.");
    assert.match(
      texts(messages)[3] ?? "",
      /already running\. createAgent must return a new agent for each call/,
    );
    assert.equal(starts.length, 1);
  });

  it("fails its call when its run fails", async () => {
    const { tool: research } = helper("research", [
      { error: new BowlineError("server_error", "The server is down.") },
    ]);
    const { agent } = rig([ask("research", "Look"), "Sorry."], [research]);
    const { messages } = await agent.prompt("Hi");
    assert.equal(texts(messages)[2], "toolResult: The server is down.");
    assert.ok(messages[2]?.role === "toolResult" && messages[2].isError);
  });
});
