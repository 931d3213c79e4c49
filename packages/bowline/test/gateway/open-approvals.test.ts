/** Pending approvals, their answers and their end, without a server. */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import type { Agent, AgentEvent } from "@bowline/core";
import { Approvals } from "../../src/gateway/approvals/approvals.ts";
import type { ApprovalAnswer } from "../../src/gateway/engine/engine.ts";
import { GatewayError } from "../../src/gateway/protocol/gateway-error.ts";
import { RunLog } from "../../src/gateway/log/run-log.ts";
import { loadRules, type Rules } from "../../src/policy/rules.ts";
import { createSecretFilter } from "../../src/secrets.ts";

const secret = "hunter2-and-more";
const ann = { by: "ann" } as const;
const allow: ApprovalAnswer = { decision: "allow-once", ...ann };

let rules: Rules;
let approvals: Approvals;
/** The answers that the agent got. `told` has the events of the run's log. */
let answers: unknown[];
let told: [event: string, data: Record<string, unknown>][];
let log: RunLog;
let hear: (event: AgentEvent) => void;
/** Whether the run waits for an answer and records it at once. */
let isHeard: boolean;

function listenFor(runId: string, sessionKey = "s"): void {
  log = new RunLog({
    runId,
    sessionKey,
    maxEvents: 100_000,
    maxLength: 1e9,
    publish: (frame) => {
      const { event, data } = JSON.parse(frame.json) as {
        event: string;
        data: Record<string, unknown>;
      };
      told.push([event, data]);
    },
  });
  const agent = {
    answer(approvalId: string, answer: { decision: "allow" | "deny" }) {
      answers.push([approvalId, answer]);
      if (isHeard) hear({ type: "approval_answer", approvalId, ...answer } as AgentEvent);
      return isHeard;
    },
  } as unknown as Agent;
  hear = approvals.listener(agent, log);
}

function ask(approvalId: string, more: object = {}): void {
  hear({
    type: "approval_request",
    approvalId,
    toolCallId: "c",
    toolName: "bash",
    args: { command: "git status" },
    ...more,
  } as AgentEvent);
}

/** Returns the rules' action for a command in a session. */
function judged(command: string, sessionKey: string): string {
  return rules.judge({ tool: "bash", args: { command }, sessionKey }).action;
}

async function refusal(work: Promise<void>): Promise<[string, string]> {
  const error = await work.then(
    () => assert.fail("nothing is refused"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof GatewayError && error.frame.data);
  return [error.frame.data.code, error.message];
}

const noQuestion = ["not_found", "There is no such question, or its run has ended."];

describe("a pending approval", () => {
  beforeEach(async () => {
    rules = await loadRules([]);
    approvals = new Approvals(rules, createSecretFilter([secret]), "/work");
    [answers, told, isHeard] = [[], [], true];
    listenFor("r");
  });

  it("is listed with its details, redacted", () => {
    ask("a", { reason: `For ${secret}.`, expiresAt: 5, args: { command: `echo ${secret}` } });
    const [shown, ...others] = approvals.list();
    assert.deepEqual(others, []);
    assert.deepEqual(shown, {
      approvalId: "a",
      runId: "r",
      sessionKey: "s",
      toolCallId: "c",
      toolName: "bash",
      summary: shown?.summary,
      arguments: { command: "echo [redacted]" },
      command: "echo [redacted]",
      workingDir: "/work",
      reason: "For [redacted].",
      expiresAt: 5,
    });
    assert.match(shown?.summary ?? "", /echo \[redacted\]/);
    assert.equal(told[0]?.[0], "exec.approval_request");
  });

  it("omits unknown fields", () => {
    ask("a", { toolName: "look", args: { command: "git status" } });
    ask("b", { args: { command: 7 } });
    for (const shown of approvals.list())
      for (const name of ["command", "workingDir", "reason", "expiresAt", "pattern"])
        assert.ok(!(name in shown), `${name} of ${shown.approvalId}`);
  });

  it("is listed by session, and its session is still known after the answer", async () => {
    ask("a");
    listenFor("r2", "t");
    ask("b");
    const idsOf = (sessionKey?: string): string[] =>
      approvals.list(sessionKey).map(({ approvalId }) => approvalId);
    assert.deepEqual([idsOf(), idsOf("s"), idsOf("t"), idsOf("u")], [["a", "b"], ["a"], ["b"], []]);
    assert.deepEqual([approvals.sessionOf("a"), approvals.sessionOf("b")], ["s", "t"]);
    await approvals.resolve("b", allow);
    assert.deepEqual([idsOf(), approvals.sessionOf("b")], [["a"], "t"]);
    assert.equal(approvals.sessionOf("none"), undefined);
  });

  it("is answered once: the agent and the log get the answer, and a second answer is refused", async () => {
    for (const [decision, given] of [
      ["allow-once", "allow"],
      ["deny", "deny"],
    ] as const) {
      ask(decision);
      const reason = `Because of ${secret}.`;
      await approvals.resolve(decision, { decision, by: secret, reason });
      assert.deepEqual(answers.pop(), [decision, { decision: given, by: secret, reason }]);
      const { runId: _, seq: __, sessionKey: ___, ...data } = told.at(-1)?.[1] ?? {};
      assert.deepEqual(data, {
        approvalId: decision,
        decision: given,
        by: "[redacted]",
        reason: "Because of [redacted].",
      });
      const again = ["conflict", `The approval was already answered: ${given}.`];
      assert.deepEqual(await refusal(approvals.resolve(decision, allow)), again);
    }
    ask("a");
    await approvals.resolve("a", allow);
    assert.deepEqual(answers.pop(), ["a", { decision: "allow", by: "ann" }]);
    assert.ok(!("reason" in (told.at(-1)?.[1] ?? {})));
  });

  it("refuses a second answer while the first is being processed", async () => {
    ask("a");
    isHeard = false;
    const rulesAdd = rules.add.bind(rules);
    let go = (): void => {};
    rules.add = async (rule) => {
      await new Promise<void>((resolve) => (go = resolve));
      await rulesAdd(rule);
    };
    const first = approvals.resolve("a", { decision: "allow-always", ...ann });
    assert.deepEqual(approvals.list(), []);
    const second = ["conflict", "The approval was already answered."];
    assert.deepEqual(await refusal(approvals.resolve("a", allow)), second);
    isHeard = true;
    go();
    await first;
  });

  it("can be answered again when its rule could not be stored", async () => {
    ask("a");
    const keep = rules.add.bind(rules);
    rules.add = () => Promise.reject(new Error("no room"));
    const always: ApprovalAnswer = { decision: "allow-always", ...ann };
    await assert.rejects(approvals.resolve("a", always), /no room/);
    assert.equal(approvals.list().length, 1);
    rules.add = keep;
    await approvals.resolve("a", always);
    assert.equal(judged("git status", "t"), "allow");
  });

  it("creates a rule from its pattern, or from a given pattern that covers the call", async () => {
    ask("a");
    assert.equal(approvals.list()[0]?.pattern, "git status");
    await approvals.resolve("a", { decision: "allow-session", ...ann });
    assert.equal(judged("git status", "s"), "allow");
    assert.notEqual(judged("git status", "t"), "allow");
    ask("b");
    for (const pattern of ["git log", "ls *"])
      assert.deepEqual(
        await refusal(approvals.resolve("b", { decision: "allow-always", pattern, ...ann })),
        ["bad_params", "The pattern does not cover this call."],
      );
    await approvals.resolve("b", { decision: "allow-always", pattern: "git *", ...ann });
    assert.equal(judged("git log", "t"), "allow");
    ask("c", { args: { command: "a | b" } });
    for (const decision of ["allow-session", "allow-always"] as const)
      assert.deepEqual(await refusal(approvals.resolve("c", { decision, ...ann })), [
        "bad_params",
        "This call has no pattern. Allow it once, or deny it.",
      ]);
    await approvals.resolve("c", allow);
  });

  it("refuses an answer when the run no longer waits, and an unknown id", async () => {
    ask("a");
    isHeard = false;
    const late = ["conflict", "The run no longer waits for this answer."];
    assert.deepEqual(await refusal(approvals.resolve("a", allow)), late);
    assert.deepEqual(await refusal(approvals.resolve("none", allow)), noQuestion);
  });

  it("expires at the end of its run, and not at that of another", async () => {
    ask("a");
    listenFor("r2");
    ask("b");
    hear({ type: "agent_end" } as AgentEvent);
    assert.deepEqual(
      approvals.list().map(({ approvalId }) => approvalId),
      ["a"],
    );
    const expired = ["conflict", "The approval was already answered: expired."];
    assert.deepEqual(await refusal(approvals.resolve("b", allow)), expired);
    await approvals.resolve("a", allow);
  });

  it("expires when the server stops before the answer is stored", async () => {
    ask("a");
    log.stop();
    const late = ["conflict", "The run no longer waits for this answer."];
    assert.deepEqual(await refusal(approvals.resolve("a", allow)), late);
    const expired = ["conflict", "The approval was already answered: expired."];
    assert.deepEqual(await refusal(approvals.resolve("a", allow)), expired);
  });

  it("is remembered among the last 1000 answered ones", async () => {
    for (let at = 0; at <= 1000; at++) {
      ask(`q${at}`);
      await approvals.resolve(`q${at}`, allow);
    }
    assert.deepEqual(await refusal(approvals.resolve("q0", allow)), noQuestion);
    assert.equal((await refusal(approvals.resolve("q1", allow)))[0], "conflict");
  });
});
