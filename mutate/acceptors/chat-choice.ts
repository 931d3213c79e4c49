/** One choice of a chat answer: its text, its calls, and its finish reason. */
import { ChatCalls } from "./chat-calls.ts";
import {
  asList,
  asObject,
  asText,
  isObject,
  must,
  type Doubt,
  type Held,
  type HeldCall,
  type Json,
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

export class ChatChoice {
  readonly #doubt: Doubt;
  readonly #calls: ChatCalls;
  #text = "";
  #hasRefusal = false;
  #reason: unknown;
  #hasSecondReason = false;

  constructor(doubt: Doubt) {
    this.#doubt = doubt;
    this.#calls = new ChatCalls(doubt);
  }

  get text(): string {
    return this.#text;
  }

  get hasRefusal(): boolean {
    return this.#hasRefusal;
  }

  get hasCalls(): boolean {
    return !this.#calls.isEmpty;
  }

  get isEmpty(): boolean {
    return this.#text === "" && !this.#hasRefusal && !this.hasCalls;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** Throws for an unknown finish reason. */
  get ending(): Held["ending"] {
    const ending = this.#reason === undefined ? "complete" : endings.get(this.#reason);
    must(ending !== undefined, "an unknown finish reason");
    must(!this.#hasSecondReason, "a second finish reason");
    return ending;
  }

  get promisesCall(): boolean {
    return this.#reason === "tool_calls" || this.#reason === "function_call";
  }

  take({ delta, finish_reason: reason }: Json): void {
    const hasContent = this.#add(asObject(delta));
    // SenseNova and NVIDIA send a last piece after the reason.
    if (hasContent && this.#reason !== undefined) this.#doubt("content after the finish reason");
    if (reason == null || reason === "") return;
    this.#hasSecondReason ||= this.#reason !== undefined && this.#reason !== reason;
    this.#reason ??= reason;
  }

  callsOf(ending: Held["ending"]): HeldCall[] {
    return this.#calls.whole(ending);
  }

  /** Returns whether the delta has any content of the answer. */
  #add({ content, refusal, tool_calls: calls, function_call: legacy }: Json): boolean {
    const text = textOf(content);
    this.#text += text;
    if (asText(refusal) !== "") this.#hasRefusal = true;
    for (const call of asList(calls)) this.#calls.add(asObject(call));
    if (isObject(legacy)) this.#calls.addLegacy(legacy);
    return text !== "" || asText(refusal) !== "" || asList(calls).length > 0 || isObject(legacy);
  }
}

/** Mistral's content is a list of parts if the model thinks. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return asList(content)
    .map(asObject)
    .map(({ type, text }) => (type === "text" ? asText(text) : ""))
    .join("");
}
