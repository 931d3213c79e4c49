/** An agent's messages and the entries that they have in its session. */
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
  /** The agent's messages that are in the session, in their order. */
  readonly #known: AgentMessage[];

  /** Gives the agent the messages of these entries. */
  constructor(
    agent: { readonly state: AgentState },
    log: RunLog,
    entries: readonly Pick<MessageEntry, "id" | "message">[],
  ) {
    this.#agent = agent;
    this.#log = log;
    for (const { id, message } of entries) {
      this.messages.push(message as AgentMessage);
      if (id !== undefined) this.#ids.set(message as AgentMessage, id);
    }
    this.#known = [...this.messages];
  }

  get messages(): AgentMessage[] {
    return this.#agent.state.messages;
  }

  /** The entry of a message; undefined for a summary. */
  readonly idOf = (message: AgentMessage): string | undefined => this.#ids.get(message);

  /** Writes a message's entry. */
  async add(message: AgentMessage, body: EntryBody): Promise<void> {
    const { id } = await this.#log.add(body);
    this.#ids.set(message, id);
    this.#known.push(message);
  }

  /** Writes what the program added before this message. */
  addBefore(message: AgentMessage): Promise<void> {
    return this.addUpTo(this.messages.indexOf(message, this.#known.length));
  }

  /**
   * Writes the first `count` messages, those that the program added; none where it moved others, as
   * the next run says.
   */
  async addUpTo(count: number): Promise<void> {
    const { messages } = this;
    if (messages[this.#known.length - 1] !== this.#known.at(-1)) return;
    for (const message of messages.slice(this.#known.length, Math.max(count, 0)))
      await this.add(message, { type: "message", message });
  }

  /**
   * Writes what the program added to the agent's messages between runs. Throws `invalid_state` for
   * other changes, which no entry can say.
   */
  async catchUp(count: number): Promise<void> {
    const { messages } = this;
    const changed = this.#known.findIndex((message, index) => messages[index] !== message);
    if (changed >= 0) {
      const advice = `messages[${changed}] is another. Rewind the session, and attach a new agent.`;
      throw new BowlineError(
        "invalid_state",
        `The agent's messages are no longer those of its session: ${advice}`,
      );
    }
    await this.addUpTo(count);
  }
}
