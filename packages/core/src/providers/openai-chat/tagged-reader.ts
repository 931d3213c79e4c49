/**
 * Chat Completions of servers that leave in the text what has fields of its own: thinking (Q087,
 * Q088) and calls (Q069).
 */
import { BowlineError } from "../../errors.ts";
import type { MessageWriter } from "../../llm/writer.ts";
import type { ProtocolReader, ReaderFacts } from "../protocol.ts";
import { fromWireName } from "../tool-names.ts";
import { nameLimits } from "./messages.ts";
import { ChatReader, type ChatWriter } from "./response.ts";
import { createCallFinder, type TextCallFormat } from "./text-calls.ts";
import { createThinkSplitter } from "./think-tags.ts";

export interface TextDialect {
  /** Default: tags are text. */
  readonly thinkTags?: "split" | "open";
  /** Read where tools were declared and no real call came. Default: calls in the text are text. */
  readonly textCalls?: TextCallFormat;
}

export function createTaggedReader(
  dialect: TextDialect,
  writer: MessageWriter,
  facts: ReaderFacts,
): ProtocolReader {
  const { thinkTags, textCalls } = dialect;
  if (thinkTags === undefined && textCalls === undefined) return new ChatReader(writer, facts);
  let hasText = false;
  let wasText = true;
  let hasCalls = false;
  const say = (text: string): void => writer.say("text", text);
  const calls =
    textCalls !== undefined && facts.toolNames.length > 0
      ? createCallFinder(textCalls, isDeclared, say)
      : undefined;
  const text = calls ?? { add: say, flush: () => {} };
  const filter =
    thinkTags === undefined
      ? text
      : createThinkSplitter(thinkTags, {
          think: (thought) => writer.say("thinking", thought),
          say: (said) => text.add(said),
        });
  const tagged: ChatWriter = {
    message: writer.message,
    get started() {
      return writer.started || hasText;
    },
    say(kind, piece, field) {
      if (piece === "") return;
      const isText = kind === "text";
      if (isText !== wasText) endText();
      wasText = isText;
      if (!isText) return writer.say(kind, piece, field);
      hasText = true;
      filter.add(piece);
    },
    endSaying: endText,
    openToolCall(id, name) {
      hasCalls = true;
      flush();
      return writer.openToolCall(id, name);
    },
    append: (index, piece) => writer.append(index, piece),
    close: (index, extra) => writer.close(index, extra),
    opaque: (part) => writer.opaque(part),
    describe: (fields) => writer.describe(fields),
    done,
  };
  const reader = new ChatReader(tagged, facts);
  return {
    event: (data, name) => keeping(() => reader.event(data, name)),
    done: () => keeping(() => reader.done()),
    end: () => keeping(() => reader.end()),
  };

  function isDeclared(name: string): boolean {
    return facts.toolNames.includes(fromWireName(name, facts.toolNames, nameLimits.nameLength));
  }

  /** A failure ends the message with all that came. */
  function keeping<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      flush();
      throw error;
    }
  }

  /** What may be a call is held back further. */
  function endText(): void {
    if (filter !== text) filter.flush();
    writer.endSaying();
  }

  function flush(): void {
    filter.flush();
    text.flush();
    writer.endSaying();
  }

  function done(reason: "stop" | "length" | "toolUse"): void {
    endText();
    const found = hasCalls || reason === "length" ? undefined : calls?.take(); // calls that were cut are text
    flush();
    for (const call of found ?? []) {
      const name = fromWireName(call.name, facts.toolNames, nameLimits.nameLength);
      const index = writer.openToolCall(facts.createId(), name);
      writer.append(index, call.text);
      writer.close(index);
    }
    if (!writer.started) {
      throw new BowlineError("empty_response", "The model answered with nothing.", {
        retryable: true,
      });
    }
    writer.done(found === undefined ? reason : "toolUse");
  }
}
