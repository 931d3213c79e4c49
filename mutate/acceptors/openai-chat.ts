/**
 * OpenAI's Chat Completions, by its reference: chunks of one choice (n is 1), a finish reason once
 * and behind all content, `[DONE]`. Where compatible servers differ and say so themselves, the
 * stream is doubtful.
 */
import { readEvents, type WireEvent } from "../event-stream.ts";
import { ChatCalls } from "./chat-calls.ts";
import {
  asList,
  asObject,
  asText,
  isObject,
  judge,
  must,
  parseObject,
  type Held,
  type Json,
  type Verdict,
} from "./verdict.ts";

const endings: ReadonlyMap<unknown, Held["ending"]> = new Map([
  ["stop", "complete"],
  ["tool_calls", "complete"],
  ["function_call", "complete"],
  ["length", "cut"],
  ["content_filter", "failed"],
  // OpenRouter's word for an upstream that failed.
  ["error", "failed"],
]);

export function acceptOpenaiChat(body: Uint8Array): Verdict {
  return judge((doubt) => new ChatStream(doubt).read(body));
}

class ChatStream {
  readonly #doubt: (reason: string) => void;
  readonly #calls: ChatCalls;
  #text = "";
  #hasRefusal = false;
  #reason: unknown;
  #ending: Held["ending"] = "complete";
  /** Snowflake's chunks have no field for a finish reason, so its answers end without one. */
  #hasReasonField = false;
  readonly #chunkIds = new Set<string>();

  constructor(doubt: (reason: string) => void) {
    this.#doubt = doubt;
    this.#calls = new ChatCalls(doubt);
  }

  read(body: Uint8Array): Held {
    for (const event of readEvents(body)) {
      if (event.data === "[DONE]") return this.#end(true);
      if (event.isCut) this.#doubt("the last event lacks its empty line");
      if (event.isCut && !isWhole(event)) {
        must(this.#reason !== undefined, "ends within an event");
        break;
      }
      const chunk = parseObject(event.data);
      if (chunk["error"] != null) return this.#failed();
      this.#identify(chunk);
      for (const choice of asList(chunk["choices"]).map(asObject)) {
        if (choice["error"] != null) return this.#failed();
        this.#choose(choice);
      }
    }
    return this.#end(false);
  }

  /**
   * "Each chunk has the same ID." Foundry Local, LiteLLM and llama.cpp made one for each chunk;
   * Azure's first chunk has an empty one.
   */
  #identify({ id }: Json): void {
    if (typeof id !== "string" || id === "") return;
    this.#chunkIds.add(id);
    if (this.#chunkIds.size > 1) this.#doubt("chunks of several ids");
  }

  #choose(choice: Json): void {
    const { index = 0, delta, finish_reason: reason } = choice;
    if ("finish_reason" in choice) this.#hasReasonField = true;
    // Proxies in front of Claude put its text and its calls into choices of their own.
    if (index !== 0) this.#doubt("a choice that was not asked for");
    const hasContent = this.#add(asObject(delta));
    // SenseNova and NVIDIA send a last piece behind the reason.
    if (hasContent && this.#reason !== undefined) this.#doubt("content behind the finish reason");
    if (reason == null || reason === "") return;
    const ending = endings.get(reason);
    must(ending !== undefined, "a finish reason that is not known");
    must(this.#reason === undefined || this.#reason === reason, "a second finish reason");
    [this.#reason, this.#ending] = [reason, ending];
  }

  /** Whether the delta has anything of the answer. */
  #add({ content, refusal, tool_calls: calls, function_call: legacy }: Json): boolean {
    const text = textOf(content);
    this.#text += text;
    if (asText(refusal) !== "") this.#hasRefusal = true;
    for (const call of asList(calls)) this.#calls.add(asObject(call));
    if (isObject(legacy)) this.#calls.addLegacy(legacy);
    return text !== "" || asText(refusal) !== "" || asList(calls).length > 0 || isObject(legacy);
  }

  #end(isDone: boolean): Held {
    const reason = this.#reason;
    if (!isDone) this.#doubt("ends without [DONE]");
    if (reason === undefined) {
      const isPlain = !this.#hasReasonField && this.#chunkIds.size === 0 && this.#calls.isEmpty;
      must(isDone && isPlain && this.#text !== "", "ends without a finish reason");
    }
    const ending = this.#hasRefusal ? "failed" : this.#ending;
    if (reason === "tool_calls" || reason === "function_call")
      must(!this.#calls.isEmpty, "a finish reason that promises a call, without one");
    return { text: this.#text, calls: this.#calls.whole(ending), ending };
  }

  #failed(): Held {
    return { text: this.#text, calls: [], ending: "failed" };
  }
}

/** Whether only the empty line behind it is missing. */
function isWhole({ data }: WireEvent): boolean {
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}

/** Mistral's content is a list of parts when the model thinks. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return asList(content)
    .map(asObject)
    .map(({ type, text }) => (type === "text" ? asText(text) : ""))
    .join("");
}
