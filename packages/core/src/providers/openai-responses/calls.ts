/**
 * Reads function calls: their names and ids, their final arguments, and the wrapper that holds
 * several calls.
 */
import { asText, toText } from "../../json-value.ts";
import { parseToolArguments } from "../../llm/tool-arguments.ts";
import type { ReaderFacts } from "../protocol.ts";
import { fromWireName } from "../tool-names.ts";
import { nameLimits } from "./input.ts";
import type { Part, PartWriter } from "./parts.ts";
import { itemId, toSignature } from "./signature.ts";

type Json = Record<string, unknown>;

export class CallReader {
  readonly #parts: PartWriter;
  readonly #facts: ReaderFacts;
  #isCut = false;

  constructor(parts: PartWriter, facts: ReaderFacts) {
    this.#parts = parts;
    this.#facts = facts;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  /** Starts a call. `place` is its index among the items, if the server numbers them. */
  begin(raw: Json, place: string | number | undefined): Part {
    const part = this.#parts.begin("toolCall");
    part.place = place;
    this.#facts.proof.add(part);
    this.learn(part, raw);
    return part;
  }

  /** Records the name when it is known, which opens the call. A wrapper waits for its end. */
  learn(part: Part, raw: Json): void {
    if (
      part.name !== "" ||
      typeof raw.name !== "string" ||
      raw.name === "" ||
      this.#isWrapper(raw.name)
    )
      return;
    this.#name(part, raw.name, raw);
    this.#parts.settle();
  }

  /**
   * Records the complete arguments that the server sent. Empty ones do not replace streamed ones.
   */
  complete(part: Part, args: unknown): void {
    part.hasArguments ||= args !== undefined;
    part.whole = this.#textOf(args) || part.whole;
  }

  /** Returns whether a finished call has the arguments that the server repeats at the end. */
  hasSaid(part: Part, raw: Json): boolean {
    const [said, own] = [this.#textOf(raw.arguments), part.whole ?? this.#parts.textOf(part)];
    return said.trim() === "" || this.#isWrapper(asText(raw.name)) || areEqual(said, own);
  }

  /**
   * Ends a call. `begun` is the item as it started, `ended` as it ended. The arguments of `begun`
   * count if no others came. `isEnd` is false if the item's end is missing.
   */
  finish(part: Part, ended: Json, begun: Json, isEnd: boolean): void {
    const raw = { ...begun, ...ended };
    this.learn(part, raw);
    // Arguments in the first event are complete.
    part.isClosed ||= isEnd || (part.length === 0 && this.#textOf(begun.arguments) !== "");
    if (isEnd) this.complete(part, ended.arguments);
    if (part.length === 0) part.whole ??= this.#textOf(begun.arguments) || undefined;
    part.hasArguments ||= part.length > 0 || part.whole !== undefined;
    if (!isEnd && asText(raw.name) + asText(raw.call_id) === "")
      this.#facts.proof.contradict("the stream had a piece for a call that had not begun");
    if (raw.status === "incomplete") this.#isCut = true;
    const uses = part.name === "" ? toolUses(part.whole ?? part.held) : [];
    if (uses.length > 0) return this.#expand(part, raw, uses);
    // Still reported, so that the model learns of it (Q045).
    if (part.name === "") this.#name(part, asText(raw.name) || "unnamed", raw);
    part.signature = toSignature({
      id: itemId(raw.id, "fc_"),
      caller: isProgram(raw.caller) ? raw.caller : undefined,
      namespace: raw.namespace,
      computer: raw.computer,
    });
    this.#parts.end(part);
  }

  /** Expands a wrapper into its calls. The first call takes the wrapper's place and id. */
  // Q199
  #expand(part: Part, raw: Json, uses: readonly ToolUse[]): void {
    for (const [index, { name, args }] of uses.entries()) {
      const { place, hasArguments, isClosed } = part;
      const call = index === 0 ? part : this.begin({}, `${String(place)}.${index}`);
      this.#name(call, name, index === 0 ? raw : {});
      Object.assign(call, { whole: args, hasArguments, isClosed });
      this.#parts.end(call);
    }
  }

  #name(part: Part, name: string, raw: Json): void {
    part.wireId = asText(raw.call_id);
    part.id = this.#facts.callId(part.wireId || asText(raw.id)); // Q194
    part.name = fromWireName(name, this.#facts.toolNames, nameLimits.nameLength);
  }

  #textOf(args: unknown): string {
    return typeof args === "object" && args !== null
      ? JSON.stringify(this.#facts.exactly(args))
      : asText(args);
  }

  #isWrapper(name: string): boolean {
    return /^(?:multi_tool_use[._])?parallel$/.test(name) && !this.#facts.toolNames.includes(name);
  }
}

/** Returns whether two argument texts have the same value. */
function areEqual(one: string, other: string): boolean {
  return one === other || toText(parseToolArguments(one)) === toText(parseToolArguments(other));
}

interface ToolUse {
  readonly name: string;
  /** JSON text. */
  readonly args: string;
}

/** Returns the calls in a wrapper's arguments, or an empty list unless all are valid. */
function toolUses(text: string): ToolUse[] {
  const { tool_uses: list } = parseToolArguments(text).arguments;
  const uses = (Array.isArray(list) ? list : []).map((use) => {
    const { recipient_name: recipient, parameters } = (use ?? {}) as Json;
    return {
      name: asText(recipient).replace(/^functions\./, ""),
      args: JSON.stringify(parameters) ?? "",
    };
  });
  return uses.every(({ name }) => name !== "") ? uses : [];
}

/**
 * Returns whether the caller is a program on the server, which then gets the result, and not the
 * model.
 */
function isProgram(caller: unknown): boolean {
  return typeof (caller as Json | null | undefined)?.caller_id === "string";
}
