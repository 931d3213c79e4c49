/** The approvals of a cluster. The request is in the session's log, and Restate takes the answer. */
import { isBowlineError } from "@bowline/core";
import { isKnownEntry } from "@bowline/core/session";
import type { OpenApproval } from "@bowline/postgres";
import {
  GatewayError,
  isMissing,
  sharedApproval,
  type ApprovalAnswer,
  type EngineApprovals,
} from "bowline/engine";
import type { GatewayParts } from "./parts.ts";

type Approval = Awaited<ReturnType<EngineApprovals["list"]>>[number];

/** How long to wait until the run has an answer, in milliseconds. It is stored before. */
const HEARD_MS = 2000;
const PAUSE_MS = 25;
const MAX_LISTED = 1000;

type Parts = Pick<GatewayParts, "store" | "restate" | "filter" | "workingDir" | "clock">;

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
    const { decision, reason, by } = answer;
    if (decision === "allow-session" || decision === "allow-always")
      throw new GatewayError(
        "bad_params",
        "This call has no pattern, because several processes may run it. Allow it once, or deny it.",
      );
    const found = await this.#find(approvalId);
    if (found === undefined)
      throw new GatewayError("not_found", "There is no such question, or its run has ended.");
    if (!found.isOpen) throw notOpen();
    const { sessionKey, name } = found;
    const given = {
      decision: decision === "deny" ? "deny" : "allow",
      by,
      ...(reason !== undefined && { reason }),
    } as const;
    await this.#answer(sessionKey, name, given);
    const kept = await this.#answerIn(sessionKey, name);
    if (kept !== undefined && (kept.decision !== given.decision || kept.by !== by)) throw notOpen();
  }

  /** Rejects with `conflict` if the run does not wait any more. */
  async #answer(
    sessionKey: string,
    name: string,
    given: Parameters<Parts["restate"]["answer"]>[2],
  ): Promise<void> {
    const { restate, clock } = this.#parts;
    const end = clock.now() + HEARD_MS;
    for (;;) {
      try {
        return await restate.answer(sessionKey, name, given);
      } catch (error) {
        const isUnknown = isBowlineError(error) && error.code === "not_found";
        if (!isUnknown || (await this.#find(name))?.isOpen !== true) throw toGatewayError(error);
        // The request is in the log a moment before Restate knows it, longer if its worker died then.
        if (clock.now() >= end) throw notTaken();
      }
      await this.#pause();
    }
  }

  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => void this.#parts.clock.setTimer(PAUSE_MS, resolve));
  }

  /** `name` is the approval's id in the log. */
  async #find(
    approvalId: string,
  ): Promise<
    { readonly sessionKey: string; readonly name: string; readonly isOpen: boolean } | undefined
  > {
    const found = await this.#parts.store.durable.findApproval(approvalId);
    const open = found.filter(({ isOpen }) => isOpen);
    const [only] = open.length > 0 ? open : found;
    if (open.length > 1 || (open.length === 0 && found.length > 1)) return undefined;
    if (only !== undefined)
      return { sessionKey: only.sessionId, name: approvalId, isOpen: only.isOpen };
    // Clients see another id in place of one that has characters which they cannot send back.
    if (!approvalId.includes("\ufffd")) return undefined;
    const same = (await this.#open()).find((one) => this.#shown(one).approvalId === approvalId);
    return same && { sessionKey: same.sessionId, name: same.approvalId, isOpen: true };
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
    const { filter, workingDir } = this.#parts;
    return sharedApproval(request, { runId, sessionKey }, { filter, workingDir });
  }

  /** Returns the answer that the log has, once it has one. Another person may have been faster. */
  async #answerIn(
    sessionKey: string,
    approvalId: string,
  ): Promise<{ readonly decision: string; readonly by?: string } | undefined> {
    const { store, clock } = this.#parts;
    const end = clock.now() + HEARD_MS;
    for (;;) {
      const found = await store.durable.findApproval(approvalId);
      const own = found.find(({ sessionId }) => sessionId === sessionKey);
      if (own?.isOpen !== true) break;
      // No worker goes on with the run. Restate has the answer for the next one.
      if (clock.now() >= end) return undefined;
      await this.#pause();
    }
    for await (const batch of store.read(sessionKey, { reverse: true, files: false }))
      for (const entry of batch)
        if (
          isKnownEntry(entry) &&
          entry.type === "approval_answer" &&
          entry.approvalId === approvalId
        )
          return entry;
        else if (
          isKnownEntry(entry) &&
          entry.type === "approval_request" &&
          entry.approvalId === approvalId
        )
          return undefined; // its run ended without an answer
    return undefined;
  }
}

function notOpen(): GatewayError {
  return new GatewayError("conflict", "The approval was already answered, or its time is over.");
}

function toGatewayError(error: unknown): unknown {
  if (!isBowlineError(error)) return error;
  // Restate's own time limit, not that of the request: the request's is retryable.
  if (error.code === "not_found" || (error.code === "timeout" && !error.retryable))
    return notOpen();
  if (!error.retryable) return error;
  return notTaken();
}

function notTaken(): GatewayError {
  const why = "The answer is not stored, because the run is not being executed now. Try again.";
  return new GatewayError("busy", why, { retryable: true });
}
