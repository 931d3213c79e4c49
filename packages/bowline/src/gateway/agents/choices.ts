/**
 * Which agent and which model were chosen for a session, as its log says. Read once for each
 * session.
 */
import { isKnownEntry, openSession, type SessionModel, type Store } from "@bowline/core/session";
import { isMissing } from "../../is-missing.ts";

export interface Choice {
  readonly agentId?: string;
  /** `provider/model`; absent where the agent's own is asked. */
  readonly model?: string;
}

/** Sessions whose choice is remembered; of others it is read again. */
const MAX_KNOWN = 1000;

/**
 * A `model_change` that names an agent chooses that agent, with its own model; one that names none
 * chooses a model.
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

  /** Its log has another now. */
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
