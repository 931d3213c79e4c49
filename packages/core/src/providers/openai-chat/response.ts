/** Chat Completions chunks to a message. Validates only what it uses, so an odd field never costs its siblings (Q076). */
import { BowlineError } from "../../errors.ts";
import type { Usage } from "../../llm/usage.ts";
import { asRecord, asText, isRecord, list } from "../../json-value.ts";
import type { MessageWriter } from "../../llm/writer.ts";
import { errorOfEnvelope } from "../../transport/http-error.ts";
import { endAnswer, truncated } from "../end-answer.ts";
import type { ProtocolReader, ReaderFacts } from "../protocol.ts";
import { reasoningFields } from "./request.ts";
import { createToolCallAssembler, type CallWriter } from "./tool-calls.ts";
import { findUsage } from "./usage.ts";

type Json = Record<string, unknown>;

/** Finish reasons by meaning (Q061). An unknown one with complete content is a stop. */
const lengthReasons = /^(?:length|max_(?:output_)?tokens|model_context_window_exceeded)$/i;
const filterReasons = /^(?:content_filter|safety|sensitive|blocklist|prohibited_content|recitation)$/i;
const errorReasons = /^(?:error|network_error|abort)$/i;

/** What the answer is written to: a {@link MessageWriter}, or what stands before one. */
export type ChatWriter = CallWriter &
  Pick<MessageWriter, "message" | "started" | "openText" | "openThinking" | "close" | "opaque" | "describe" | "done">;

export function createChatReader(writer: ChatWriter, facts: ReaderFacts): ProtocolReader {
  const calls = createToolCallAssembler(writer, facts);
  let choiceIndex: unknown;
  let usage: Usage = {};
  let open: { readonly kind: "text" | "thinking"; readonly index: number } | undefined;
  let refused = false;
  const details: Json[] = [];
  const answer = writer.message;
  return { event, end, done: finish }; // what follows `[DONE]` is not ours (Q016)

  function event(chunk: Json, name: string): void {
    const choice = choose(chunk.choices);
    const found = findUsage(chunk, choice);
    // Cumulative: what a later chunk says counts, what it leaves out stays (Q095, Q098).
    if (found !== undefined) writer.describe({ usage: (usage = { ...usage, ...found }) });
    if (isErrorEnvelope(chunk, name)) throw errorOfEnvelope(chunk);
    if (asText(chunk.type).startsWith("response.")) {
      throw new BowlineError("unexpected_response", "The server speaks openai-responses here, not openai-chat."); // Q192
    }
    // The first id and model count; an id that changes on the way is no error (Q077).
    const id = asText(chunk.id);
    const model = asText(chunk.model);
    if (id !== "") answer.responseId ??= id;
    if (model !== "" && model !== answer.model) answer.responseModel ??= model;
    if (choice === undefined) return;
    const { delta, message } = choice;
    // A whole `message` stands in for a delta where nothing was streamed, and repeats it where something was (Q079, Q081).
    const whole = writer.started || calls.count > 0 ? undefined : message;
    read(isRecord(delta) ? delta : asRecord(whole)); // before the finish reason of the same chunk (Q056)
    noteFinish(choice.finish_reason);
  }

  function end(): void {
    if (answer.rawStopReason === undefined) throw truncated();
    finish();
  }

  /** One answer was asked for; of a server that sends several, choice 0 is read, or the first there is (Q074, Q075). */
  function choose(choices: unknown): Json | undefined {
    const all = list(choices) as readonly Json[];
    if (choiceIndex === 0 && all[0]?.index === 0) return all[0]; // nearly always
    const known = all.filter(isRecord);
    if (known.length > 0) choiceIndex ??= known.some(({ index = 0 }) => index === 0) ? 0 : known[0]?.index;
    return known.find(({ index = 0 }) => index === choiceIndex);
  }

  function read(delta: Json): void {
    // Looked for one by one only in the few deltas that have any: their names are those of `reasoningFields`.
    const hasAny = Boolean(delta.reasoning_content || delta.reasoning || delta.reasoning_text || delta.thinking);
    const field = hasAny ? reasoningFields.find((known) => reasoningText(delta[known]) !== "") : undefined;
    if (field !== undefined) write("thinking", reasoningText(delta[field]), field);
    noteDetails(list(delta.reasoning_details), field === undefined);
    if (Array.isArray(delta.content)) readParts(delta.content);
    else write("text", asText(delta.content));
    refuse(asText(delta.refusal));
    for (const call of list(delta.tool_calls)) addCall(asRecord(call));
    if (isRecord(delta.function_call)) addCall({ index: 0, function: delta.function_call }); // the old single-call form (Q068)
  }

  function addCall(wire: Json): void {
    closeOpen();
    calls.add(wire);
  }

  /** Signed or encrypted reasoning goes back as it came, its pieces joined (Q086). Its text is shown if no other field has it. */
  function noteDetails(pieces: readonly unknown[], show: boolean): void {
    for (const value of pieces) {
      const piece = asRecord(value);
      if (show) write("thinking", reasoningText(piece));
      const last = details.at(-1);
      if (last === undefined || last.type !== piece.type || last.index !== piece.index || piece.data !== undefined) {
        details.push({ ...piece });
        continue;
      }
      for (const [key, more] of Object.entries(piece)) {
        last[key] = key === "text" || key === "summary" ? asText(last[key]) + asText(more) : more;
      }
    }
  }

  /** Content as parts: text, thinking, refusal; unknown ones are not ours to show (Q073). */
  function readParts(pieces: readonly unknown[]): void {
    for (const part of pieces) {
      const { type, text, thinking, refusal } = asRecord(part);
      if (type === "thinking" || type === "reasoning") write("thinking", reasoningText(thinking ?? text));
      else {
        refuse(asText(refusal));
        write("text", asText(text));
      }
    }
  }

  function refuse(text: string): void {
    if (text !== "") refused = true;
    write("text", text);
  }

  function write(kind: "text" | "thinking", text: string, field?: string): void {
    if (text === "") return; // no-op, and no reason to open a part (Q072)
    if (open?.kind !== kind) {
      closeOpen();
      open = { kind, index: kind === "text" ? writer.openText() : writer.openThinking(field) };
    }
    writer.append(open.index, text);
  }

  function closeOpen(): void {
    if (open !== undefined) writer.close(open.index);
    open = undefined;
  }

  /** The first meaningful reason wins, except that a failure or a cut overrides (Q060, Q062, Q064). It ends nothing yet (Q057, Q094). */
  function noteFinish(reason: unknown): void {
    if (!reason) return;
    const text = typeof reason === "string" ? reason : JSON.stringify(reason);
    if (errorReasons.test(text) || lengthReasons.test(text)) answer.rawStopReason = text;
    else answer.rawStopReason ??= text;
  }

  function finish(): void {
    const reason = answer.rawStopReason ?? "";
    if (errorReasons.test(reason)) {
      throw new BowlineError("server_error", `The model's server gave up (finish reason "${reason}").`, {
        retryable: true,
      });
    }
    if (filterReasons.test(reason)) {
      throw new BowlineError("content_filtered", `A content filter stopped the answer (finish reason "${reason}").`);
    }
    if (refused) throw new BowlineError("refusal", "The model refused to answer.");
    closeOpen();
    if (details.length > 0)
      writer.opaque({ type: "opaque", protocol: "openai-chat", raw: { reasoning_details: details } });
    calls.close();
    endAnswer(writer, facts, lengthReasons.test(reason), calls.count);
  }
}

/** An `error` field wins over choices (Q100); `event: error` is one whatever its shape (Q101, Q102). */
function isErrorEnvelope(chunk: Json, name: string): boolean {
  const { error, choices } = chunk;
  if (error === undefined && choices !== undefined && name === "") return false; // nearly always
  const said = typeof error === "string" ? error !== "" : Object.keys(asRecord(error)).length > 0;
  if (said || name === "error") return true;
  const { object, detail, errors, message, statusCode, code } = chunk;
  const coded = typeof message === "string" && (statusCode ?? code) !== undefined;
  return choices === undefined && (object === "error" || coded || (detail ?? errors) !== undefined);
}

/** A string, a list of text parts, or an object that holds one (Q085). */
function reasoningText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(reasoningText).join("");
  const { content, text, summary } = asRecord(value);
  return [content, text, summary].find((candidate) => typeof candidate === "string") ?? "";
}
