/**
 * Turns generateContent chunks into a message. Any chunk may hold any field or none. Only the end
 * of the body ends the answer.
 */
// Q210
import { BowlineError } from "../../errors.ts";
import { isRecord, list, asRecord, asText } from "../../json-value.ts";
import { noteSource } from "../../llm/message.ts";
import { truncated } from "../../llm/stream.ts";
import type { MessageWriter } from "../../llm/writer.ts";
import { errorOfEnvelope, isError, isErrorObject } from "../../transport/http-error.ts";
import { AnswerEnd, endAnswer } from "../end-answer.ts";
import type { ProtocolReader, ReaderFacts } from "../protocol.ts";
import { field, type Json } from "./fields.ts";
import { mediaOf, withData } from "./media.ts";
import { ServerTools } from "./server-tools.ts";
import { ToolCallAssembler } from "./tool-calls.ts";
import { TokenCounts } from "./usage.ts";

/** The known fields of a text part. */
const partFields = new Set(["text", "thought", "thoughtSignature", "thought_signature"]);

export class GenerateReader implements ProtocolReader {
  readonly #writer: MessageWriter;
  readonly #facts: ReaderFacts;
  readonly #calls: ToolCallAssembler;
  readonly #tools: ServerTools;
  readonly #counts = new TokenCounts();
  readonly #end = new AnswerEnd(/^(?:stop|function_call)$/i);
  #candidateIndex: unknown;
  /** For each other candidate, by index, whether it still lacks a finish reason. */
  readonly #others = new Map<unknown, boolean>();

  constructor(writer: MessageWriter, facts: ReaderFacts) {
    this.#writer = writer;
    this.#facts = facts;
    this.#calls = new ToolCallAssembler(writer, facts);
    this.#tools = new ServerTools(writer);
  }

  event(data: Json, name: string): void {
    const chunk = isRecord(data.response) ? data.response : data; // Q214
    this.#describe(chunk);
    // An error ends the answer (Q213).
    if (name === "error" || isError(chunk.error)) throw errorOfEnvelope(chunk);
    const feedback = chunk.promptFeedback ?? chunk.prompt_feedback;
    if (isRecord(feedback)) this.#noteBlock(feedback);
    const candidate = this.#choose(chunk.candidates);
    if (candidate === undefined) {
      if (isErrorObject(chunk)) throw errorOfEnvelope(chunk);
      return;
    }
    for (const part of list(asRecord(candidate.content).parts))
      if (isRecord(part)) this.#part(part);
    this.#tools.note(candidate);
    this.#noteFinish(candidate);
  }

  end(): void {
    if (this.#end.word === "") throw truncated();
    this.#finish();
  }

  /** Records ids and usage. Token counts are cumulative, so later ones overwrite earlier ones. */
  #describe(chunk: Json): void {
    noteSource(
      this.#writer.message,
      chunk.responseId ?? chunk.response_id,
      chunk.modelVersion ?? chunk.model_version,
    );
    const usage = chunk.usageMetadata ?? chunk.usage_metadata;
    if (isRecord(usage)) this.#writer.describe({ usage: this.#counts.add(usage) });
  }

  /**
   * Throws if the server blocked the prompt. Such a response has no candidates, and is not retried.
   */
  // Q209
  #noteBlock(feedback: Json): void {
    const reason = asText(field(feedback, "blockReason"));
    if (reason === "" || /unspecified$/i.test(reason)) return;
    this.#writer.describe({ rawStopReason: reason });
    const why = quote(field(feedback, "blockReasonMessage"));
    throw new BowlineError("content_filtered", `The server blocked the prompt (${reason})${why}`);
  }

  /**
   * Returns the candidate to read. One was requested; if a server sends several, the first is read.
   */
  #choose(candidates: unknown): Json | undefined {
    const found = list(candidates);
    const [only] = found;
    if (this.#candidateIndex === 0 && found.length === 1 && isRecord(only) && isFirst(only))
      return only; // the usual case
    const known = found.filter(isRecord);
    this.#candidateIndex ??= known.some(isFirst) ? 0 : known[0]?.index;
    const chosen = known.find(({ index = 0 }) => index === this.#candidateIndex);
    for (const other of known) if (other !== chosen) this.#noteOther(other);
    return chosen;
  }

  /**
   * Records another candidate. A real alternative has its own finish reason; a piece of the answer
   * has none.
   */
  #noteOther(other: Json): void {
    const { index, content, finishReason, finish_reason: reason = finishReason } = other;
    const hasParts = list(asRecord(content).parts).length > 0;
    this.#others.set(index, !reason && (hasParts || this.#others.get(index) === true));
  }

  #part(part: Json): void {
    const call = part.functionCall ?? part.function_call;
    const text = asText(part.text);
    const signature = asText(part.thoughtSignature ?? part.thought_signature);
    // A signature alone does not mark a thought (Q205).
    const kind = part.thought === true ? "thinking" : "text";
    if (isRecord(call)) {
      this.#say(kind, text);
      this.#writer.endSaying();
      return this.#calls.add(call, signature);
    }
    if (text === "" && holdsMore(part)) {
      // Code that the server ran and its output, images, and unknown types.
      return this.#opaque(part);
    }
    if (signature === "") return this.#say(kind, text);
    // A part with a signature must be sent back as it is, so it is not joined with others (Q205).
    const isBlank = text.trim() === "";
    if (!isBlank) this.#writer.endSaying();
    this.#say(kind, text);
    if (!isBlank)
      return this.#writer.endSaying(
        kind === "text" ? { textSignature: signature } : { thinkingSignature: signature },
      );
    // Blank text is not replayed, but its signature is.
    const thought = kind === "thinking" && { thought: true };
    this.#opaque({ ...thought, text: "", thoughtSignature: signature });
  }

  #say(kind: "text" | "thinking", text: string): void {
    this.#writer.say(kind, text);
  }

  #opaque(part: Json): void {
    this.#writer.endSaying();
    this.#tools.part(part);
    // Images among thoughts are drafts.
    const media = part.thought === true ? undefined : mediaOf(part);
    const raw = media === undefined ? part : withData(part, "");
    this.#writer.opaque({ type: "opaque", protocol: "google-generate", raw });
    if (media !== undefined) this.#writer.whole(media);
  }

  /**
   * Records the worst finish reason. It does not end the answer yet: proxies repeat it on every
   * chunk.
   */
  // Q211
  #noteFinish(candidate: Json): void {
    const reason = asText(candidate.finishReason ?? candidate.finish_reason);
    if (!this.#end.add(reason, inCommon(reason), quote(field(candidate, "finishMessage")))) return;
    this.#writer.describe({ rawStopReason: reason });
  }

  #noteUses(): void {
    const { uses: providerTools } = this.#tools;
    const { usage } = this.#writer.message;
    if (providerTools) this.#writer.describe({ usage: { ...usage, providerTools } });
  }

  #finish(): void {
    this.#end.check();
    if ([...this.#others.values()].includes(true))
      this.#facts.proof.contradict("another candidate has no finish reason");
    this.#writer.endSaying();
    this.#tools.finish();
    this.#noteUses();
    this.#calls.close();
    endAnswer(this.#writer, this.#facts, this.#end);
  }
}

/**
 * Maps Gemini's finish reasons to the words that all wires share. A long answer that needs another
 * request counts as cut.
 */
// Q207, Q208
function inCommon(reason: string): string {
  if (/^(?:image_|language|model_armor)/i.test(reason)) return "filter";
  if (/^(?:unexpected|too_many|missing)/i.test(reason)) return "malformed";
  return reason.replace(/^continuation$/i, "length");
}

function isFirst({ index = 0 }: Json): boolean {
  return index === 0;
}

function holdsMore(part: Json): boolean {
  return Object.keys(part).some(
    (name) => !partFields.has(name) && (part[name] ?? undefined) !== undefined,
  );
}

/** Returns the server's message, to append to ours. */
function quote(words: unknown): string {
  const text = asText(words).trim();
  return text === "" ? "." : `: ${text.slice(0, 500)}`;
}
