/**
 * Assembles tool calls from deltas. Identity of a call: its index, then its id, then "the last open call"; a new call needs a
 * new id together with a name, or a name that comes after complete arguments (Q031 to Q050).
 */
import type { MessageWriter } from "../../llm/writer.ts";
import { parseToolArguments } from "../../llm/tool-arguments.ts";
import type { ReaderFacts } from "../protocol.ts";
import { fromWireName, toWireName } from "../tool-names.ts";
import { nameLimits } from "./request.ts";

interface OpenCall {
  readonly index: number | undefined;
  id: string;
  name: string;
  /** The arguments, joined from `fragments` of them. */
  text: string;
  fragments: number;
  /** The last fragment while each one so far began with the one before: a server may send snapshots (Q050). */
  snapshot: string | undefined;
  thoughtSignature: string | undefined;
  /** The part's place in the message, once its name is known. */
  contentIndex: number | undefined;
}

export class ToolCallAssembler {
  readonly #writer: MessageWriter;
  readonly #facts: ReaderFacts;
  readonly #calls: OpenCall[] = [];
  /** Declared names, as the request gave them. */
  readonly #declared: ReadonlySet<string>;

  constructor(writer: MessageWriter, facts: ReaderFacts) {
    this.#writer = writer;
    this.#facts = facts;
    this.#declared = new Set(facts.toolNames.map((name) => toWireName(name, nameLimits.nameLength)));
  }

  get count(): number {
    return this.#calls.length;
  }

  /** One entry of `delta.tool_calls`. */
  add(delta: Record<string, unknown>): void {
    const fn = asRecord(delta.function);
    const id = asText(delta.id);
    const name = asText(fn.name);
    const fragment = argumentsFragment(fn.arguments);
    const call = this.#resolve(asIndex(delta.index), id, name, fragment) ?? this.#start(asIndex(delta.index), id);
    if (name !== undefined) this.#name(call, name);
    call.thoughtSignature ??= asText(asRecord(asRecord(delta.extra_content).google).thought_signature);
    // A name may come in pieces (Q043): it is whole when it is a declared one, or when arguments follow.
    const whole = this.#declared.size === 0 || this.#isDeclared(call.name) || fragment !== "";
    if (call.name !== "" && whole) this.#open(call);
    if (fragment !== "") this.#append(call, fragment);
  }

  /** The old single-call form (Q068). */
  addLegacy(delta: Record<string, unknown>): void {
    this.add({ index: 0, function: delta });
  }

  /** The answer is complete: every call is closed, in the order in which they began. */
  close(): void {
    for (const call of this.#calls) {
      if (call.name === "") call.name = "unnamed"; // still reported, so that the model hears of it (Q045)
      const contentIndex = this.#open(call);
      const { thoughtSignature } = call;
      this.#writer.closeToolCall(contentIndex, {
        text: finalText(call),
        ...(thoughtSignature !== undefined && { thoughtSignature }),
      });
    }
  }

  #resolve(
    index: number | undefined,
    id: string | undefined,
    name: string | undefined,
    fragment: string,
  ): OpenCall | undefined {
    const last = this.#calls.at(-1);
    if (index !== undefined) {
      const call = this.#calls.findLast((candidate) => candidate.index === index);
      if (call === undefined) return undefined;
      if (name === undefined) return call; // an id that changes on every delta is no new call (Q037)
      if (id !== undefined && id !== call.id) return undefined; // one index for all calls (Q033)
      return id === undefined && this.#isNext(call, name, fragment) ? undefined : call;
    }
    if (id !== undefined) {
      const call = this.#calls.findLast((candidate) => candidate.id === id);
      if (call !== undefined) return call;
      return name === undefined ? last : undefined;
    }
    if (name === undefined || last === undefined) return last; // Q032
    return this.#isNext(last, name, fragment) ? undefined : last;
  }

  /** Whether a name without an id begins another call rather than repeating this one's (Q042). */
  #isNext(call: OpenCall, name: string, fragment: string): boolean {
    if (call.name === "") return false;
    if (call.text === "")
      return call.name !== name && this.#isDeclared(call.name) && !this.#isDeclared(call.name + name);
    return fragment !== "" && parseToolArguments(call.text).error === undefined && call.text !== "{}";
  }

  /** Gives the call its place in the message, with the arguments that came before its name (Q044). */
  #open(call: OpenCall): number {
    if (call.contentIndex === undefined) {
      call.contentIndex = this.#writer.openToolCall(
        call.id,
        fromWireName(call.name, this.#facts.toolNames, nameLimits.nameLength),
      );
      this.#writer.append(call.contentIndex, call.text);
    }
    return call.contentIndex;
  }

  #start(index: number | undefined, id: string | undefined): OpenCall {
    // Calls stand in the message in the order in which they began.
    for (const earlier of this.#calls) if (earlier.name !== "") this.#open(earlier);
    const taken = id !== undefined && this.#calls.some((call) => call.id === id); // Q040
    const call: OpenCall = {
      index,
      id: id === undefined || taken ? this.#facts.createId() : id,
      name: "",
      text: "",
      fragments: 0,
      snapshot: "",
      thoughtSignature: undefined,
      contentIndex: undefined,
    };
    this.#calls.push(call);
    return call;
  }

  #name(call: OpenCall, name: string): void {
    if (call.contentIndex !== undefined || call.name === name) return;
    // Names come whole, repeated or, rarely, in pieces (Q042, Q043).
    if (call.name === "" || this.#isDeclared(name)) call.name = name;
    else if (this.#isDeclared(call.name + name) || !this.#isDeclared(call.name)) call.name += name;
  }

  #append(call: OpenCall, fragment: string): void {
    // A placeholder object before the real arguments (Q049).
    call.text = call.text === "{}" && fragment.startsWith("{") ? fragment : call.text + fragment;
    call.fragments++;
    if (call.snapshot !== undefined) call.snapshot = fragment.startsWith(call.snapshot) ? fragment : undefined;
    if (call.contentIndex !== undefined) this.#writer.append(call.contentIndex, fragment);
  }

  #isDeclared(name: string): boolean {
    return this.#declared.has(name);
  }
}

/** The joined text, or the last snapshot when only that is valid. */
function finalText(call: OpenCall): string {
  const { text, snapshot, fragments } = call;
  if (fragments < 2 || snapshot === undefined || parseToolArguments(text).error === undefined) return text;
  return parseToolArguments(snapshot).error === undefined ? snapshot : text;
}

function argumentsFragment(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : ""; // Q046
}

function asIndex(value: unknown): number | undefined {
  const number = typeof value === "string" && value !== "" ? Number(value) : value; // Q035
  return typeof number === "number" && Number.isInteger(number) ? number : undefined;
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined; // Q038, Q039
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
