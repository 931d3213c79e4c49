/** Asks a person about calls: opens the dialog, gives the answer to the agent, saves rules. */
import type { AgentEvent } from "@bowline/core";
import { ApprovalDialog, type ApprovalAnswer } from "./approval-dialog.ts";
import type { Question } from "./question.ts";
import type { Asked } from "./state.ts";
import { previewChange } from "./preview.ts";
import type { Chat } from "./chat.ts";

type Request = Extract<AgentEvent, { type: "approval_request" }>;

/** What questions need of a conversation beside its commands' view of it. */
export interface ApprovalHost extends Chat {
  /** When somebody typed last. */
  readonly typedAt: number;
  interrupt(): void;
  /** Takes the draft as the reason of a denial. */
  takeDraft(): string;
}

export class Approvals {
  readonly #chat: ApprovalHost;
  readonly #now: () => number;
  /** Ids of requests without an answer. */
  readonly #open = new Set<string>();
  #dialog: ApprovalDialog | undefined;

  constructor(chat: ApprovalHost, now: () => number) {
    this.#chat = chat;
    this.#now = now;
  }

  /** The dialog of the oldest question. */
  get dialog(): ApprovalDialog | undefined {
    if (this.#chat.screen.isPlain) return undefined;
    const [asked] = this.#chat.state.asked;
    if (asked === undefined) this.#dialog = undefined;
    else if (this.#dialog?.asked.approvalId !== asked.approvalId)
      this.#dialog = new ApprovalDialog(asked, this.#now(), this.#chat.typedAt);
    return this.#dialog;
  }

  ask(request: Request): void {
    this.#open.add(request.approvalId);
    void this.#describe(request);
  }

  settled(approvalId: string): void {
    this.#open.delete(approvalId);
  }

  async #describe({ approvalId, toolCallId, toolName, args, reason = "" }: Request): Promise<void> {
    const { permissions, directory } = this.#chat.world;
    const call = { tool: toolName, args, ...this.#session() };
    const change = await previewChange(toolName, args, directory);
    if (!this.#open.has(approvalId)) return; // it was interrupted meanwhile
    const asked: Asked = {
      approvalId,
      toolCallId,
      toolName,
      args,
      reason,
      parts: permissions.judge(call).parts,
      suggestions: permissions.suggest(call),
      askedAt: this.#now(),
      ...(change !== undefined && { change }),
    };
    this.#chat.dispatch({ type: "asked", asked });
    this.#chat.screen.bell();
    if (this.#chat.screen.isPlain) await this.#askPlainly(asked);
  }

  #session(): { readonly sessionKey?: string } {
    const sessionKey = this.#chat.runtime.session?.id;
    return sessionKey === undefined ? {} : { sessionKey };
  }

  async #askPlainly(asked: Asked): Promise<void> {
    const { askApproval } = await import("./plain-questions.ts");
    const dialog = new ApprovalDialog(asked, this.#now(), this.#chat.typedAt);
    for (;;) {
      const answer = await askApproval(this.#chat.screen, asked, this.#now);
      if (answer === undefined) return this.#chat.interrupt();
      if (!this.#open.has(asked.approvalId) || (await this.#answer(dialog, answer))) return;
    }
  }

  /** The open question, as keys and the live area see it. */
  get open(): Question | undefined {
    const { dialog } = this;
    if (dialog === undefined) return undefined;
    return {
      draw: (...size) => dialog.draw(...size),
      input: (input, now, hasDraft) => {
        const result = dialog.input(input, now, hasDraft);
        if (result.type !== "answer") return result;
        void this.#answer(dialog, result.answer);
        return { type: "used" };
      },
    };
  }

  /** Returns false if a rule could not be saved, so that the question stays open. */
  async #answer(dialog: ApprovalDialog, answer: ApprovalAnswer): Promise<boolean> {
    const { agent } = this.#chat.runtime;
    const { approvalId } = dialog.asked;
    const { by } = answer;
    if (answer.decision === "deny") {
      const reason = answer.withDraft ? this.#chat.takeDraft() : undefined;
      agent.answer(approvalId, { decision: "deny", by, ...(reason !== undefined && { reason }) });
      return true;
    }
    const { remember } = answer;
    if (remember === undefined) {
      agent.answer(approvalId, { decision: "allow", by });
      return true;
    }
    const { rule, scope } = remember;
    const { permissions } = this.#chat.world;
    const { toolName, args } = dialog.asked;
    try {
      permissions.assertAllows(rule, { tool: toolName, args, ...this.#session() });
      await permissions.add(rule, "allow", scope);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      dialog.refuse(why);
      if (this.#chat.screen.isPlain) this.#chat.notice(why, "error");
      this.#chat.screen.invalidate();
      return false;
    }
    this.#chat.notice(`allowed from now on, for this ${scope}: ${rule}`);
    agent.answer(approvalId, { decision: "allow", by: `${by}; rule ${rule} for ${scope}` });
    return true;
  }
}
