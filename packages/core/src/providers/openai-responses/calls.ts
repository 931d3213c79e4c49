/**
 * Function calls: their names and ids, the arguments that count, and the wrapper that holds several
 * of them.
 */
import { asText } from "../../json-value.ts";
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
  readonly #ids = new Set<string>();
  #count = 0;
  #isCut = false;

  constructor(parts: PartWriter, facts: ReaderFacts) {
    this.#parts = parts;
    this.#facts = facts;
  }

  get count(): number {
    return this.#count;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  begin(raw: Json): Part {
    const part = this.#parts.begin("toolCall");
    this.#count++;
    this.learn(part, raw);
    return part;
  }

  /** A call opens when its name is known; the wrapper waits for its end. */
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

  /** The arguments as the server says they are. Nothing does not undo what streamed. */
  complete(part: Part, args: unknown): void {
    part.whole = asArguments(args) || part.whole;
  }

  /**
   * `begun` is the item as it began, and as it ended when no end came: its arguments count when no
   * others came.
   */
  finish(part: Part, ended: Json, begun: Json): void {
    const raw = { ...begun, ...ended };
    this.learn(part, raw);
    if (ended !== begun) this.complete(part, ended.arguments);
    if (part.length === 0) this.complete(part, part.whole ?? begun.arguments);
    if (raw.status === "incomplete") this.#isCut = true;
    const uses = part.name === "" ? toolUses(part.whole ?? part.held) : [];
    if (uses.length > 0) return this.#expand(part, raw, uses);
    if (part.name === "") this.#name(part, asText(raw.name) || "unnamed", raw); // the model must hear of it (Q045)
    part.signature = toSignature({
      id: itemId(raw.id, "fc_"),
      caller: isProgram(raw.caller) ? raw.caller : undefined,
      namespace: raw.namespace,
    });
    this.#parts.end(part);
  }

  /** The calls in the wrapper: the first takes its place and its id (Q199). */
  #expand(part: Part, raw: Json, uses: readonly ToolUse[]): void {
    for (const [index, { name, args }] of uses.entries()) {
      const call = index === 0 ? part : this.begin({});
      this.#name(call, name, index === 0 ? raw : {});
      call.whole = args;
      this.#parts.end(call);
    }
  }

  #name(part: Part, name: string, raw: Json): void {
    part.id = this.#idOf(raw);
    part.name = fromWireName(name, this.#facts.toolNames, nameLimits.nameLength);
  }

  #idOf({ call_id, id }: Json): string {
    let own = asText(call_id) || asText(id); // Q194
    while (own === "" || this.#ids.has(own)) own = this.#facts.createId(); // Q040
    this.#ids.add(own);
    return own;
  }

  #isWrapper(name: string): boolean {
    return /^(?:multi_tool_use[._])?parallel$/.test(name) && !this.#facts.toolNames.includes(name);
  }
}

interface ToolUse {
  readonly name: string;
  /** As JSON. */
  readonly args: string;
}

/** What the wrapper's arguments ask for; nothing unless all of it makes sense. */
function toolUses(text: string): ToolUse[] {
  const { tool_uses: list } = parseToolArguments(text).arguments;
  const uses = (Array.isArray(list) ? list : []).map((use) => {
    const { recipient_name: recipient, parameters } = (use ?? {}) as Json;
    return { name: asText(recipient).replace(/^functions\./, ""), args: asArguments(parameters) };
  });
  return uses.every(({ name }) => name !== "") ? uses : [];
}

/** Who calls, when it is not the model itself: a program on the server, which gets the result. */
function isProgram(caller: unknown): boolean {
  return typeof (caller as Json | null | undefined)?.caller_id === "string";
}

function asArguments(value: unknown): string {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : asText(value);
}
