/** The messages that the model gets of a compacted transcript, and their size in tokens. */
import type { AgentMessage } from "../contract/agent-message.ts";
import { sumTokens, tokensSince, type TokenEstimate } from "./tokens.ts";
import { compactedView, markOf, type CompactionState } from "./view.ts";

interface CompactedPart {
  readonly of: CompactionState;
  readonly source: readonly AgentMessage[];
  readonly messages: readonly AgentMessage[];
}

export class CompactedTranscript {
  readonly #estimate: TokenEstimate;
  /** State of the last compaction. */
  state: CompactionState | undefined;
  /** Memoised messages for the compacted part, so that they stay the same for the prompt cache. */
  #part: CompactedPart | undefined;
  /** The last result of `count`, and what it was for. */
  #counted:
    | { of: CompactionState | undefined; length: number; last: unknown; tokens: number }
    | undefined;

  constructor(state: CompactionState | undefined, estimate: TokenEstimate) {
    this.state = state;
    this.#estimate = estimate;
  }

  /** Returns the messages of a request. */
  view(messages: AgentMessage[]): AgentMessage[] {
    this.forgetOthers(messages);
    const state = this.state;
    if (!state) return messages;
    const source = messages.slice(0, state.messageCount);
    // A program may have replaced messages, for example to redact them. Messages that another hook
    // added at the end may be gone.
    const made = this.#part;
    const part =
      made?.of === state && source.every((message, at) => message === made.source[at])
        ? made
        : { of: state, source, messages: compactedView(messages, state) };
    this.#part = part;
    return [...part.messages, ...messages.slice(state.messageCount)];
  }

  /**
   * Drops the state if it belongs to another transcript, such as one before a reset or a rewind
   * beyond the summary.
   */
  forgetOthers(messages: readonly AgentMessage[]): void {
    if (!this.state) return;
    const { firstKeptIndex, mark, messageCount } = this.state;
    const isOther = mark !== undefined && mark !== markOf(messages, firstKeptIndex);
    if (isOther || messages.length < firstKeptIndex) this.state = undefined;
    else if (messages.length < messageCount)
      this.state = { ...this.state, messageCount: messages.length };
  }

  /**
   * Returns the current tokens of the context: the previous count plus the new messages. Usage
   * reported before the last compaction is ignored, because it is of a request that is no longer
   * sent.
   */
  count(messages: AgentMessage[]): number {
    const state = this.state;
    const { messageCount = 0, tokensAfter } = state ?? {};
    let known = this.#counted;
    if (!known || known.of !== state || known.last !== messages[known.length - 1]) {
      const tokens = state
        ? (tokensAfter ?? sumTokens(compactedView(messages, state), this.#estimate))
        : 0;
      known = { of: state, length: messageCount, last: undefined, tokens };
    }
    const since = tokensSince(messages, known.length, this.#estimate);
    const tokens = since.reported ? since.tokens : known.tokens + since.tokens;
    this.#counted = { of: state, length: messages.length, last: messages.at(-1), tokens };
    return tokens;
  }
}
