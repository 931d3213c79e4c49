/**
 * Reads Chat Completions of servers that put thinking and calls into the text instead of their
 * fields.
 */
// Q087, Q088, Q069
import type { MessageWriter } from "../../llm/writer.ts";
import type { ProtocolReader, ReaderFacts } from "../protocol.ts";
import { CompatibleExtras } from "./extras.ts";
import { ChatReader } from "./response.ts";
import { TaggedWriter, type TextDialect } from "./tagged-writer.ts";

export type { TextDialect } from "./tagged-writer.ts";

export function createTaggedReader(
  dialect: TextDialect,
  writer: MessageWriter,
  facts: ReaderFacts,
): ProtocolReader {
  const { thinkTags, textCalls } = dialect;
  if (thinkTags === undefined && textCalls === undefined)
    return new ChatReader(writer, facts, new CompatibleExtras(writer));
  const tagged = new TaggedWriter(dialect, writer, facts);
  const reader = new ChatReader(tagged, facts, new CompatibleExtras(tagged));
  /** Flushes held text if the work throws, so that the failed message keeps all content. */
  const keeping = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      tagged.flush();
      throw error;
    }
  };
  return {
    event: (data, name) => keeping(() => reader.event(data, name)),
    done: () => keeping(() => reader.done()),
    end: () => keeping(() => reader.end()),
  };
}
