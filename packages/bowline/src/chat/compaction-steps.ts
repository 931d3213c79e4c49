/**
 * The compactions of this process, so that a conversation without a session can undo them. With a
 * session, its entries are the record.
 */
import { estimateTokens, type Agent, type Compaction, type CompactionEvent } from "@bowline/core";

type Messages = Agent["state"]["messages"];
type State = Compaction["state"];

interface Step {
  /** The state before the compaction. */
  readonly state: State;
  readonly tokensBefore: number;
  /** The length of the transcript at the compaction. */
  readonly length: number;
}

export class CompactionSteps {
  #before: State;
  #steps: readonly Step[] = [];

  /** `state` is the one at the event. */
  note(event: CompactionEvent, state: State, { length }: Messages): void {
    if (event.type === "compaction_start") this.#before = state;
    else if (event.outcome !== "none") {
      const { tokensBefore } = event;
      this.#steps = [...this.#steps, { state: this.#before, tokensBefore, length }];
    }
  }

  /** The size of the context without the last compaction, in tokens. Undefined if there is none. */
  tokensWithout(messages: Messages): number | undefined {
    const last = this.#steps.at(-1);
    if (last === undefined) return undefined;
    const since = messages.slice(last.length).map((message) => estimateTokens(message));
    return since.reduce((sum, tokens) => sum + tokens, last.tokensBefore);
  }

  /** Removes the last step. Returns the state without it. */
  undo(messages: Messages): State {
    const tokensAfter = this.tokensWithout(messages);
    const last = this.#steps.at(-1);
    if (tokensAfter === undefined || last === undefined) return undefined;
    this.#steps = this.#steps.slice(0, -1);
    // Usage that was reported since is of requests that had the summary.
    const { state = { summary: "", firstKeptIndex: 0 } } = last;
    return { ...state, messageCount: messages.length, tokensAfter };
  }

  forget(): void {
    this.#steps = [];
  }
}
