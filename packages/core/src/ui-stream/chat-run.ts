/** One run of a chat: its feed, and the answers that its approvals wait for. */
import type { AgentMessage } from "../agent/contract/agent-message.ts";
import type { AgentEvent } from "../agent/contract/event.ts";
import type { InterruptedRun } from "../agent/run/run-result.ts";
import { BowlineError } from "../errors.ts";
import { parseJson, toText } from "../json-value.ts";
import type { UserMessage } from "../llm/message.ts";
import { MAX_ANSWERS, type PostedAnswer } from "./from-ui-messages.ts";
import type { UIMessageStreamOptions } from "./options.ts";
import { RunFeed } from "./run-feed.ts";
import { replayMessage } from "./to-ui-messages.ts";

/** The part of an agent that a chat uses: an `Agent`, or one that is elsewhere. */
export interface ChattingAgent {
  readonly state: { messages: AgentMessage[]; readonly isStreaming: boolean };
  /** Settles when the run is over. Throws if no run can begin now, or not with this message. */
  prompt(messages: UserMessage[]): Promise<unknown>;
  /** Answers the last message again. Settles when the run is over. */
  continue(): Promise<unknown>;
  /** A promise settles when the run has been told, and rejects if it could not be. */
  abort(reason?: unknown): void | Promise<void>;
  /** Returns false if the run does not wait for this answer. */
  answer(
    approvalId: string,
    answer: { readonly decision: "allow" | "deny"; readonly reason?: string },
  ): boolean;
  /** Calls the listener with the events of runs. Returns a function that removes it. */
  subscribe(listener: (event: AgentEvent) => void): () => void;
}

/** A run that this `ChatRuns` did not start. */
export type LeftRun = Pick<InterruptedRun, "runId" | "turns">;

/** The part of a session that a chat uses. */
export interface ChatSession {
  /** The run that an earlier process left, or that goes on elsewhere. */
  readonly interrupted: LeftRun | undefined;
  /** Continues it. Settles when it is over. */
  resume(): Promise<unknown>;
  /**
   * Resolves when `resume` has told what there is of the run so far. Never rejects. Absent: what there
   * is stands in the transcript.
   */
  readonly caughtUp?: Promise<void> | undefined;
}

export class ChatRun {
  readonly feed: RunFeed;
  /** Whether the run has ended. The feed ends earlier when an option throws. */
  isOver = false;
  /** Number of messages that the page shows as history while this run is going on. */
  readonly earlier: number;
  /** Resolves when the feed has what there is of a run that goes on elsewhere. */
  readonly caughtUp: Promise<void> | undefined;
  readonly #agent: ChattingAgent;
  /**
   * Answers to approvals that a resumed run has not asked for yet. Undefined once it cannot ask for
   * them any more, and for a new run.
   */
  #early: Map<string, PostedAnswer> | undefined;

  /** Starts the run by calling `start`. Of a resumed run, `left` is the session that has it. */
  constructor(
    agent: ChattingAgent,
    start: () => Promise<unknown>,
    options: UIMessageStreamOptions,
    left?: ChatSession,
  ) {
    const { messages } = agent.state;
    const interrupted = left?.interrupted;
    // From then on, all that the run asks for is known.
    this.caughtUp = left?.caughtUp?.then(() => void (this.#early = undefined));
    this.feed = new RunFeed(options);
    this.#agent = agent;
    this.#early = interrupted && new Map();
    this.earlier = interrupted ? this.#replay(messages, interrupted) : messages.length;
    const unsubscribe = agent.subscribe((event) => this.#hear(event));
    start()
      .then(
        () => this.feed.end(),
        (error: unknown) => this.feed.fail(error),
      )
      .finally(() => {
        this.isOver = true;
        this.#early = undefined;
        unsubscribe();
      });
  }

  async abort(reason: unknown): Promise<void> {
    await this.#agent.abort(reason);
  }

  /**
   * Gives the answers to the run, each once. Throws `invalid_state` and gives none if one of them
   * is to an approval that this run did not ask for, or to other arguments, or if a resumed run would
   * hold more than {@link MAX_ANSWERS} that it has not asked for yet.
   */
  answer(answers: readonly PostedAnswer[]): void {
    const held = new Set(this.#early?.keys());
    for (const answer of answers) {
      const asked = this.feed.message.approval(answer.approvalId);
      if (asked === undefined && this.#early === undefined)
        throw refused("This chat does not ask for that approval.");
      if (asked && !this.#isShown(answer)) throw refused("The approval is for other arguments.");
      if (!asked) held.add(answer.approvalId);
    }
    if (held.size > MAX_ANSWERS)
      throw refused(`This chat holds at most ${MAX_ANSWERS} answers before it asks.`);
    for (const answer of answers)
      if (!this.#give(answer)) this.#early?.set(answer.approvalId, answer);
  }

  /** Shows what there is of an interrupted run. Returns the number of messages before that. */
  #replay(messages: readonly AgentMessage[], run: LeftRun): number {
    const earlier = firstAnswer(messages, run);
    for (const [index, message] of messages.slice(earlier).entries())
      replayMessage(this.feed.fold, message, { runId: run.runId, seq: index });
    return earlier;
  }

  #hear(event: AgentEvent): void {
    this.feed.push(event);
    // Nobody can see or answer a run whose chunks cannot be made. The responses report the error.
    if (this.feed.isOver && !this.feed.message.isOver) {
      const why = "The chunks of the run could not be made: an option threw.";
      this.abort(why).catch(() => {}); // the responses have failed already
      return;
    }
    // What was open when the process ended is over before the model answers again.
    const isAnswer = event.type === "message_start" && event.message.role === "assistant";
    if (isAnswer && event.runId === this.feed.message.runId) this.#early = undefined;
    if (event.type !== "approval_request") return;
    const early = this.#early?.get(event.approvalId);
    this.#early?.delete(event.approvalId);
    if (early && this.#isShown(early)) this.#give(early);
  }

  /** Returns false for an approval that was not asked for. The first answer stands. */
  #give({ approvalId, isApproved, reason }: PostedAnswer): boolean {
    const asked = this.feed.message.approval(approvalId);
    if (asked?.isOpen)
      // The event of the answer comes when a session has recorded it.
      asked.approval.isGiven = this.#agent.answer(approvalId, {
        decision: isApproved ? "allow" : "deny",
        ...(reason !== undefined && { reason }),
      });
    return asked !== undefined;
  }

  /** Returns whether the page showed the arguments that will run. */
  #isShown({ approvalId, input }: PostedAnswer): boolean {
    const shown = this.feed.message.approval(approvalId)?.call.input;
    if (shown?.state !== "available") return false;
    try {
      return toText(parseJson(JSON.stringify(shown.value ?? null))) === toText(input);
    } catch {
      return false; // a page cannot show what is not JSON or is nested too deep
    }
  }
}

/** Returns the index of the first answer of an interrupted run. */
export function firstAnswer(
  messages: readonly AgentMessage[],
  { turns }: Pick<LeftRun, "turns">,
): number {
  const answers = messages.flatMap(({ role }, index) => (role === "assistant" ? [index] : []));
  return [...answers, messages.length].at(-1 - turns) ?? 0;
}

function refused(why: string): BowlineError {
  return new BowlineError("invalid_state", why);
}
