import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import {
  createAgentTool,
  defineTool,
  requireApproval,
  runAgentLoop,
  type AgentOptions,
  type AgentTool,
  type ApprovalCheck,
  type BeforeToolCallContext,
} from "../../src/agent/index.ts";
import { Agent } from "../../src/index.ts";
import {
  createScriptedModel,
  scriptedToolCall,
  type ScriptedStep,
} from "../../src/testing/index.ts";
import { settle } from "../../../../test/support/manual-clock.ts";
import { texts } from "../../../../test/support/message-texts.ts";
import { rig, short, tool, type Rig } from "../support.ts";

const pays = (...euros: unknown[]): ScriptedStep => ({
  content: euros.map((amount, at) => scriptedToolCall("pay", { euros: amount }, `pay-${at}`)),
});
const payWith = (
  needsApproval: AgentTool<z.ZodObject<{ euros: z.ZodNumber }>>["needsApproval"],
): AgentTool =>
  defineTool({
    name: "pay",
    description: "Pays.",
    parameters: z.object({ euros: z.number() }),
    execute: ({ euros }) => `Paid ${euros}.`,
    ...(needsApproval !== undefined && { needsApproval }),
  });
const isDear = ({ euros }: { euros: number }): boolean | string =>
  euros > 50 && "It costs more than 50 EUR.";

/** Asks only for approvals that tools require. */
const asked = requireApproval({ needed: () => false });

/** An agent whose approval requests are answered at once and recorded. */
function answering(
  answer: unknown,
  steps: readonly ScriptedStep[],
  tools: AgentTool[],
  options: AgentOptions = {},
): Rig & { readonly questions: [args: unknown, reason: string | undefined][] } {
  const made = rig(steps, tools, { beforeToolCall: asked, ...options });
  const questions: [unknown, string | undefined][] = [];
  made.agent.subscribe((event) => {
    if (event.type !== "approval_request") return;
    questions.push([event.args, event.reason]);
    made.agent.answer(event.approvalId, answer);
  });
  return { ...made, questions };
}
const resultsIn = async ({ agent }: Rig): Promise<string[]> =>
  texts((await agent.prompt("Hi")).messages).filter((text) => text.startsWith("toolResult"));

describe("a tool that needs approval", () => {
  it("is asked about even if the hook would not ask, and runs when it is allowed", async () => {
    const allowed = answering({ decision: "allow" }, [pays(1), "Done."], [payWith(true)]);
    assert.deepEqual(await resultsIn(allowed), ["toolResult: Paid 1."]);
    assert.deepEqual(allowed.questions, [[{ euros: 1 }, undefined]]);
    const denied = answering({ decision: "deny" }, [pays(1), "Done."], [payWith(true)]);
    assert.deepEqual(await resultsIn(denied), ["toolResult: Denied: a person said no."]);
  });

  it("decides by the checked arguments which calls need approval, and gives the reason", async () => {
    const made = answering({ decision: "allow" }, [pays(20, "80"), "Done."], [payWith(isDear)]);
    assert.deepEqual(await resultsIn(made), ["toolResult: Paid 20.", "toolResult: Paid 80."]);
    assert.deepEqual(made.questions, [[{ euros: 80 }, "It costs more than 50 EUR."]]);
  });

  it("may decide asynchronously, with the call, its context and the run's signal", async () => {
    const heard: ApprovalCheck[] = [];
    const pay = payWith(async (_args, about) => {
      heard.push(about);
      await settle();
      return false;
    });
    const context = { user: "Ann" };
    const { agent } = rig([pays(80), "Done."], [pay], { context });
    const { runId, messages } = await agent.prompt("Hi");
    assert.equal(texts(messages)[2], "toolResult: Paid 80.");
    const [{ toolCallId, run, signal, ...about } = {} as ApprovalCheck] = heard;
    assert.deepEqual([toolCallId, run.runId, about.context], ["pay-0", runId, context]);
    assert.equal(signal.aborted, false);
  });

  it("does not delay an abort while it decides", async () => {
    let heard: AbortSignal | undefined;
    const pay = payWith(async (_args, { signal }) => {
      heard = signal;
      return new Promise<boolean>(() => {});
    });
    const { agent } = rig([pays(80), "Done."], [pay], { abortGraceMs: 1 });
    const run = agent.prompt("Hi");
    await settle();
    agent.abort();
    const { reason, tools } = await run;
    assert.deepEqual([reason, tools[0]?.outcome, heard?.aborted], ["aborted", "not_started", true]);
  });

  it("does not run when no one can be asked, and the model gets the reason", async () => {
    const why = /^toolResult: Not run: this call of pay needs a person's approval/;
    const made = rig([pays(20, 80), "Done."], [payWith(isDear)]);
    const [cheap, dear = ""] = await resultsIn(made);
    assert.equal(cheap, "toolResult: Paid 20.");
    assert.match(dear, why);
    assert.match(dear, /\(It costs more than 50 EUR\.\), and there is no way to ask for it\.$/);
    const silent = rig([pays(80), "Done."], [payWith(true)], { beforeToolCall: () => undefined });
    const [result = ""] = await resultsIn(silent);
    assert.match(result, why);
    assert.match(result, /it was not given/);
  });

  it("does not run in a loop without an agent either", async () => {
    const { model, streamFn } = createScriptedModel([pays(80), "Done."]);
    const messages = await runAgentLoop(
      [{ role: "user", content: "Hi", timestamp: 1 }],
      { systemPrompt: "", messages: [], tools: [payWith(true)] },
      { model, convertToLlm: (all) => all },
      () => {},
      undefined,
      streamFn,
    );
    assert.match(texts(messages)[2] ?? "", /no way to ask/);
  });

  it("does not run when its function throws or rejects, and no question is asked", async () => {
    const failing = [
      () => {
        throw new Error("No price list.");
      },
      () => Promise.reject(new Error("No price list.")),
    ];
    for (const needsApproval of failing) {
      const made = answering({ decision: "allow" }, [pays(1), "Done."], [payWith(needsApproval)]);
      assert.deepEqual(await resultsIn(made), [
        "toolResult: Not run: could not check whether this call of pay needs a person's approval: No price list.",
      ]);
      assert.deepEqual(made.questions, []);
    }
  });

  it("treats any value but false and undefined as a need for approval", async () => {
    for (const given of [null, 0, "", () => null, () => "Why not"]) {
      const pay = payWith(given as never);
      const { tools } = await rig([pays(1), "Done."], [pay]).agent.prompt("Hi");
      assert.equal(tools[0]?.outcome, "not_started");
    }
  });

  it("works for a class instance with inherited methods", async () => {
    class Pay {
      readonly name = "pay";
      readonly description = "Pays.";
      readonly parameters = z.object({ euros: z.number() });
      readonly #limit = 50;
      needsApproval({ euros }: { euros: number }): boolean {
        return euros > this.#limit;
      }
      execute({ euros }: { euros: number }): string {
        return `Paid ${euros}.`;
      }
    }
    const { tools } = await rig([pays(20, 80), "Done."], [defineTool(new Pay())]).agent.prompt(
      "Hi",
    );
    assert.deepEqual(
      tools.map(({ outcome }) => outcome),
      ["finished", "not_started"],
    );
  });

  it("may be an agent tool", async () => {
    const inner = createScriptedModel(["Never asked."]);
    const research = createAgentTool({
      name: "research",
      description: "Helps.",
      needsApproval: ({ prompt }) => prompt.includes("secret"),
      createAgent: () => new Agent({ initialState: inner, streamFn: inner.streamFn }),
    });
    const step = { content: [scriptedToolCall("research", { prompt: "secret" })] };
    const { tools } = await rig([step, "Done."], [research]).agent.prompt("Hi");
    assert.deepEqual([tools[0]?.outcome, inner.calls.length], ["not_started", 0]);
  });
});

describe("a custom hook before a tool that needs approval", () => {
  const runWith = async (
    beforeToolCall: AgentOptions["beforeToolCall"],
    euros = 80,
  ): Promise<string> => {
    const made = rig([pays(euros), "Done."], [payWith(isDear)], defined(beforeToolCall));
    return (await resultsIn(made))[0] ?? "";
  };
  const defined = (beforeToolCall: AgentOptions["beforeToolCall"]): AgentOptions =>
    beforeToolCall ? { beforeToolCall } : {};

  it("gets the tool's reason, and approves the call with approve()", async () => {
    const needs: unknown[] = [];
    const result = await runWith(({ needsApproval, approve }) => {
      needs.push(needsApproval);
      approve?.();
    });
    assert.deepEqual([result, needs], ["toolResult: Paid 80.", ["It costs more than 50 EUR."]]);
  });

  it("needs approval for the arguments that it changes", async () => {
    assert.match(await runWith(() => ({ args: { euros: 900 } }), 20), /^toolResult: Not run:/);
    const inPlace = ({ args }: BeforeToolCallContext): void =>
      void Object.assign(args as object, { euros: 900 });
    assert.match(await runWith(inPlace, 20), /^toolResult: Not run:/);
    assert.equal(await runWith(() => ({ args: { euros: 20 } })), "toolResult: Paid 20.");
  });

  it("approves only the arguments that were shown", async () => {
    const changed = await runWith(({ approve }) => (approve?.(), { args: { euros: 900 } }));
    assert.match(changed, /its arguments were changed after the approval\.$/);
    const edited = { euros: 60 };
    const shown = await runWith(({ approve }) => (approve?.(edited), { args: edited }));
    assert.equal(shown, "toolResult: Paid 60.");
  });

  it("can still block what was approved", async () => {
    const blocked = await runWith(({ approve }) => (approve?.(), { block: true, reason: "No." }));
    assert.equal(blocked, "toolResult: No.");
  });
});

describe("an approval for the rest of the session", () => {
  const remembered = { decision: "allow", by: "Ann", remember: "session" };
  const free = tool("look", () => "Looked.", { needsApproval: true });
  const looks: ScriptedStep = { content: [scriptedToolCall("look", {})] };

  it("covers later calls of the tool, in this run and in later ones", async () => {
    const made = answering(remembered, [pays(1, 2), "Done.", pays(3), "Done."], [payWith(true)]);
    assert.deepEqual(await resultsIn(made), ["toolResult: Paid 1.", "toolResult: Paid 2."]);
    assert.deepEqual(await resultsIn(made), ["toolResult: Paid 3."]);
    assert.deepEqual(made.questions, [[{ euros: 1 }, undefined]]);
    const answers = made.events.filter((event) => event.type === "approval_answer");
    assert.deepEqual(
      answers.map(({ by, remember }) => [by, remember]),
      [["Ann", "session"]],
    );
  });

  it("does not cover another tool, or another agent with the same hook", async () => {
    const made = answering(remembered, [pays(1), looks, "Done."], [payWith(true), free]);
    await made.agent.prompt("Hi");
    assert.equal(made.questions.length, 2);
    const other = answering(remembered, [pays(1), "Done."], [payWith(true)]);
    await other.agent.prompt("Hi");
    assert.equal(other.questions.length, 1);
  });

  it("ends with reset()", async () => {
    const made = answering(remembered, [pays(1), "Done.", pays(2), "Done."], [payWith(true)]);
    await made.agent.prompt("Hi");
    made.agent.reset();
    await made.agent.prompt("Hi");
    assert.equal(made.questions.length, 2);
  });

  it('is remembered only from an allow with remember: "session"', async () => {
    const unclear = [
      { decision: "allow" },
      { decision: "allow", remember: true },
      { decision: "allow", remember: "always" },
      { decision: "deny", remember: "session" },
    ];
    for (const answer of unclear) {
      const made = answering(answer, [pays(1, 2), "Done."], [payWith(true)]);
      await made.agent.prompt("Hi");
      assert.equal(made.questions.length, 2);
    }
  });

  it("ends with the nested agent that asked through its caller", async () => {
    const script = createScriptedModel([pays(1), "Paid.", pays(2), "Paid."]);
    const buyer = createAgentTool({
      name: "buyer",
      description: "Buys.",
      createAgent: () =>
        new Agent({
          initialState: { model: script.model, tools: [payWith(true)] },
          streamFn: script.streamFn,
          beforeToolCall: asked,
        }),
    });
    const buy = (id: string): ScriptedStep => ({
      content: [scriptedToolCall("buyer", { prompt: "Buy" }, id)],
    });
    const made = answering(
      remembered,
      [buy("a"), buy("b"), pays(3), "Done."],
      [buyer, payWith(true)],
    );
    await made.agent.prompt("Hi");
    assert.deepEqual(
      made.questions.map(([args]) => args),
      [{ euros: 1 }, { euros: 2 }, { euros: 3 }],
    );
    assert.ok(made.events.map(short).includes("approval_answer:allow"));
  });
});
