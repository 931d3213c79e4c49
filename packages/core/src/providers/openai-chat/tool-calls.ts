/**
 * Assembles tool calls from deltas. Identity of a call: its index, then its id, then "the last open call"; a new call needs a
 * new id together with a name, or a name that comes after complete arguments (Q031 to Q050).
 */
import { asNumber, asRecord, asText, defined } from "../../json-value.ts";
import type { MessageWriter } from "../../llm/writer.ts";
import type { ReaderFacts } from "../protocol.ts";
import { fromWireName, toWireName } from "../tool-names.ts";
import { appendArguments, createOpenCall, finalArguments, isComplete, type OpenCall } from "./open-call.ts";
import { nameLimits } from "./request.ts";

/** One entry of `delta.tool_calls`, with what is of no use left out. */
interface CallDelta {
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly fragment: string;
}

export interface ToolCallAssembler {
  readonly count: number;
  add(wire: Record<string, unknown>): void;
  close(): void;
}

export function createToolCallAssembler(writer: MessageWriter, facts: ReaderFacts): ToolCallAssembler {
  const calls: OpenCall[] = [];
  /** Declared names, as the request gave them. */
  const declared = new Set(facts.toolNames.map((name) => toWireName(name, nameLimits.nameLength)));
  return {
    get count() {
      return calls.length;
    },
    add,
    close,
  };

  /** One entry of `delta.tool_calls`. */
  function add(wire: Record<string, unknown>): void {
    const fn = asRecord(wire.function);
    const delta = {
      index: asIndex(wire.index),
      id: asText(wire.id) || undefined, // Q038, Q039
      name: undecorated(asText(fn.name)) || undefined,
      fragment: argumentsFragment(fn.arguments),
    };
    const call = continued(delta) ?? start(delta);
    call.wireId ??= delta.id;
    if (delta.name !== undefined) noteName(call, delta.name);
    call.thoughtSignature ||= asText(asRecord(asRecord(wire.extra_content).google).thought_signature) || undefined;
    // A name may come in pieces (Q043): it is whole when it is a declared one, or when arguments follow.
    const whole = declared.size === 0 || declared.has(call.name) || delta.fragment !== "";
    if (call.name !== "" && whole) open(call);
    if (delta.fragment === "") return;
    appendArguments(call, delta.fragment);
    if (call.contentIndex !== undefined) writer.append(call.contentIndex, delta.fragment);
  }

  /** Templates leak into names; what surrounds a declared one goes (Q070). */
  function undecorated(name: string): string {
    const bare = name.replace(/^(?:functions\.|default_api:)/, "").replace(/(?:<\|.*|:\d+)$/, "");
    return declared.has(bare) ? bare : name;
  }

  /** The answer is complete: every call is closed, in the order in which they began. */
  function close(): void {
    for (const call of calls) {
      if (call.name === "") call.name = "unnamed"; // still reported, so that the model hears of it (Q045)
      const { thoughtSignature } = call;
      writer.closeToolCall(open(call), defined({ text: finalArguments(call), thoughtSignature }));
    }
  }

  /** The call that a delta goes on with, or undefined when it begins one. */
  function continued(delta: CallDelta): OpenCall | undefined {
    const { index, id, name, fragment } = delta;
    // With an index, only calls of that index come into question; the last one unless an id says otherwise.
    const candidates = index === undefined ? calls : calls.filter((call) => call.index === index);
    const last = candidates.at(-1);
    const sameId = id === undefined ? undefined : candidates.findLast((call) => call.wireId === id);
    if (sameId !== undefined) return isAnother(sameId, delta) ? undefined : sameId;
    if (last === undefined || name === undefined) return last; // an id that changes on every delta is no new call (Q037)
    if (id === undefined) return isNext(last, delta) ? undefined : last;
    // A new id with a name is a new call (Q033), unless the last one is under way and this repeats its name and goes on.
    const goesOn = last.name === name && last.text !== "" && !isComplete(last) && /^[^{]/.test(fragment);
    return goesOn ? last : undefined;
  }

  /** Whether a server uses one id for several calls without an index: a whole call, then another name. */
  function isAnother(call: OpenCall, { index, name }: CallDelta): boolean {
    return index === undefined && name !== undefined && call.name !== name && declared.has(name) && isComplete(call);
  }

  /** Whether a name without an id begins another call rather than repeating or completing this one's (Q042, Q043). */
  function isNext(call: OpenCall, { name = "", fragment }: CallDelta): boolean {
    if (call.name === "") return false;
    if (call.name === name) return isComplete(call) && call.text !== "{}" && fragment.trim() !== "";
    if (declared.has(call.name)) return declared.has(name) || isComplete(call);
    return call.text !== "" && isComplete(call);
  }

  /** Gives the call its place in the message, with the arguments that came before its name (Q044). */
  function open(call: OpenCall): number {
    if (call.contentIndex === undefined) {
      const name = fromWireName(call.name, facts.toolNames, nameLimits.nameLength);
      call.contentIndex = writer.openToolCall(call.id, name);
      writer.append(call.contentIndex, call.text);
    }
    return call.contentIndex;
  }

  function start({ index, id }: CallDelta): OpenCall {
    // Calls stand in the message in the order in which they began.
    for (const earlier of calls) if (earlier.name !== "") open(earlier);
    const taken = calls.some((call) => call.id === id);
    const call = createOpenCall(index, id, id === undefined || taken ? facts.createId() : id);
    calls.push(call);
    return call;
  }

  /** Names come whole, repeated or, rarely, in pieces. */
  function noteName(call: OpenCall, name: string): void {
    if (call.contentIndex !== undefined || call.name === name) return;
    if (call.name === "" || declared.has(name)) call.name = name;
    else if (declared.has(call.name + name) || !declared.has(call.name)) call.name += name;
  }
}

function argumentsFragment(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : ""; // Q046
}

function asIndex(value: unknown): number | undefined {
  const number = asNumber(value); // Q035
  return Number.isInteger(number) ? number : undefined;
}
