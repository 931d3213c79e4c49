/** The gateway's half: messages, answers and aborts for runs, and what becomes of them. */
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import {
  connect,
  rpc,
  type Ingress,
  type IngressSendOptions,
} from "@restatedev/restate-sdk-clients";
import { BowlineError } from "@bowline/core";
import { checkNames } from "@bowline/core/agent";
import type { AnyEntry, FollowOptions, QueueKind, SessionHeader } from "@bowline/core/session";
import type {
  AnsweredApproval,
  ApprovalAnswer,
  PostgresStore,
  WaitingMessage,
} from "@bowline/postgres";
import { toClientError } from "./client-error.ts";
import { keyAfter, keyOf, readMessage, runInput, type ClientMessage } from "./client-message.ts";
import { checkServiceName, invalid } from "./options.ts";
import { DEFAULT_SERVICE, type AbortInput, type RunOutcome, type SessionRuns } from "./wire.ts";

export interface RestateClientOptions {
  /** The address of Restate's ingress, such as `http://restate:8080`. */
  readonly ingress: string;
  /** The sessions. */
  readonly store: PostgresStore;
  /** The name of the virtual object. Default `bowline`. */
  readonly serviceName?: string | undefined;
  /** Headers for Restate, such as `authorization`. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The time limit of a request, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined;
}

/** Where a message is after it was sent. */
export type Submitted =
  /** Restate has it. It runs when the session's earlier runs have ended. */
  | { readonly state: "accepted"; readonly invocationId: string; readonly runId?: string }
  /** In the inbox. A run takes it, or begins with it. */
  | { readonly state: "queued" }
  /** A run has it since an earlier call. */
  | { readonly state: "taken"; readonly runId: string }
  /** It was cancelled, and no run gets it. */
  | { readonly state: "cancelled"; readonly runId: string };

/** All methods reject with `not_found` for a missing session, and `connection_failed` without Restate. */
export interface RestateClient {
  /** Creates the session unless it exists. Resolves with its header as stored. */
  ensure(
    sessionId: string,
    options?: { readonly metadata?: SessionHeader["metadata"] },
  ): Promise<SessionHeader>;
  /**
   * Begins a run with this message, after the session's earlier ones. The message is in the inbox
   * before Restate hears of it. If this then rejects with a retryable error, the message waits there:
   * submit it again, or `resend` it.
   */
  submit(sessionId: string, message: ClientMessage): Promise<Submitted>;
  /** Sends a message to the run that is going on, before its next model call. Without one, begins a run. */
  steer(sessionId: string, message: ClientMessage): Promise<Submitted>;
  /** Sends a message for when the run would end. Without one, begins a run. */
  followUp(sessionId: string, message: ClientMessage): Promise<Submitted>;
  /**
   * Tells Restate again of a message that waits, from `store.durable.waitingSince()`. It runs once,
   * however often this is called.
   */
  resend(waiting: Omit<WaitingMessage, "position">): Promise<void>;
  /**
   * Aborts the run that is going on, or only the run with this id. Resolves with whether there is
   * one. Messages that are queued begin the next run; `store.durable.cancel()` cancels them.
   */
  abort(sessionId: string, options?: { readonly runId?: string }): Promise<boolean>;
  /**
   * Answers an approval. The first answer counts, and is in the database before Restate hears of it. If
   * this then rejects with a retryable error, it counts nevertheless: call it again, or `tellAnswer`.
   * Rejects with `not_found` if the approval is not open or has another answer, and with `timeout` after
   * its time limit; the call is then denied.
   */
  answer(sessionId: string, approvalId: string, answer: ApprovalAnswer): Promise<void>;
  /**
   * Tells Restate of an answer that the database has, from `store.durable.answer()` or
   * `store.durable.answeredSince()`. A run that does not wait for it yet finds it itself.
   */
  tellAnswer(answered: Omit<AnsweredApproval, "position">): Promise<void>;
  /** Resolves with the run that is going on and the open approvals. */
  state(sessionId: string): Promise<SessionRuns>;
  /**
   * Waits for the end of a run. Continues after lost connections until `signal` fires. Rejects with
   * `not_found` when its outcome is not kept any more: read the session instead.
   */
  outcome(invocationId: string, options?: { readonly signal?: AbortSignal }): Promise<RunOutcome>;
  /** Yields the session's entries, then new ones, until `signal` fires. */
  follow(sessionId: string, options?: FollowOptions): AsyncIterable<readonly AnyEntry[]>;
}

const optionNames: Readonly<Record<keyof RestateClientOptions, true>> = {
  ingress: true,
  store: true,
  serviceName: true,
  headers: true,
  timeoutMs: true,
};
const DEFAULT_TIMEOUT_MS = 30_000;
const RETRY_MS = 250;

/** Creates a client. Throws `invalid_argument` for options that cannot work. Opens no connection. */
export function createRestateClient(options: RestateClientOptions): RestateClient {
  checkNames(options, Object.keys(optionNames));
  const { ingress, store, serviceName = DEFAULT_SERVICE, headers = {} } = options;
  if (!URL.canParse(ingress)) throw invalid("The option ingress must be a URL.");
  checkServiceName(serviceName);
  const url = ingress.replace(/\/$/, "");
  const timeout = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  return new Client({ url, headers, store, serviceName, timeout });
}

interface ClientParts {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly store: PostgresStore;
  readonly serviceName: string;
  readonly timeout: number;
}

class Client implements RestateClient {
  readonly #parts: ClientParts;
  readonly #restate: Ingress;

  constructor(parts: ClientParts) {
    this.#parts = parts;
    this.#restate = connect({ url: parts.url, headers: { ...parts.headers } });
  }

  ensure(
    id: string,
    { metadata }: { readonly metadata?: SessionHeader["metadata"] } = {},
  ): Promise<SessionHeader> {
    const header = { id, createdAt: Date.now(), ...(metadata !== undefined && { metadata }) };
    return this.#parts.store.durable.ensure(header);
  }

  async submit(sessionId: string, sent: ClientMessage): Promise<Submitted> {
    const { messageId, message, agent, runId = randomUUID(), metadata } = readMessage(sent);
    // Restate forgets ids after some time. The session does not.
    const place = await this.#parts.store.durable.push(sessionId, {
      id: messageId,
      queue: "start",
      message,
      runId,
      agent,
      metadata,
    });
    if (place.state !== "pending") return place;
    // The id that came with the first submission.
    const run = { messageId, message, runId: place.runId ?? runId, agent, metadata };
    const invocationId = await this.#send(sessionId, "run", keyOf(messageId), runInput(run));
    return { state: "accepted", invocationId, runId: run.runId };
  }

  async resend({
    sessionId,
    id,
    queue,
    at,
    ...more
  }: Omit<WaitingMessage, "position">): Promise<void> {
    const { message, runId, agent, metadata, returns } = more;
    const key = keyAfter(id, Date.now() - at, returns);
    const [handler, input] =
      queue === "start"
        ? ["run", runInput({ messageId: id, message, runId, agent, metadata })]
        : ["wake", agent === undefined ? {} : { agent }];
    await this.#send(sessionId, handler, key, input);
  }

  steer(sessionId: string, sent: ClientMessage): Promise<Submitted> {
    return this.#push(sessionId, sent, "steering");
  }

  followUp(sessionId: string, sent: ClientMessage): Promise<Submitted> {
    return this.#push(sessionId, sent, "followUp");
  }

  abort(sessionId: string, { runId }: AbortInput = {}): Promise<boolean> {
    return this.#call(sessionId, "abort", runId === undefined ? {} : { runId });
  }

  async answer(sessionId: string, approvalId: string, answer: ApprovalAnswer): Promise<void> {
    const place = await this.#parts.store.durable.answer(sessionId, approvalId, answer);
    if (place.state === "late")
      throw new BowlineError("timeout", "The answer came after the time limit of the approval.");
    if (place.state !== "stored" || !isSameAnswer(place.answer, answer))
      throw new BowlineError(
        "not_found",
        `There is no open approval ${JSON.stringify(approvalId)}.`,
      );
    await this.tellAnswer({ sessionId, approvalId, answer: place.answer });
  }

  async tellAnswer({
    sessionId,
    approvalId,
    answer,
  }: Omit<AnsweredApproval, "position">): Promise<void> {
    await this.#call<boolean>(sessionId, "answer", { approvalId, answer });
  }

  state(sessionId: string): Promise<SessionRuns> {
    return this.#call(sessionId, "state", {});
  }

  async outcome(
    invocationId: string,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<RunOutcome> {
    const { url, headers } = this.#parts;
    const restate = connect({
      url,
      headers: { ...headers },
      fetch: (input, init) => fetch(input, { ...init, ...(signal && { signal }) }),
    });
    const sent = { invocationId, status: "Accepted", attachable: true } as const;
    for (;;) {
      try {
        return await restate.result<RunOutcome>(sent);
      } catch (thrown) {
        const error = toClientError(thrown);
        if (!error.retryable || signal?.aborted) throw error;
        await setTimeout(RETRY_MS);
      }
    }
  }

  follow(sessionId: string, options?: FollowOptions): AsyncIterable<readonly AnyEntry[]> {
    return this.#parts.store.follow(sessionId, options);
  }

  async #push(sessionId: string, sent: ClientMessage, queue: QueueKind): Promise<Submitted> {
    const { messageId: id, message, agent } = readMessage(sent);
    const input = { id, queue, message, agent };
    const place = await this.#parts.store.durable.push(sessionId, input);
    if (place.state !== "pending") return place;
    // After the message is in the inbox: no run may have read it yet, and none may be going on.
    await this.#send(sessionId, "wake", keyOf(id), agent === undefined ? {} : { agent });
    return { state: "queued" };
  }

  async #send(
    key: string,
    handler: string,
    idempotencyKey: string,
    parameter: object,
  ): Promise<string> {
    const { serviceName: service, timeout } = this.#parts;
    const options: IngressSendOptions<object> = { idempotencyKey, timeout };
    try {
      const opts = rpc.sendOpts(options);
      return (await this.#restate.send({ service, handler, key, parameter, opts })).invocationId;
    } catch (error) {
      throw toClientError(error);
    }
  }

  async #call<T>(key: string, handler: string, parameter: object): Promise<T> {
    const { serviceName: service, timeout } = this.#parts;
    try {
      const opts = rpc.opts<object, T>({ timeout });
      return await this.#restate.call<object, T>({ service, handler, key, parameter, opts });
    } catch (error) {
      throw toClientError(error);
    }
  }
}

/** Whether an answer is the one that is stored, so that it may be given again. */
function isSameAnswer(stored: ApprovalAnswer, given: ApprovalAnswer): boolean {
  const names = ["decision", "by", "reason", "remember"] as const;
  return names.every((name) => stored[name] === given[name]);
}
