/** The approvals of a cluster. Requests and answers are in PostgreSQL, and Restate passes answers on. */
import { isBowlineError } from "@bowline/core";
import type { OpenApproval } from "@bowline/postgres";
import {
  addedRule,
  GatewayError,
  isMissing,
  shownApproval,
  type ApprovalAnswer,
  type EngineApprovals,
} from "bowline/engine";
import type { GatewayParts } from "./parts.ts";
import { tellAnswer } from "./telling.ts";

type Approval = Awaited<ReturnType<EngineApprovals["list"]>>[number];

/** How long to look for an approval that clients have heard of, in milliseconds. */
const HEARD_MS = 2000;
const PAUSE_MS = 25;
const MAX_LISTED = 1000;

type Parts = Pick<
  GatewayParts,
  | "store"
  | "restate"
  | "relay"
  | "filter"
  | "workingDir"
  | "isRemembering"
  | "clock"
  | "createId"
  | "report"
>;

interface Found {
  readonly sessionKey: string;
  /** The approval's id in the log. */
  readonly name: string;
}

export class ClusterApprovals implements EngineApprovals {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async list(sessionKey?: string, beginning?: string): Promise<readonly Approval[]> {
    return (await this.#open(sessionKey, beginning)).map((approval) => this.#shown(approval));
  }

  async sessionOf(approvalId: string): Promise<string | undefined> {
    return (await this.#find(approvalId))?.sessionKey;
  }

  async resolve(approvalId: string, answer: ApprovalAnswer): Promise<void> {
    const found = await this.#find(approvalId);
    if (found === undefined)
      throw new GatewayError("not_found", "There is no such question, or its run has ended.");
    const forget = await this.#remember(found, answer);
    try {
      await this.#give(found, answer);
    } catch (error) {
      // Another answer counts, or none: this one allowed nothing.
      await forget();
      throw error;
    }
  }

  /**
   * Stores the rule of an answer before the answer, so that the run's next call is judged by it.
   * Returns what removes it. Two answers to one approval have a rule each.
   */
  async #remember(
    { sessionKey, name }: Found,
    answer: ApprovalAnswer,
  ): Promise<() => Promise<void>> {
    const { decision } = answer;
    if (decision === "deny" || decision === "allow-once") return () => Promise.resolve();
    const { store, isRemembering, createId, report } = this.#parts;
    if (!isRemembering)
      throw new GatewayError(
        "bad_params",
        "The rules of this cluster cannot be added to. Allow the call once, or deny it.",
      );
    const open = (await this.#open(sessionKey)).find(({ approvalId }) => approvalId === name);
    if (open === undefined) throw notOpen();
    const { toolName: tool, args } = open.request;
    const rule = addedRule(answer, { tool, args, sessionKey }, this.#shown(open).pattern);
    if (rule?.pattern === undefined) return () => Promise.resolve();
    const key = createId();
    const { pattern, sessionKey: sessionId } = rule;
    await store.durable.addRule(key, { tool, pattern, sessionId }).catch(toRefusal);
    return () => store.durable.removeRule(key).catch(report);
  }

  /** Stores the answer, which then counts, and tells Restate. Rejects if another one counts, or none. */
  async #give(
    { sessionKey, name }: Found,
    { decision, reason, by }: ApprovalAnswer,
  ): Promise<void> {
    const given = {
      decision: decision === "deny" ? "deny" : "allow",
      by,
      ...(reason !== undefined && { reason }),
    } as const;
    const place = await this.#parts.store.durable.answer(sessionKey, name, given);
    if (place.state !== "stored") throw notOpen();
    const { answer } = place;
    if (answer.decision !== given.decision || answer.by !== by) throw notOpen();
    await tellAnswer({ sessionId: sessionKey, approvalId: name, answer }, this.#parts);
  }

  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => void this.#parts.clock.setTimer(PAUSE_MS, resolve));
  }

  /** `name` is the approval's id in the log. */
  async #find(approvalId: string): Promise<Found | undefined> {
    const { store, relay, clock } = this.#parts;
    const end = clock.now() + HEARD_MS;
    let found = await store.durable.findApproval(approvalId);
    // Clients hear of an approval a moment before it is stored, and some answer at once.
    while (found.length === 0 && relay.wasAsked(approvalId) && clock.now() < end) {
      await this.#pause();
      found = await store.durable.findApproval(approvalId);
    }
    const open = found.filter(({ isOpen }) => isOpen);
    const [only] = open.length > 0 ? open : found;
    if (open.length > 1 || (open.length === 0 && found.length > 1)) return undefined;
    if (only !== undefined) return { sessionKey: only.sessionId, name: approvalId };
    // Clients see another id in place of one that has characters which they cannot send back.
    if (!approvalId.includes("\ufffd")) return undefined;
    const same = (await this.#open()).find((one) => this.#shown(one).approvalId === approvalId);
    return same && { sessionKey: same.sessionId, name: same.approvalId };
  }

  async #open(sessionId?: string, beginning?: string): Promise<readonly OpenApproval[]> {
    try {
      return await this.#parts.store.durable.openApprovals({
        sessionId,
        beginning,
        limit: MAX_LISTED,
      });
    } catch (error) {
      if (!isMissing(error)) throw error;
      return [];
    }
  }

  #shown({ sessionId: sessionKey, runId, request }: OpenApproval): Approval {
    const { filter, workingDir, isRemembering: patterns } = this.#parts;
    return shownApproval(request, { runId, sessionKey }, { filter, workingDir, patterns });
  }
}

/** Rethrows the error of a rule that was not stored. */
function toRefusal(error: unknown): never {
  if (isBowlineError(error) && error.code === "invalid_state")
    throw new GatewayError("bad_params", error.message);
  throw error;
}

function notOpen(): GatewayError {
  return new GatewayError("conflict", "The approval was already answered, or its time is over.");
}
