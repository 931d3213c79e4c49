/** How a transcript with a compaction is shown to the model, and how many tokens that takes. */
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
  /** Of the last compaction. */
  state: CompactionState | undefined;
  /** What stands for the compacted part: made once, so that it stays the same. */
  #part: CompactedPart | undefined;
  /** What `count` returned last, and for what. */
  #counted:
    | { of: CompactionState | undefined; length: number; last: unknown; tokens: number }
    | undefined;

  constructor(state: CompactionState | undefined, estimate: TokenEstimate) {
    this.state = state;
    this.#estimate = estimate;
  }

  /** The messages of a request. */
  view(messages: AgentMessage[]): AgentMessage[] {
    this.forgetOthers(messages);
    const state = this.state;
    if (!state) return messages;
    const source = messages.slice(0, state.messageCount);
    // A message may have been replaced anywhere, as by who redacts it; and what another hook had
    // added at the end is there no more.
    const made = this.#part;
    const part =
      made?.of === state && source.every((message, at) => message === made.source[at])
        ? made
        : { of: state, source, messages: compactedView(messages, state) };
    this.#part = part;
    return [...part.messages, ...messages.slice(state.messageCount)];
  }

  /** Drops the state of another transcript: one that was reset, or rewound beyond the summary. */
  forgetOthers(messages: readonly AgentMessage[]): void {
    if (!this.state) return;
    const { firstKeptIndex, mark, messageCount } = this.state;
    const isOther = mark !== undefined && mark !== markOf(messages, firstKeptIndex);
    if (isOther || messages.length < firstKeptIndex) this.state = undefined;
    else if (messages.length < messageCount)
      this.state = { ...this.state, messageCount: messages.length };
  }

  /**
   * Returns the tokens of the context as it stands: what is new is added to what was counted
   * before. What a server reported before the last compaction is of a request that is no longer
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
