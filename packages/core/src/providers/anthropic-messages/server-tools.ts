/** Reads what server tools report: their progress, and the sources that they found. */
import { asRecord, asText } from "../../json-value.ts";
import type { SourceContent } from "../../llm/message.ts";
import type { MessageWriter } from "../../llm/writer.ts";
import { sourceOf } from "../source.ts";

type Json = Record<string, unknown>;

/** Follows server tools by their blocks: a call, then its result. */
export class ServerTools {
  readonly #writer: MessageWriter;
  /** The tool of each call, by id. */
  readonly #names = new Map<string, string>();

  constructor(writer: MessageWriter) {
    this.#writer = writer;
  }

  /** A block of the server's has started. */
  start({ type, id, name }: Json): void {
    if (!isCall(type)) return;
    this.#names.set(asText(id), asText(name));
    this.#writer.progress(asText(id), asText(name), "started");
  }

  /** A block of the server's has ended. */
  stop({ type, id: callId, name, tool_use_id: answered, content, is_error: isError }: Json): void {
    if (isCall(type)) return this.#writer.progress(asText(callId), asText(name), "running");
    if (answered === undefined) return;
    const id = asText(answered);
    // The call may be in the paused answer before this one.
    const toolName = this.#names.get(id) ?? asText(type).replace(/_tool_result$/, "");
    const failed = isError === true || asText(asRecord(content).type).endsWith("_error");
    this.#writer.progress(id, toolName, failed ? "failed" : "completed");
  }
}

function isCall(type: unknown): boolean {
  return asText(type).endsWith("_tool_use");
}

/** Returns the source of one citation of a text, or undefined if it names none. */
export function toSource(citation: unknown, textIndex: number): SourceContent | undefined {
  const wire = asRecord(citation);
  return sourceOf({
    place: wire.url ?? wire.source,
    title: wire.title ?? wire.document_title,
    citedText: wire.cited_text,
    textIndex,
  });
}
