/** Goes through values one by one, to note them or to see that they are those that were noted. */
import type { AssistantContent, Message, UserContent } from "../llm/message.ts";

const object = Symbol("object");
const list = Symbol("list");
const end = Symbol("end");

/** What stands in `values` from `at` on must be the same; behind the last of them it is added. */
export class ValueWalk {
  /** Whether all so far was the same. After that what is added is of no use. */
  isSame = true;
  readonly #values: unknown[];
  #at: number;

  constructor(values: unknown[], at: number) {
    this.#values = values;
    this.#at = at;
  }

  /** What encoders read of a message. Messages that would be encoded otherwise are never the same here. */
  message(message: Message | undefined): void {
    this.#meet(message?.role);
    if (message === undefined) return;
    if (message.role === "assistant") {
      this.#meet(message.stopReason);
      this.#meet(message.api);
      this.#meet(message.provider);
      this.#meet(message.model);
    } else if (message.role === "toolResult") {
      this.#meet(message.toolCallId);
      this.#meet(message.isError);
    }
    const { content } = message;
    if (typeof content === "string") return this.#meet(content);
    for (const part of content) this.#part(part);
    this.#meet(end);
  }

  #part(part: AssistantContent | UserContent): void {
    this.#meet(part.type);
    if (part.type === "text") {
      this.#meet(part.text);
      this.#meet(part.textSignature);
    } else if (part.type === "toolCall") {
      this.#meet(part.id);
      this.#meet(part.name);
      this.#meet(part.thoughtSignature);
      this.value(part.arguments);
    } else this.value(part);
  }

  /** Any value: all of it, and where it begins and ends. */
  value(value: unknown): void {
    if (typeof value !== "object" || value === null) return this.#meet(value);
    if (Array.isArray(value)) {
      this.#meet(list);
      for (const item of value) this.value(item);
    } else {
      this.#meet(object);
      for (const key in value) {
        this.#meet(key);
        this.value((value as Record<string, unknown>)[key]);
      }
    }
    this.#meet(end);
  }

  #meet(value: unknown): void {
    const values = this.#values;
    if (this.#at >= values.length) values.push(value);
    else if (values[this.#at] !== value) this.isSame = false;
    this.#at++;
  }
}
