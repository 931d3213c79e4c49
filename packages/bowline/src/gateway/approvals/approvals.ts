/** Pending approvals. Each belongs to one run and its exact arguments. The first answer counts. */
import type { AgentEvent } from "@bowline/core";
import type { Agent } from "@bowline/core/agent";
import { GatewayError } from "../protocol/gateway-error.ts";
import { addedRule } from "./added-rule.ts";
import type { ApprovalAnswer, EngineApprovals } from "../engine/engine.ts";
import type { Approval } from "../protocol/protocol.ts";
import type { RunLog } from "../log/run-log.ts";
import type { Rules } from "../../policy/rules.ts";
import type { SecretFilter } from "../../secrets.ts";
import { shownAnswer, shownApproval, type ShownWith } from "./shown-approval.ts";

interface Open {
  /**
   * The approval as clients see it. Its id is safe for every client, although a model server chose
   * the call's id.
   */
  readonly shown: Approval;
  /** The agent's id of the approval. */
  readonly name: string;
  /** The unfiltered arguments. */
  readonly args: unknown;
  readonly agent: Agent;
  isAnswered: boolean;
  /** Called when the answer is in the run's log. */
  onSettled: (how: string) => void;
}

/**
 * The maximum number of answered approvals to remember. A second answer to these gets `conflict`.
 */
const MAX_SETTLED = 1000;

export class Approvals implements EngineApprovals {
  readonly #rules: Rules;
  readonly #shown: ShownWith;
  readonly #open = new Map<string, Open>();
  readonly #settled = new Map<string, { readonly how: string; readonly sessionKey: string }>();

  constructor(rules: Rules, filter: SecretFilter, workingDir: string) {
    this.#rules = rules;
    this.#shown = { filter, workingDir };
  }

  list(sessionKey?: string): Approval[] {
    const all = [...this.#open.values()]
      .filter(({ isAnswered }) => !isAnswered)
      .map(({ shown }) => shown);
    return sessionKey === undefined
      ? all
      : all.filter((approval) => approval.sessionKey === sessionKey);
  }

  /**
   * Creates a listener for the events of one run's agent. An approval can be answered as soon as it
   * is announced.
   */
  listener(agent: Agent, log: RunLog): (event: AgentEvent) => void {
    const { runId, sessionKey } = log;
    return (event) => {
      if (event.type === "approval_request") {
        const shown = shownApproval(event, { runId, sessionKey }, this.#shown);
        const { approvalId } = shown;
        const { approvalId: name, args } = event;
        this.#open.set(approvalId, {
          shown,
          name,
          args,
          agent,
          isAnswered: false,
          onSettled: () => {},
        });
        log.append("exec.approval_request", shown);
      } else if (event.type === "approval_answer") {
        const answer = shownAnswer(event, this.#shown.filter);
        // The process is ending and does not record the answer; the question is asked again.
        const how = log.isStopped ? "expired" : event.decision;
        this.#settle(answer.approvalId, sessionKey, how);
        log.append("exec.approval_resolved", answer);
      } else if (event.type === "agent_end") this.forget(runId);
    };
  }

  /** Expires all pending approvals of a run. */
  forget(runId: string): void {
    for (const [id, { shown }] of this.#open)
      if (shown.runId === runId) this.#settle(id, shown.sessionKey, "expired");
  }

  sessionOf(approvalId: string): string | undefined {
    return (this.#open.get(approvalId)?.shown ?? this.#settled.get(approvalId))?.sessionKey;
  }

  async resolve(approvalId: string, given: ApprovalAnswer): Promise<void> {
    const { decision, reason, by } = given;
    const open = this.#open.get(approvalId);
    const settled = this.#settled.get(approvalId)?.how;
    if (open?.isAnswered === true || settled !== undefined)
      throw new GatewayError(
        "conflict",
        `The approval was already answered${settled === undefined ? "" : `: ${settled}`}.`,
      );
    if (open === undefined) throw noQuestion();
    const { shown, name, args, agent } = open;
    const { toolName: tool, sessionKey } = shown;
    const rule = addedRule(given, { tool, args, sessionKey }, shown.pattern);
    if (rule !== undefined) {
      open.isAnswered = true;
      try {
        await this.#rules.add(rule);
      } catch (error) {
        open.isAnswered = false;
        throw error;
      }
    }
    open.isAnswered = true;
    const answer = {
      decision: decision === "deny" ? "deny" : "allow",
      by,
      ...(reason !== undefined && { reason }),
    };
    const kept = new Promise<string>((resolve) => (open.onSettled = resolve));
    const isHeard = this.#open.get(approvalId) === open && agent.answer(name, answer);
    if (!isHeard || (await kept) === "expired")
      throw new GatewayError("conflict", "The run no longer waits for this answer.");
  }

  #settle(approvalId: string, sessionKey: string, how: string): void {
    this.#open.get(approvalId)?.onSettled(how);
    this.#open.delete(approvalId);
    this.#settled.set(approvalId, { how, sessionKey });
    const [oldest] = this.#settled.keys();
    if (this.#settled.size > MAX_SETTLED && oldest !== undefined) this.#settled.delete(oldest);
  }
}

function noQuestion(): GatewayError {
  return new GatewayError("not_found", "There is no such question, or its run has ended.");
}
