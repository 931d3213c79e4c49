/**
 * The agent and model that were chosen for a session. They are in the session's log, and any gateway
 * may have written there, so each question reads what is new in it.
 */
import { isKnownEntry, type AnyEntry, type Store } from "@bowline/core/session";
import { isMissing, referenceOf, type Choice } from "bowline/engine";

interface Read {
  /** A session that was deleted and created again begins anew. */
  readonly createdAt: number;
  /** The number of entries that were read. */
  readonly count: number;
  readonly choice: Choice;
}

/** The maximum number of cached sessions. */
const MAX_KNOWN = 1000;

export class SessionChoices {
  readonly #store: Store;
  readonly #known = new Map<string, Read>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Rejects if the session cannot be read. Resolves without a choice for a missing session. */
  async of(sessionKey: string): Promise<Choice> {
    try {
      const { createdAt } = await this.#store.load(sessionKey);
      const known = this.#known.get(sessionKey);
      const before =
        known?.createdAt === createdAt
          ? known
          : { createdAt, count: 0, choice: {} satisfies Choice };
      const read = await this.#readFrom(sessionKey, before);
      this.#known.delete(sessionKey);
      this.#known.set(sessionKey, read);
      const [oldest] = this.#known.keys();
      if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
      return read.choice;
    } catch (error) {
      if (!isMissing(error)) throw error;
      return {};
    }
  }

  async #readFrom(sessionKey: string, { createdAt, count, choice }: Read): Promise<Read> {
    const from = { from: count, files: false };
    for await (const batch of this.#store.read(sessionKey, from)) {
      choice = batch.reduce(addChoice, choice);
      count += batch.length;
    }
    return { createdAt, count, choice };
  }
}

/** An entry with an agent chooses that agent and its model. One without an agent chooses a model. */
function addChoice(before: Choice, entry: AnyEntry): Choice {
  if (!isKnownEntry(entry) || entry.type !== "model_change") return before;
  if (entry.agent !== undefined) return { agentId: entry.agent };
  return { ...before, model: referenceOf(entry) };
}
