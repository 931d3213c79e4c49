/** Loads what the history has cut of messages that people read: answers, and what was asked. */
import type { GatewayClient } from "../gateway/client/client.ts";
import type { HistoryEntry } from "../gateway/protocol/protocol.ts";
import type { PageAction, PageState } from "./state/page-state.ts";
import type { Store } from "./store.ts";

/** Of one page of the history together, in characters: more would hold up the page. */
const MAX_LENGTH = 8_000_000;

export class WholeMessages {
  readonly #client: GatewayClient;
  readonly #store: Store<PageState, PageAction>;
  /** Those that are on their way: a history that is loaded twice asks for them once. */
  readonly #asked = new Set<string>();

  constructor(client: GatewayClient, store: Store<PageState, PageAction>) {
    this.#client = client;
    this.#store = store;
  }

  /** The last first, while the session is shown. What cannot be had stays cut. */
  async load(sessionKey: string, entries: readonly HistoryEntry[]): Promise<void> {
    let left = MAX_LENGTH;
    for (const { id, message, truncated } of entries.toReversed()) {
      if (truncated === undefined || message.role === "toolResult" || this.#asked.has(id)) continue;
      left -= truncated.length;
      const isShown = this.#store.state.conversation.sessionKey === sessionKey;
      if (left < 0 || !isShown) return;
      this.#asked.add(id);
      const whole = await this.#client.message(sessionKey, id).catch(() => undefined);
      this.#asked.delete(id);
      if (whole !== undefined)
        this.#store.dispatch({ type: "message", sessionKey, id, message: whole });
    }
  }
}
