/**
 * The entries of a run that are not written yet. The next closure writes them, when the journal has
 * what they say. Their keys are the same in each attempt.
 */
import type { AgentEvent, AgentMessage } from "@bowline/core";
import { entriesOfEvent, inJson, type EntryBody, type MessageEntry } from "@bowline/core/session";
import type { DurableItem } from "@bowline/postgres";

export class Transcript {
  readonly #runId: string;
  readonly #now: () => number;
  readonly #ids = new WeakMap<AgentMessage, string>();
  /** The clients' ids of the inbox's messages. */
  readonly #expected = new WeakMap<AgentMessage, string>();
  #pending: DurableItem[] = [];
  #count = 0;
  /** What a model sees. */
  #messages: readonly AgentMessage[];

  constructor(runId: string, context: readonly MessageEntry[], now: () => number) {
    this.#runId = runId;
    this.#now = now;
    this.#messages = context.map(({ message }) => message as AgentMessage);
    for (const { id, message } of context)
      if (id !== undefined) this.#ids.set(message as AgentMessage, id);
  }

  get messages(): readonly AgentMessage[] {
    return this.#messages;
  }

  /** Uses the list that the loop appends to, which begins with the same messages. */
  follow(messages: readonly AgentMessage[]): void {
    this.#messages = messages;
  }

  /** Notes the client's id of a message that the run has taken, for when the run adds it. */
  expect(messageId: string, message: AgentMessage): void {
    this.#expected.set(message, messageId);
  }

  /** Adds an entry. Default key: the next number of the run. */
  add(body: EntryBody, key: string = `${this.#runId}:${this.#count++}`): string {
    const plain = "args" in body ? { ...body, args: inJson(body.args) } : body;
    const messageId =
      body.type === "message" ? this.#expected.get(body.message as AgentMessage) : undefined;
    this.#pending.push({
      key,
      body: plain,
      timestamp: this.#now(),
      ...(messageId !== undefined && { messageId }),
    });
    return key;
  }

  /** Adds the entries of an event of this run, if it has any. */
  addEvent(event: AgentEvent): void {
    for (const body of entriesOfEvent(event, {
      messages: this.#messages,
      idOf: (message) => this.#ids.get(message),
    })) {
      // Usage that no message carries comes with the results of steps.
      if (body.type === "usage") continue;
      const key = this.add(body);
      if (event.type === "message_end") this.#ids.set(event.message, key);
    }
  }

  /** Returns the entries for the next closure to write. */
  take(): readonly DurableItem[] {
    const taken = this.#pending;
    this.#pending = [];
    return taken;
  }
}
