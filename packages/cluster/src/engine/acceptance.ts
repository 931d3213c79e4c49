/**
 * Accepts messages. PostgreSQL has a message first: from then on it is acknowledged and runs once.
 * Then Restate is told. If it does not answer, a sweeper tells it again.
 */
import { isBowlineError, type UserMessage } from "@bowline/core";
import type { MessagePlace, OpenRun, QueuedInput, StartInput } from "@bowline/postgres";
import {
  agentOf,
  assertTaken,
  checkAttachments,
  contentOf,
  GatewayError,
  ownedBy,
  waitingMessage,
  type Accepted,
  type KnownAgent,
  type MessageKind,
  type OwnedMessage,
} from "bowline/engine";
import { readMetadata, writeMetadata } from "./message-metadata.ts";
import { waitingInputs } from "./open-runs.ts";
import type { GatewayParts } from "./parts.ts";
import { answerAgain, findMessage } from "./sent-again.ts";
import { tellRestate } from "./telling.ts";

interface Incoming {
  readonly id: string;
  readonly params: OwnedMessage;
  readonly message: UserMessage & { readonly messageId: string };
}

export class Acceptance {
  readonly #parts: GatewayParts;

  constructor(parts: GatewayParts) {
    this.#parts = parts;
  }

  async accept(params: OwnedMessage, kind: MessageKind): Promise<Accepted> {
    checkAttachments(params.attachments, this.#parts.limits);
    return this.#parts.inOrder.run(params.sessionKey, () => this.#accept(params, kind));
  }

  async #accept(params: OwnedMessage, kind: MessageKind): Promise<Accepted> {
    const { store, clock, createId } = this.#parts;
    const { sessionKey, message: text, attachments, idempotencyKey } = params;
    const id = idempotencyKey ?? createId();
    if (idempotencyKey !== undefined) {
      const place = await findMessage(store, sessionKey, id);
      if (place !== undefined) return answerAgain(store, { id, place, params });
    }
    const open = await store.durable.openRuns({ sessionId: sessionKey });
    const into = kind === "send" ? undefined : (open.find(isRunning) ?? open[0]);
    const content = contentOf(text, attachments);
    const message = { role: "user" as const, content, timestamp: clock.now(), messageId: id };
    const incoming = { id, params, message };
    return into === undefined || kind === "send"
      ? this.#begin(incoming, open)
      : this.#join(incoming, into, kind);
  }

  /** Accepts a message that begins a run. */
  async #begin(incoming: Incoming, open: readonly OpenRun[]): Promise<Accepted> {
    const { id, params, message } = incoming;
    const { sessionKey, agentId, attachments, user } = params;
    const { store, relay, news, filter, limits, maxRunsPerUser } = this.#parts;
    if (open.filter((run) => !isRunning(run)).length >= limits.maxQueuedRuns) throw tooMany();
    const agent = await this.#agentFor(sessionKey, attachments, agentId);
    const isQueued = open.length > 0;
    await this.#ensure(sessionKey, agent, user);
    const input: StartInput = {
      id,
      queue: "start",
      message,
      runId: id,
      // Not as `agent`, which would become that of the session's later runs too.
      metadata: writeMetadata({
        user,
        agentId: agent.id,
        model: agent.model,
        isAnnounced: isQueued,
      }),
      ...(user?.id !== undefined && {
        owner: user.id,
        ...(maxRunsPerUser !== undefined && { maxOwned: maxRunsPerUser }),
      }),
    };
    // The events of the run arrive here from now on, and wait until the client has its response.
    const start = await relay.expect(sessionKey, id);
    let isTold: boolean;
    let isAnnounced: boolean;
    try {
      const place = await this.#push(sessionKey, input);
      if (place.state !== "pending") {
        start();
        return await answerAgain(store, { id, place, params });
      }
      isTold = await this.#tell(sessionKey, input);
      isAnnounced = isQueued && (await this.#isAnnounced(sessionKey, id));
    } catch (error) {
      start();
      throw error;
    }
    return {
      result: { runId: id, sessionKey, status: isTold && !isQueued ? "started" : "queued" },
      start: () => {
        const shown = waitingMessage(message, { messageId: id, kind: "send", filter });
        if (isAnnounced) news.queued({ sessionKey, runId: id, message: shown });
        start();
      },
    };
  }

  /**
   * Returns whether the worker leaves the run's first event to gateways. Another gateway may have stored
   * the message in the same moment, when nothing was before it.
   */
  async #isAnnounced(sessionKey: string, id: string): Promise<boolean> {
    const waiting = await waitingInputs(this.#parts, sessionKey);
    return readMetadata(waiting.find((one) => one.id === id)?.metadata).isAnnounced === true;
  }

  /** Accepts a message for a run that is going on, or that begins next. */
  async #join(
    { id, params, message }: Incoming,
    into: OpenRun,
    kind: "steer" | "followUp",
  ): Promise<Accepted> {
    const { sessionKey, attachments } = params;
    const { store, relay, filter, limits } = this.#parts;
    const { runId } = into;
    if ((await store.durable.pending(sessionKey)) >= limits.maxQueuedRuns) throw tooMany();
    await this.#agentFor(sessionKey, attachments);
    const queue = kind === "steer" ? "steering" : "followUp";
    const input: QueuedInput = { id, queue, message };
    const place = await this.#push(sessionKey, input);
    if (place.state !== "pending") return answerAgain(store, { id, place, params });
    await this.#tell(sessionKey, input);
    const queued = waitingMessage(message, { messageId: id, kind, filter });
    return {
      result: { runId, sessionKey, status: "steered" },
      start: () => relay.tellQueued({ sessionKey, runId, queued }),
    };
  }

  /** Rejects for a missing agent, and for what its model does not take, before anything is stored. */
  async #agentFor(
    sessionKey: string,
    attachments: OwnedMessage["attachments"],
    agentId?: string,
  ): Promise<KnownAgent> {
    const { agents, store, choices } = this.#parts;
    const host = { store, agents: agents.agents, choices };
    const agent = await agentOf(host, sessionKey, agentId);
    assertTaken(attachments, await agents.modelFor(agent));
    return agent;
  }

  async #ensure(sessionKey: string, agent: KnownAgent, user: OwnedMessage["user"]): Promise<void> {
    const { store, clock } = this.#parts;
    const createdAt = clock.now();
    const metadata = { agentId: agent.id, ...ownedBy(user) };
    await store.durable.ensure({ id: sessionKey, createdAt, metadata });
  }

  async #push(sessionKey: string, input: QueuedInput | StartInput): Promise<MessagePlace> {
    try {
      return await this.#parts.store.durable.push(sessionKey, input);
    } catch (error) {
      if (isBowlineError(error) && error.code === "rate_limited")
        throw new GatewayError("busy", error.message, { retryable: true });
      throw error;
    }
  }

  #tell(sessionKey: string, input: QueuedInput | StartInput): Promise<boolean> {
    const { id, queue, message } = input;
    const start = "runId" in input && { runId: input.runId, metadata: input.metadata ?? {} };
    const at = this.#parts.clock.now();
    return tellRestate(
      {
        sessionId: sessionKey,
        id,
        queue,
        message,
        at,
        ...start,
      },
      this.#parts,
    );
  }
}

function isRunning({ state }: OpenRun): boolean {
  return state === "running";
}

function tooMany(): GatewayError {
  return new GatewayError("busy", "Too many messages wait in this session.", { retryable: true });
}
