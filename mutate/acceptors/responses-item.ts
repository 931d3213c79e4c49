/** One output item of a Responses answer: its parts, its arguments, and their copies. */
import { asList, asObject, asText, must, type HeldCall, type Json } from "./verdict.ts";

interface Part {
  readonly type: string;
  text: string;
  isDone: boolean;
}

/** Of an event `response.<kind>.<step>` about text: the list it is of, and the type of its part. */
const partsOf: { readonly [kind: string]: { list: "content" | "summary"; type: string } } = {
  output_text: { list: "content", type: "output_text" },
  refusal: { list: "content", type: "refusal" },
  reasoning_text: { list: "content", type: "reasoning_text" },
  reasoning_summary_text: { list: "summary", type: "summary_text" },
};
const listsOf: { readonly [kind: string]: "content" | "summary" } = {
  content_part: "content",
  reasoning_summary_part: "summary",
};

export class OutputItem {
  readonly id: unknown;
  readonly #doubt: (reason: string) => void;
  readonly #begun: Json;
  readonly #parts: { content: Part[]; summary: Part[] } = { content: [], summary: [] };
  /** Of a call; undefined until a delta or a copy came. */
  #arguments: string | undefined;
  #areArgumentsDone = false;
  isDone = false;

  constructor(begun: Json, doubt: (reason: string) => void) {
    this.id = begun["id"];
    this.#begun = begun;
    this.#doubt = doubt;
  }

  get #isCall(): boolean {
    return this.#begun["type"] === "function_call";
  }

  /** Whether it is text or a call, and nothing of the server's own. */
  get isAnswer(): boolean {
    return this.#isCall || this.#begun["type"] === "message";
  }

  get text(): string {
    return this.#texts("output_text");
  }

  get hasRefusal(): boolean {
    return this.#texts("refusal") !== "";
  }

  get call(): HeldCall | undefined {
    if (!this.#isCall) return undefined;
    const { call_id: id, name } = this.#begun;
    return { id: asText(id), name: asText(name), arguments: this.#arguments ?? "" };
  }

  /** An event between its beginning and its end. */
  take(type: string, data: Json): void {
    const [, kind = "", step] = /^response\.(\w+)\.(\w+)/.exec(type) ?? [];
    if (kind === "function_call_arguments") return this.#takeArguments(step, data);
    const index = Number(data["content_index"] ?? data["summary_index"]);
    const list = listsOf[kind];
    if (list !== undefined) return this.#takePart(this.#parts[list], index, step, data);
    const of = partsOf[kind];
    if (of === undefined) return;
    const part = this.#parts[of.list][index];
    must(part !== undefined, "text of a part that has not begun");
    must(!part.isDone, "text of a part that is done");
    must(part.type === of.type, "text of another kind of part");
    if (step === "delta") part.text += asText(data["delta"]);
    if (step === "done") must(textOf(data) === part.text, "a text that is not its deltas");
  }

  /** Its `response.output_item.done`. */
  finish(item: Json): void {
    this.isDone = true;
    const { content } = this.#parts;
    const given = asList(item["content"]).map(asObject);
    if (this.#begun["type"] === "message" && content.length === 0 && given.length > 0) {
      this.#doubt("a message whose text was not streamed");
      for (const part of given)
        content.push({ type: asText(part["type"]), text: textOf(part), isDone: true });
    }
    if (content.some((part) => !part.isDone)) this.#doubt("a part that was not ended");
    this.compare(item);
  }

  /** Holds a copy of the item against what came. */
  compare(item: Json): void {
    const { type, call_id: callId, name } = this.#begun;
    must(item["type"] === type, "an item of another type than it began");
    if (this.#isCall) {
      must(item["call_id"] === callId && item["name"] === name, "a call of another id or name");
      must(asText(callId) !== "" && asText(name) !== "", "a call without an id or a name");
      this.#compareArguments(item["arguments"]);
    }
    if (type !== "message") return;
    const given = asList(item["content"]).map(asObject);
    const isSame =
      given.length === this.#parts.content.length &&
      this.#parts.content.every(
        (part, n) => given[n]?.["type"] === part.type && textOf(given[n]) === part.text,
      );
    must(isSame, "a message whose copy is not its deltas");
  }

  #texts(type: string): string {
    return this.#parts.content.map((part) => (part.type === type ? part.text : "")).join("");
  }

  #takeArguments(step: string | undefined, data: Json): void {
    must(this.#isCall, "arguments of an item that is no call");
    must(!this.#areArgumentsDone, "arguments behind their end");
    if (step === "delta") this.#arguments = (this.#arguments ?? "") + asText(data["delta"]);
    if (step === "done") {
      this.#areArgumentsDone = true;
      this.#compareArguments(data["arguments"]);
    }
  }

  /** Servers that send no deltas send the arguments in the first copy. */
  #compareArguments(copy: unknown): void {
    this.#arguments ??= asText(copy);
    must(copy === this.#arguments, "arguments whose copy is not their deltas");
  }

  #takePart(parts: Part[], index: number, step: string | undefined, data: Json): void {
    const part = asObject(data["part"]);
    if (step === "added") {
      must(index === parts.length, "a part whose index is not the next one");
      must(parts.at(-1)?.isDone !== false, "a part that begins within another");
      parts.push({ type: asText(part["type"]), text: textOf(part), isDone: false });
      return;
    }
    const own = parts[index];
    must(own !== undefined, "the end of a part that has not begun");
    must(!own.isDone, "a part that ends twice");
    own.isDone = true;
    must(part["type"] === own.type, "a part of another type than it began");
    must(textOf(part) === own.text, "a part whose copy is not its deltas");
  }
}

function textOf({ text, refusal }: Json = {}): string {
  return asText(text ?? refusal);
}
