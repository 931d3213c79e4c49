/** Chat Completions chunks to a message. Validates only what it uses, so an odd field never costs its siblings (Q076). */
import { BowlineError } from "../../errors.ts";
import type { MessageWriter } from "../../llm/writer.ts";
import { errorOfEnvelope } from "../../transport/http-error.ts";
import type { ProtocolReader, ReaderFacts } from "../protocol.ts";
import { ToolCallAssembler } from "./tool-calls.ts";
import { findUsage } from "./usage.ts";

type Json = Record<string, unknown>;

/** Where servers put reasoning; the first that holds text wins, and it goes back under the same name (Q082, Q083). */
const reasoningFields = ["reasoning_content", "reasoning", "reasoning_text", "thinking"] as const;

/** Finish reasons by meaning, case-folded (Q061). An unknown one with complete content is a stop. */
const lengthReasons = new Set(["length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"]);
const filterReasons = new Set([
  "content_filter",
  "safety",
  "sensitive",
  "blocklist",
  "prohibited_content",
  "recitation",
]);
const errorReasons = new Set(["error", "network_error"]);

export class ChatReader implements ProtocolReader {
  readonly #writer: MessageWriter;
  readonly #calls: ToolCallAssembler;
  #choiceIndex: unknown;
  #open: { readonly kind: "text" | "thinking"; readonly index: number } | undefined;
  #finishReason: string | undefined;
  #refused = false;

  constructor(writer: MessageWriter, facts: ReaderFacts) {
    this.#writer = writer;
    this.#calls = new ToolCallAssembler(writer, facts);
  }

  /** `[DONE]` ends the answer, whatever its spacing and case (Q015); what follows is not ours (Q016). */
  sentinel(data: string): boolean {
    if (data.length > 16 || data.trim().toLowerCase() !== "[done]") return false;
    this.#finish();
    return true;
  }

  event(chunk: Json, name: string): void {
    if (isErrorEnvelope(chunk, name)) throw errorOfEnvelope(chunk);
    const { message } = this.#writer;
    if (message.responseId === undefined && typeof chunk.id === "string")
      this.#writer.describe({ responseId: chunk.id });
    if (
      message.responseModel === undefined &&
      typeof chunk.model === "string" &&
      chunk.model !== "" &&
      chunk.model !== message.model
    ) {
      this.#writer.describe({ responseModel: chunk.model });
    }
    const choice = this.#choose(chunk.choices);
    const usage = findUsage(chunk, choice);
    if (usage !== undefined) this.#writer.describe({ usage }); // cumulative: the last one counts (Q095)
    if (choice === undefined) return;
    const delta = asRecord(choice.delta) ?? asRecord(choice.message); // Q081
    if (delta !== undefined) this.#delta(delta); // before the finish reason of the same chunk (Q056)
    this.#noteFinish(choice.finish_reason);
  }

  end(): void {
    if (this.#finishReason === undefined) {
      throw new BowlineError("stream_truncated", "The stream ended before the answer was complete.", {
        retryable: true,
      });
    }
    this.#finish();
  }

  /** One answer was asked for; servers that send several get one read (Q074, Q075). */
  #choose(choices: unknown): Json | undefined {
    if (!Array.isArray(choices)) return undefined;
    for (const candidate of choices) {
      const choice = asRecord(candidate);
      if (choice === undefined) continue;
      const index = choice.index ?? 0;
      this.#choiceIndex ??= index;
      if (index === this.#choiceIndex) return choice;
    }
    return undefined;
  }

  #delta(delta: Json): void {
    for (const field of reasoningFields) {
      const text = reasoningText(delta[field]);
      if (text === "") continue;
      this.#write("thinking", text, field);
      break;
    }
    if (typeof delta.content === "string") this.#write("text", delta.content);
    else if (Array.isArray(delta.content)) this.#parts(delta.content);
    if (typeof delta.refusal === "string" && delta.refusal !== "") {
      this.#refused = true;
      this.#write("text", delta.refusal);
    }
    if (Array.isArray(delta.tool_calls) && delta.tool_calls.length > 0) {
      this.#closeOpen();
      for (const call of delta.tool_calls) this.#calls.add(asRecord(call) ?? {});
    }
    const legacy = asRecord(delta.function_call);
    if (legacy !== undefined) {
      this.#closeOpen();
      this.#calls.addLegacy(legacy);
    }
  }

  /** Content as parts: text, thinking, refusal; unknown ones are not ours to show (Q073). */
  #parts(parts: readonly unknown[]): void {
    for (const part of parts) {
      const { type, text, thinking, refusal } = asRecord(part) ?? {};
      if (type === "thinking" || type === "reasoning") this.#write("thinking", reasoningText(thinking ?? text));
      else if (type === "refusal" && typeof refusal === "string") {
        this.#refused = true;
        this.#write("text", refusal);
      } else if (typeof text === "string") this.#write("text", text);
    }
  }

  #write(kind: "text" | "thinking", text: string, field?: string): void {
    if (text === "") return; // no-op, and no reason to open a part (Q072)
    if (this.#open?.kind !== kind) {
      this.#closeOpen();
      this.#open = { kind, index: kind === "text" ? this.#writer.openText() : this.#writer.openThinking(field) };
    }
    this.#writer.append(this.#open.index, text);
  }

  #closeOpen(): void {
    if (this.#open?.kind === "text") this.#writer.closeText(this.#open.index);
    else if (this.#open?.kind === "thinking") this.#writer.closeThinking(this.#open.index);
    this.#open = undefined;
  }

  /** The first meaningful reason wins, except that a failure or a cut overrides (Q060, Q062, Q064). It ends nothing yet (Q057, Q094). */
  #noteFinish(reason: unknown): void {
    if (reason === null || reason === undefined || reason === "") return;
    const text = typeof reason === "string" ? reason : JSON.stringify(reason);
    const folded = text.toLowerCase();
    if (this.#finishReason !== undefined && !errorReasons.has(folded) && !lengthReasons.has(folded)) return;
    this.#finishReason = text;
    this.#writer.describe({ rawStopReason: text });
  }

  #finish(): void {
    const reason = this.#finishReason?.toLowerCase() ?? "";
    if (errorReasons.has(reason)) {
      throw new BowlineError("server_error", `The model's server gave up (finish reason "${this.#finishReason}").`, {
        retryable: true,
      });
    }
    if (filterReasons.has(reason)) {
      throw new BowlineError(
        "content_filtered",
        `A content filter stopped the answer (finish reason "${this.#finishReason}").`,
      );
    }
    if (this.#refused) throw new BowlineError("refusal", "The model refused to answer.");
    this.#closeOpen();
    this.#calls.close();
    if (lengthReasons.has(reason)) return this.#writer.done("length");
    // Complete calls run whatever the benign reason says (Q058, Q059).
    if (this.#calls.count > 0) return this.#writer.done("toolUse");
    if (!this.#writer.started) {
      throw new BowlineError("empty_response", "The model answered with nothing.", { retryable: true });
    }
    this.#writer.done("stop");
  }
}

/** An `error` field wins over choices (Q100); `event: error` is one whatever its shape (Q101, Q102). */
function isErrorEnvelope(chunk: Json, name: string): boolean {
  if (name === "error" || (chunk.error !== undefined && chunk.error !== null)) return true;
  return chunk.choices === undefined && (chunk.object === "error" || chunk.detail !== undefined);
}

/** A string, a list of text parts, or an object that holds one (Q085). */
function reasoningText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(reasoningText).join("");
  const { content, text, summary } = asRecord(value) ?? {};
  return [content, text, summary].find((candidate) => typeof candidate === "string") ?? "";
}

function asRecord(value: unknown): Json | undefined {
  return typeof value === "object" && value !== null ? (value as Json) : undefined;
}
