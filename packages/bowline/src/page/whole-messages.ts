/** Loads whole messages that the history has cut: answers and user messages. */
import type { GatewayClient } from "../gateway/client/client.ts";
import type { HistoryEntry } from "../gateway/protocol/protocol.ts";
import type { PageAction, PageState } from "./state/page-state.ts";
import type { Store } from "./store.ts";

/** Limit for one page of the history, in characters; more would slow down the page. */
const MAX_LENGTH = 8_000_000;

export class WholeMessages {
  readonly #client: GatewayClient;
  readonly #store: Store<PageState, PageAction>;
  /** Messages being loaded, so that a history loaded twice requests each once. */
  readonly #asked = new Set<string>();

  constructor(client: GatewayClient, store: Store<PageState, PageAction>) {
    this.#client = client;
    this.#store = store;
  }

  /**
   * Loads messages, the last first, while the session is shown. Messages that fail to load stay
   * cut.
   */
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
