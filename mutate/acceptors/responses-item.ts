/** One output item of a Responses answer: its parts, its arguments, and their copies. */
import { asList, asObject, asText, must, type Doubt, type HeldCall, type Json } from "./verdict.ts";

export interface Part {
  readonly type: string;
  text: string;
  isDone: boolean;
}

/** For an event `response.<kind>.<step>` about text: the list and the type of its part. */
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
  readonly #doubt: Doubt;
  #begun: Json;
  readonly #parts = { content: new Map<number, Part>(), summary: new Map<number, Part>() };
  /** The arguments of a call; undefined until a delta or a copy arrived. */
  #arguments: string | undefined;
  readonly #allParts: Part[];
  #areArgumentsDone = false;
  #isBegun = false;
  /** Parts that started, by list and index. Parts without text are in no list yet. */
  readonly #begunParts = new Set<string>();
  isDone = false;

  /**
   * `begun` is the item's start event, or else what else is known of it. `parts` are the parts of
   * all items, in the order in which they first had text.
   */
  constructor(begun: Json, doubt: Doubt, parts: Part[] = []) {
    this.#begun = begun;
    this.#doubt = doubt;
    this.#allParts = parts;
  }

  get id(): unknown {
    return this.#begun["id"];
  }

  get type(): unknown {
    return this.#begun["type"];
  }

  get isBegun(): boolean {
    return this.#isBegun;
  }

  get #isCall(): boolean {
    return this.type === "function_call";
  }

  get #text(): string {
    return this.#texts("output_text");
  }

  get hasRefusal(): boolean {
    return this.#texts("refusal") !== "";
  }

  /** Whether the item has neither text nor a call. Its text may still come. */
  get isEmpty(): boolean {
    if (this.type !== "message") return !this.#isCall;
    const copies = asList(this.#begun["content"]).map((part) => textOf(asObject(part)));
    const own = [...this.#parts.content.values()].map(({ text }) => text);
    return [...copies, ...own].every((text) => text === "");
  }

  /** Returns whether a copy belongs to this item: by its ids, or else by its text. */
  isOf(copy: Json): boolean {
    if (copy["type"] !== this.type) return false;
    const { call_id: callId } = this.#begun;
    if (this.#isCall && callId !== undefined) return copy["call_id"] === callId;
    if (this.#isCall) return copy["id"] === this.id;
    return (
      copy["id"] === this.id ||
      asList(copy["content"])
        .map((part) => textOf(asObject(part)))
        .join("") ===
        this.#text + this.#texts("refusal")
    );
  }

  get call(): HeldCall | undefined {
    if (!this.#isCall) return undefined;
    const { call_id: id, name } = this.#begun;
    return { id: asText(id), name: asText(name), arguments: this.#arguments ?? "" };
  }

  /** Handles `response.output_item.added`. */
  begin(item: Json): void {
    must(item["type"] === this.type, "an item of another type than it began");
    this.#begun = item;
    this.#isBegun = true;
  }

  /** Returns whether the item may occur in an answer that ended this way. */
  isSound(isCompleted: boolean): boolean {
    return this.isDone || !isCompleted || this.isEmpty || this.#areArgumentsDone;
  }

  /** Handles an event between the item's start and its end. */
  take(type: string, data: Json): void {
    const [, kind = "", step] = /^response\.(\w+)\.(\w+)/.exec(type) ?? [];
    const list = listsOf[kind] ?? partsOf[kind]?.list;
    if (kind === "function_call_arguments" || list !== undefined)
      must(!this.isDone, "an event of an item that is done");
    if (kind === "function_call_arguments") return this.#takeArguments(step, data);
    if (list === undefined) return;
    const index = Number(data["content_index"] ?? data["summary_index"]);
    const part = partsOf[kind] === undefined ? asObject(data["part"]) : data;
    const partType = partsOf[kind]?.type ?? asText(part["type"]);

    must(
      this.type === (isThought(partType) ? "reasoning" : "message"),
      "text of another kind of item",
    );
    const text = step === "delta" ? asText(data["delta"]) : textOf(part);
    const own = this.#partAt(list, index, partType, step, text);
    if (own === undefined) return;
    if (step === "delta") own.text += text;
    else if (step === "done") {
      this.#complete(own, text);
      own.isDone = true;
    }
  }

  /** Handles `response.output_item.done`, or else the item's copy in the output. */
  finish(item: Json): void {
    if (this.isDone) {
      this.#doubt("an item that is done twice");
      return this.compare(item);
    }
    this.isDone = true;
    if ([...this.#parts.content.values()].some((part) => !part.isDone))
      this.#doubt("a part without an end");
    // The last arguments count.
    if (this.#isCall) this.#replaceArguments(item["arguments"]);
    const { call_id: callId, name } = this.#begun;
    this.#begun = {
      ...item,
      ...this.#begun,
      call_id: callId || item["call_id"],
      name: name || item["name"],
    };
    this.compare(item);
  }

  /** Compares a copy of the item with what arrived. */
  compare(item: Json): void {
    const { type, call_id: callId, name } = this.#begun;
    must(item["type"] === type, "an item of another type than it began");
    if (this.#isCall) {
      must(item["call_id"] === callId && item["name"] === name, "a call with another id or name");
      must(asText(callId) !== "" && asText(name) !== "", "a call without an id or a name");
      must(item["arguments"] === this.#arguments, "arguments that differ between two copies");
    }
    if (type !== "message") return;
    const given = asList(item["content"]).map(asObject);
    const parts = [...this.#parts.content.values()].filter(({ text }) => text !== "");
    const copies = given.filter((part) => textOf(part) !== "");
    if (given.length === 0 && parts.length > 0) return this.#doubt("a message whose copy is empty");
    must(copies.length >= parts.length, "a message whose copy is not its deltas");
    if (copies.length > parts.length) this.#doubt("a message whose text was not streamed");
    for (const [n, copy] of copies.entries()) {
      const part = parts[n] ?? { type: asText(copy["type"]), text: "", isDone: true };
      must(part.type === copy["type"], "a message whose copy is not its deltas");
      this.#complete(part, textOf(copy));
      if (parts[n] === undefined) this.#add("content", this.#parts.content.size + n, part);
    }
  }

  #texts(type: string): string {
    const parts = [...this.#parts.content.values()];
    return parts.map((part) => (part.type === type ? part.text : "")).join("");
  }

  /** Completes a text. Deltas may lack the end of the text, but nothing else. */
  #complete(part: Part, copy: string): void {
    if (copy === part.text || copy === "") return;
    if (isThought(part.type)) return this.#doubt("a thought that is not its deltas");
    if (copy.trim() === part.text.trim() && !copy.startsWith(part.text))
      return this.#doubt("a text with other blanks around it");
    must(copy.startsWith(part.text), "a text that is not its deltas");
    this.#doubt("a text whose end was not streamed");
    part.text = copy;
  }

  #takeArguments(step: string | undefined, data: Json): void {
    must(this.#isCall, "arguments of an item that is not a call");
    if (step === "delta") {
      must(!this.#areArgumentsDone, "arguments after their end");
      this.#arguments = (this.#arguments ?? "") + asText(data["delta"]);
    }
    if (step === "done") {
      this.#areArgumentsDone = true;
      this.#replaceArguments(data["arguments"]);
    }
  }

  /**
   * Replaces the arguments by a complete copy, which takes precedence. Servers without deltas send
   * the arguments in the first copy; GitHub Copilot encrypts its deltas.
   */
  #replaceArguments(copy: unknown): void {
    if (this.#arguments !== undefined && copy !== this.#arguments)
      this.#doubt("arguments whose copy is not their deltas");
    this.#arguments = asText(copy);
  }

  /**
   * Returns the part that an event belongs to, once it has text. Proxies leave out the start and
   * end of parts, and number them arbitrarily.
   */
  #partAt(
    list: "content" | "summary",
    index: number,
    type: string,
    step: string | undefined,
    text: string,
  ): Part | undefined {
    const parts = this.#parts[list];
    const known = parts.get(index);
    const place = `${list} ${index}`;
    const isBegun = this.#begunParts.has(place);
    const isAlone = [...parts.values()].every(({ isDone }) => isDone);
    if (step === "added" ? isBegun || !isAlone : !isBegun)
      this.#doubt("parts that are not consecutive");
    this.#begunParts.add(place);
    if (known?.isDone === true && text !== "" && !isThought(type))
      must(step !== "delta", "text of a part that is done");
    must(known === undefined || known.type === type, "text of another kind of part");
    if (text === "") return known;
    return known ?? this.#add(list, index, { type, text: "", isDone: false });
  }

  #add(list: "content" | "summary", index: number, part: Part): Part {
    this.#parts[list].set(index, part);
    this.#allParts.push(part);
    return part;
  }
}

function isThought(partType: string): boolean {
  return partType === "summary_text" || partType === "reasoning_text";
}

/** Returns the text of a part or of an event. */
export function textOf({ text, refusal }: Json = {}): string {
  return asText(text ?? refusal);
}
