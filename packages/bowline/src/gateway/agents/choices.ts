/**
 * Reads the agent and model that were chosen for a session from the session's log. Caches them per
 * session.
 */
import { isKnownEntry, openSession, type SessionModel, type Store } from "@bowline/core/session";
import { isMissing } from "../../is-missing.ts";

export interface Choice {
  readonly agentId?: string;
  /** `provider/model`. Absent: the agent's own model. */
  readonly model?: string;
}

/** The maximum number of cached sessions. */
const MAX_KNOWN = 1000;

/**
 * A `model_change` with an agent chooses that agent and its model. One without an agent chooses a
 * model.
 */
export class Choices {
  readonly #store: Store;
  readonly #known = new Map<string, Promise<Choice>>();

  constructor(store: Store) {
    this.#store = store;
  }

  of(sessionKey: string): Promise<Choice> {
    const known = this.#known.get(sessionKey);
    if (known !== undefined) return known;
    const read = this.#read(sessionKey);
    this.#known.set(sessionKey, read);
    read.catch(() => this.#known.delete(sessionKey));
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    return read;
  }

  /** Evicts a session whose log has changed. */
  forget(sessionKey: string): void {
    this.#known.delete(sessionKey);
  }

  async #read(sessionKey: string): Promise<Choice> {
    let model: string | undefined;
    try {
      const session = await openSession(this.#store, sessionKey, { readOnly: true });
      for await (const entry of session.entries({ reverse: true })) {
        if (!isKnownEntry(entry) || entry.type !== "model_change") continue;
        if (entry.agent !== undefined)
          return { agentId: entry.agent, ...(model !== undefined && { model }) };
        model ??= referenceOf(entry);
      }
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    return model === undefined ? {} : { model };
  }
}

export function referenceOf({ provider, model }: SessionModel): string {
  return `${provider}/${model}`;
}
