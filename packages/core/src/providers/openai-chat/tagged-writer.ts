/** Writes Chat Completions whose text contains thinking or calls. */
// Q087, Q088, Q069
import type { AssistantMessage, OpaqueContent, WholeContent } from "../../llm/message.ts";
import type { MessageWriter } from "../../llm/writer.ts";
import type { ReaderFacts } from "../protocol.ts";
import { fromWireName } from "../tool-names.ts";
import { nameLimits } from "./messages.ts";
import type { ChatWriter } from "./response.ts";
import { createCallFinder, type CallFinder, type TextCallFormat } from "./text-calls.ts";
import { createThinkSplitter, type TextFilter } from "./think-tags.ts";

export interface TextDialect {
  /** Default: tags are text. */
  readonly thinkTags?: "split" | "open";
  /** Calls are read if the request declared tools and no real call came. Default: they are text. */
  readonly textCalls?: TextCallFormat;
}

export class TaggedWriter implements ChatWriter {
  readonly #writer: MessageWriter;
  readonly #facts: ReaderFacts;
  readonly #calls: CallFinder | undefined;
  /** The filter for text outside of thinking tags. */
  readonly #text: TextFilter;
  /** The first filter for all text. */
  readonly #filter: TextFilter;
  #hasText = false;
  #wasText = true;
  #hasCalls = false;

  constructor({ thinkTags, textCalls }: TextDialect, writer: MessageWriter, facts: ReaderFacts) {
    const say = (text: string): void => writer.say("text", text);
    const { toolNames } = facts;
    this.#writer = writer;
    this.#facts = facts;
    if (textCalls !== undefined && toolNames.length > 0)
      this.#calls = createCallFinder(
        textCalls,
        (name) => toolNames.includes(this.#declaredName(name)),
        say,
      );
    const text = this.#calls ?? { add: say, flush: () => {} };
    this.#text = text;
    this.#filter =
      thinkTags === undefined
        ? text
        : createThinkSplitter(thinkTags, {
            think: (thought) => writer.say("thinking", thought),
            say: (said) => text.add(said),
          });
  }

  get message(): AssistantMessage {
    return this.#writer.message;
  }

  get started(): boolean {
    return this.#writer.started || this.#hasText;
  }

  say(kind: "text" | "thinking", piece: string, field?: string): void {
    if (piece === "") return;
    const isText = kind === "text";
    if (isText !== this.#wasText) this.endSaying();
    this.#wasText = isText;
    if (!isText) return this.#writer.say(kind, piece, field);
    this.#hasText = true;
    this.#filter.add(piece);
  }

  /** Ends the current part. Text that may be a call stays held. */
  endSaying(): void {
    if (this.#filter !== this.#text) this.#filter.flush();
    this.#writer.endSaying();
  }

  openToolCall(id: string, name: string): number {
    this.#hasCalls = true;
    this.flush();
    return this.#writer.openToolCall(id, name);
  }

  append(index: number, piece: string): void {
    this.#writer.append(index, piece);
  }

  close(...part: Parameters<MessageWriter["close"]>): void {
    this.#writer.close(...part);
  }

  opaque(part: OpaqueContent): void {
    this.#writer.opaque(part);
  }

  whole(part: WholeContent): void {
    this.#writer.whole(part);
  }

  describe(facts: Parameters<MessageWriter["describe"]>[0]): void {
    this.#writer.describe(facts);
  }

  done(reason: "stop" | "length" | "toolUse"): void {
    this.#writer.done(reason);
  }

  /** Writes the held text, and the calls in it. */
  settle(isCut: boolean): void {
    const facts = this.#facts;
    this.endSaying();
    // Calls that were cut off are text.
    const found = this.#hasCalls || isCut ? undefined : this.#calls?.take();
    this.flush();
    for (const [place, { name, text }] of (found ?? []).entries()) {
      const contentIndex = this.#writer.openToolCall(facts.callId(), this.#declaredName(name));
      facts.proof.add({ wireId: "", place, contentIndex, hasArguments: true, isClosed: true });
      this.#writer.append(contentIndex, text);
      this.#writer.close(contentIndex);
    }
  }

  /** Writes the held text as plain text or thinking. */
  flush(): void {
    this.#filter.flush();
    this.#text.flush();
    this.#writer.endSaying();
  }

  #declaredName(name: string): string {
    return fromWireName(name, this.#facts.toolNames, nameLimits.nameLength);
  }
}
