/** Accepts messages, each at most once. */
import { assertTaken, checkAttachments, digestOf } from "./attachments.ts";
import type { Accepted, MessageKind, OwnedMessage } from "../engine/engine.ts";
import { agentOf } from "../agents/session-agent.ts";
import { GatewayError } from "../protocol/gateway-error.ts";
import type { Host } from "./host.ts";
import { incomingOf, type Incoming } from "./incoming.ts";
import type { Lanes } from "./lanes.ts";
import type { LeftMessages } from "./left-messages.ts";
import type { PendingMessage } from "./pending.ts";
import { lastEntries, reviveRun, runWith } from "./revive.ts";
import { Run } from "./run.ts";
import type { RunMemory } from "./run-memory.ts";
import type { Schedule } from "./schedule.ts";

interface Parts {
  readonly lanes: Lanes;
  readonly memory: RunMemory;
  readonly schedule: Schedule;
  readonly left: LeftMessages;
}

export class Intake {
  readonly #host: Host;
  readonly #lanes: Lanes;
  readonly #memory: RunMemory;
  readonly #schedule: Schedule;
  readonly #left: LeftMessages;

  constructor(host: Host, { lanes, memory, schedule, left }: Parts) {
    this.#host = host;
    this.#lanes = lanes;
    this.#memory = memory;
    this.#schedule = schedule;
    this.#left = left;
  }

  /** Resolves when the message is stored. */
  async accept(params: OwnedMessage, kind: MessageKind): Promise<Accepted> {
    const { sessionKey, message, agentId, idempotencyKey, attachments } = params;
    checkAttachments(attachments, this.#host.limits);
    const lane = this.#lanes.of(sessionKey);
    if (idempotencyKey === undefined)
      return lane.inOrder(() => this.#accept(this.#host.createId(), params, kind));
    const fingerprint = JSON.stringify([sessionKey, message, agentId, digestOf(attachments)]);
    const accept = (): Promise<Accepted> =>
      lane.inOrder(() => this.#acceptOnce(idempotencyKey, params, kind));
    const accepted = await this.#memory.once(idempotencyKey, fingerprint, accept);
    const { result } = accepted;
    // The run that it was for has ended without it.
    const isHeld =
      result.status === "finished" &&
      lane.held.some(({ pending }) => pending.id === idempotencyKey);
    if (isHeld) return waitingAs(result.sessionKey, idempotencyKey);
    return { start: () => {}, ...accepted };
  }

  async #accept(id: string, params: OwnedMessage, kind: MessageKind): Promise<Accepted> {
    // Not before: a message that is stored already must not look refused when it is sent again.
    this.#schedule.assertOpen();
    const { sessionKey, message: text, agentId, attachments, user } = params;
    const lane = this.#lanes.of(sessionKey);
    const { current } = lane;
    const isInto = kind !== "send" && current !== undefined && !current.isOver;
    const before = isInto
      ? current.waiting.filter((incoming) => incoming !== current.first)
      : lane.waiting;
    // Checked before the message is stored.
    if (before.length >= this.#host.limits.maxQueuedRuns)
      throw new GatewayError("busy", "Too many messages wait in this session.", {
        retryable: true,
      });
    const agent = isInto ? current.entry : undefined;
    const timestamp = lane.nextTime(this.#host.clock.now());
    const about = {
      id,
      kind: isInto ? kind : ("send" as const),
      sessionKey,
      text,
      timestamp,
      ...(attachments && { attachments }),
      ...(user !== undefined && { user }),
    };
    if (isInto && agent !== undefined) {
      if (attachments !== undefined) assertTaken(attachments, await this.#host.modelFor(agent));
      const pending = { ...about, agentId: agent.id };
      this.#left.forget({ sessionKey, id });
      await this.#host.pending.add(pending);
      if (!current.isOver) {
        const incoming = incomingOf(pending);
        current.add(kind, incoming);
        const start = (): void => current.announce(incoming);
        return { result: { runId: current.log.runId, sessionKey, status: "steered" }, start };
      }
      await this.#host.pending.remove(pending); // it begins its own run, or is refused
    }
    const found = agent ?? (await agentOf(this.#host, sessionKey, agentId));
    // Rejects for a missing model before the message is stored.
    assertTaken(attachments, await this.#host.modelFor(found));
    const pending: PendingMessage = { ...about, kind: "send", agentId: found.id };
    const run = this.#schedule.enqueue(lane, new Run(this.#host, pending, found));
    this.#left.forget({ sessionKey, id });
    try {
      await run.keep();
    } catch (error) {
      lane.remove(run);
      this.#memory.remove(id);
      run.failBefore(error); // a client that follows the run by its key would wait forever
      throw error;
    }
    const status = this.#schedule.promise(lane, run) ? "started" : "queued";
    return {
      result: { runId: id, sessionKey, status },
      start: () => this.#schedule.makeReady(lane, run),
    };
  }

  /**
   * Accepts the message unless its session has a run with this id already. That run may be older
   * than this process or than its memory of keys.
   */
  async #acceptOnce(id: string, params: OwnedMessage, kind: MessageKind): Promise<Accepted> {
    const { sessionKey } = params;
    const known = (runId: string, isOpen: boolean): Accepted => {
      return {
        result: { runId, sessionKey, status: isOpen ? "in_flight" : "finished" },
        start: () => {},
      };
    };
    const log = this.#memory.log(id);
    if (log !== undefined && log.sessionKey !== sessionKey)
      throw new GatewayError("conflict", "This idempotency key was used in another session.");
    // A message for a running run may wait longer than its key is cached. Checked before the log is
    // read: a message that no longer waits is in the log.
    const isIt = ({ pending }: Incoming): boolean => pending.id === id;
    const lane = this.#lanes.of(sessionKey);
    const holder = lane.runs.find((run) => run.waiting.some(isIt));
    if (holder !== undefined) return known(holder.log.runId, holder.log.isOpen);
    const held = lane.held.find(isIt);
    if (held?.hasFailed === true) return this.#acceptAgain(held, params, kind);
    if (held !== undefined) return waitingAs(sessionKey, id);
    if (log !== undefined) return known(id, log.isOpen);
    const entries = await lastEntries(this.#host.store, sessionKey);
    const revived = reviveRun(this.#host, id, sessionKey, entries);
    const into = revived === undefined ? runWith(id, entries) : id;
    return into === undefined
      ? this.#accept(id, params, kind)
      : known(into, this.#memory.isOpen(into));
  }

  /**
   * Accepts a resent message whose run failed before the transcript had the message. It begins a
   * new run.
   */
  async #acceptAgain(held: Incoming, params: OwnedMessage, kind: MessageKind): Promise<Accepted> {
    const { id, sessionKey, text, attachments } = held.pending;
    if (params.message !== text || digestOf(params.attachments) !== digestOf(attachments))
      throw new GatewayError("conflict", "This idempotency key was used for another message.");
    const lane = this.#lanes.of(sessionKey);
    lane.held.splice(lane.held.indexOf(held), 1);
    try {
      return await this.#accept(id, params, kind);
    } catch (error) {
      lane.held.push(held);
      throw error;
    }
  }
}

/** The answer for a message that waits without a run. */
function waitingAs(sessionKey: string, id: string): Accepted {
  return { result: { runId: id, sessionKey, status: "waiting" }, start: () => {} };
}
