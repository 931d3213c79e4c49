/** Maps an agent's messages to their entries in its session. */
import type { AgentMessage } from "../agent/contract/agent-message.ts";
import type { AgentState } from "../agent/state.ts";
import { BowlineError } from "../errors.ts";
import type { EntryBody } from "./entry.ts";
import type { MessageEntry } from "./messages.ts";
import type { RunLog } from "./run-log.ts";

export class AgentTranscript {
  readonly #agent: { readonly state: AgentState };
  readonly #log: RunLog;
  readonly #ids = new WeakMap<AgentMessage, string>();
  /** The agent's messages that are in the session, in order. */
  #known: AgentMessage[];

  /** Adds the messages of these entries to the agent. */
  constructor(
    agent: { readonly state: AgentState },
    log: RunLog,
    entries: readonly Pick<MessageEntry, "id" | "message">[],
  ) {
    this.#agent = agent;
    this.#log = log;
    this.#add(entries);
    this.#known = [...this.messages];
  }

  /** Replaces all messages by those of these entries. */
  reload(entries: readonly Pick<MessageEntry, "id" | "message">[]): void {
    this.#agent.state.messages = [];
    this.#add(entries);
    this.#known = [...this.messages];
  }

  #add(entries: readonly Pick<MessageEntry, "id" | "message">[]): void {
    for (const { id, message } of entries) {
      this.messages.push(message as AgentMessage);
      if (id !== undefined) this.#ids.set(message as AgentMessage, id);
    }
  }

  get messages(): AgentMessage[] {
    return this.#agent.state.messages;
  }

  /** Returns the entry id of a message, or undefined for a summary. */
  readonly idOf = (message: AgentMessage): string | undefined => this.#ids.get(message);

  /** Writes the entry of a message. */
  async add(message: AgentMessage, body: EntryBody): Promise<void> {
    const { id } = await this.#log.add(body);
    this.#ids.set(message, id);
    this.#known.push(message);
  }

  /** Writes the messages that the program added before this one. */
  addBefore(message: AgentMessage): Promise<void> {
    return this.addUpTo(this.messages.indexOf(message, this.#known.length));
  }

  /**
   * Writes the messages that the program added, up to the first `count`. Writes none if the program
   * moved other messages; the next run reports that.
   */
  async addUpTo(count: number): Promise<void> {
    const { messages } = this;
    if (messages[this.#known.length - 1] !== this.#known.at(-1)) return;
    for (const message of messages.slice(this.#known.length, Math.max(count, 0)))
      await this.add(message, { type: "message", message });
  }

  /**
   * Writes the messages that the program added between runs. Rejects with `invalid_state` for other
   * changes, which entries cannot express.
   */
  async catchUp(count: number): Promise<void> {
    const { messages } = this;
    const changed = this.#known.findIndex((message, index) => messages[index] !== message);
    if (changed >= 0) {
      const advice = `messages[${changed}] was replaced. Rewind the session, and attach a new agent.`;
      throw new BowlineError(
        "invalid_state",
        `The agent's messages no longer match its session: ${advice}`,
      );
    }
    await this.addUpTo(count);
  }
}
