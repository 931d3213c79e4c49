/** A session of a gateway as a chat of `ChatRuns`: its agent is elsewhere. */
import { BowlineError, type AgentEvent, type AgentMessage, type ErrorInfo } from "@bowline/core";
import type { ChatAgent, ChattingAgent } from "@bowline/core/ui-stream";
import { RequestError, type GatewayClient, type RunHandle } from "../gateway/client/client.ts";
import { createKey } from "../gateway/client/create-key.ts";
import type { RunInfo, SendParams } from "../gateway/protocol/protocol.ts";
import { AgentEvents } from "./agent-events.ts";
import { endOf } from "./event-bodies.ts";
import { readChat } from "./read-chat.ts";
import { toSendParams } from "./sent-message.ts";

/** How often to send an answer again while the gateway is busy, and how long to wait in between. */
const TRIES = 20;
const PAUSE_MS = 250;

/** What a `ChatRuns` gets of a chat whose runs are elsewhere. */
export type RemoteChat = Required<ChatAgent>;

/**
 * Reads a session, which need not exist yet, for one request to a `ChatRuns`. Rejects with
 * {@link RequestError}. `client` follows the session while a run of it is read, so let nothing else
 * follow the same sessions with this client.
 */
export async function remoteChat(client: GatewayClient, sessionKey: string): Promise<RemoteChat> {
  const { messages, run } = await readChat(client, sessionKey);
  const agent = new RemoteAgent(client, sessionKey, messages, run);
  return {
    agent,
    session: {
      // Its answers are not among the messages.
      interrupted: run && { runId: run.runId, turns: 0 },
      resume: () => agent.follow(),
      caughtUp: agent.caughtUp,
    },
  };
}

class RemoteAgent implements ChattingAgent {
  readonly state: { messages: AgentMessage[]; readonly isStreaming: boolean };
  /** Resolves when the events so far of the followed run were told, and when its reading ends. */
  readonly caughtUp: Promise<void>;
  readonly #client: GatewayClient;
  readonly #sessionKey: string;
  readonly #open: RunInfo | undefined;
  readonly #listeners = new Set<(event: AgentEvent) => void>();
  readonly #failed: Promise<never>;
  #fail: (error: unknown) => void = () => {};
  #hasCaughtUp = (): void => {};
  #runId: string | undefined;
  /** Settles when the gateway has answered to the message. */
  #sent: Promise<unknown> | undefined;

  constructor(
    client: GatewayClient,
    sessionKey: string,
    messages: AgentMessage[],
    open: RunInfo | undefined,
  ) {
    this.state = { messages, isStreaming: false };
    this.#client = client;
    this.#sessionKey = sessionKey;
    this.#open = open;
    this.caughtUp = new Promise((resolve) => (this.#hasCaughtUp = resolve));
    // Ends the reading of the run, which goes on. The page can load it again.
    this.#failed = new Promise((_, reject) => (this.#fail = reject));
    this.#failed.catch(() => {}); // whoever reads a run gets it
  }

  /**
   * Throws `invalid_state` while a run is going on, and `invalid_argument` for a message that the
   * gateway would not take whole.
   */
  prompt(messages: readonly AgentMessage[]): Promise<void> {
    if (this.#open !== undefined)
      throw new BowlineError(
        "invalid_state",
        "A run is going on. Wait for its end, answer its approval, or stop it.",
      );
    return this.#send(toSendParams(messages, this.#client.welcome?.limits));
  }

  /** Follows the run that is going on, from its beginning. */
  async follow(): Promise<void> {
    if (this.#open === undefined) return;
    this.#runId = this.#open.runId;
    try {
      await this.#read(await this.#client.follow(this.#sessionKey, this.#runId));
    } finally {
      this.#hasCaughtUp();
    }
  }

  continue(): Promise<void> {
    throw new BowlineError("invalid_state", "This chat is kept, and its answers stay.");
  }

  /**
   * Aborts the run of the message, or else the one that is going on. Waits until the gateway has answered
   * to the message: before, it knows no run of it and would abort nothing.
   */
  async abort(): Promise<void> {
    await this.#sent?.catch(() => {}); // `#send` reports it
    const runId = this.#runId ?? this.#open?.runId;
    if (runId === undefined) return;
    try {
      await this.#client.request("chat.abort", { sessionKey: this.#sessionKey, runId });
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  answer(
    approvalId: string,
    { decision, reason }: Parameters<ChattingAgent["answer"]>[1],
  ): boolean {
    const given = {
      approvalId,
      decision: decision === "allow" ? "allow-once" : "deny",
      ...(reason !== undefined && { reason }),
    } as const;
    this.#resolve(given).catch((error: unknown) => this.#fail(error));
    return true;
  }

  subscribe(listener: (event: AgentEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async #send(message: Pick<SendParams, "message" | "attachments">): Promise<void> {
    const runId = (this.#runId = createKey());
    let run: RunHandle;
    const sent = this.#client.send({
      sessionKey: this.#sessionKey,
      idempotencyKey: runId,
      ...message,
    });
    this.#sent = sent;
    try {
      run = await sent;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      // The page shows it as the end of the run that did not begin.
      this.#tell([{ ...endOf("error"), error: infoOf(error), runId, seq: 0 }]);
      return;
    }
    await this.#read(run);
  }

  async #read(run: RunHandle): Promise<void> {
    try {
      await Promise.race([this.#pass(run, new AgentEvents(run.runId)), this.#failed]);
    } finally {
      await this.#client.unsubscribe(this.#sessionKey).catch(() => {}); // a lost connection follows nothing
    }
  }

  async #pass(run: RunHandle, events: AgentEvents): Promise<void> {
    for await (const event of run) {
      this.#tell(events.take(event));
      // A snapshot has no approvals.
      if (event.event === "chat.snapshot" && event.data.state === "running")
        for (const approval of await this.#approvalsOf(run.runId)) this.#tell(events.ask(approval));
      this.#hasCaughtUp();
    }
    await run.result(); // rejects if the gateway does not know the run any more
  }

  async #approvalsOf(runId: string) {
    const sessionKey = this.#sessionKey;
    const { approvals } = await this.#client.request("approvals.list", { sessionKey });
    return approvals.filter((approval) => approval.runId === runId);
  }

  async #resolve(given: Parameters<typeof resolveOnce>[1]): Promise<void> {
    for (let tries = 1; ; tries++)
      try {
        return await resolveOnce(this.#client, given);
      } catch (error) {
        if (!(error instanceof RequestError) || !error.retryable || tries === TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
  }

  #tell(events: readonly AgentEvent[]): void {
    for (const event of events) for (const listener of this.#listeners) listener(event);
  }
}

async function resolveOnce(
  client: GatewayClient,
  given: {
    readonly approvalId: string;
    readonly decision: "allow-once" | "deny";
    readonly reason?: string;
  },
): Promise<void> {
  try {
    await client.request("approvals.resolve", given);
  } catch (error) {
    // Somebody else was faster, or its time is over: the run's events say how it went on.
    const isOver = error instanceof RequestError && ["conflict", "not_found"].includes(error.code);
    if (!isOver) throw error;
  }
}

function infoOf({ message, retryable }: RequestError): ErrorInfo {
  return { code: "invalid_request", message, retryable };
}
