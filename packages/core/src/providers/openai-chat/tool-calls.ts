/**
 * Assembles tool calls from deltas. A call is identified by its index, else by its id, else it is
 * the last open call. A new call needs a new id with a name, or a name after complete arguments.
 */
// Q031 to Q050
import { asNumber, asRecord, asText } from "../../json-value.ts";
import type { MessageWriter } from "../../llm/writer.ts";
import type { ReaderFacts } from "../protocol.ts";
import { toWireName } from "../tool-names.ts";
import { OpenCall } from "./open-call.ts";
import { nameLimits } from "./request.ts";

/** One entry of `delta.tool_calls`, reduced to the fields in use. */
interface CallDelta {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly fragment: string;
}

export type CallWriter = Pick<MessageWriter, "append" | "openToolCall" | "close">;

export class ToolCallAssembler {
  readonly #writer: CallWriter;
  readonly #facts: ReaderFacts;
  readonly #calls: OpenCall[] = [];
  /** The last call, and the last call for each index, each id, and each pair of them. */
  #latest: OpenCall | undefined;
  readonly #known = new Map<string, OpenCall>();
  /** Calls with a name but without a part in the message. */
  readonly #named = new Set<OpenCall>();
  /** The declared names, by their names on the wire. */
  readonly #declared: ReadonlyMap<string, string>;

  constructor(writer: CallWriter, facts: ReaderFacts) {
    this.#writer = writer;
    this.#facts = facts;
    this.#declared = new Map(
      facts.toolNames.map((name) => [toWireName(name, nameLimits.nameLength), name]),
    );
  }

  get count(): number {
    return this.#calls.length;
  }

  /** Adds one entry of `delta.tool_calls`. */
  add(wire: Record<string, unknown>): void {
    const fn = asRecord(wire.function);
    const latest = this.#latest;
    // The usual case: a delta of the open call.
    if (
      latest &&
      latest.place === wire.index &&
      fn.arguments &&
      !(wire.id || fn.name || wire.extra_content || latest.isNamedAgain) &&
      typeof fn.arguments === "string" &&
      latest.contentIndex !== undefined
    ) {
      latest.append(fn.arguments);
      return this.#writer.append(latest.contentIndex, fn.arguments);
    }
    const name = asText(fn.name);
    const delta = {
      index: asIndex(wire.index),
      id: asText(wire.id), // Q038, Q039
      name: name && this.#undecorated(name),
      fragment: this.#fragment(fn.arguments),
    };
    const { extra_content: extra } = wire;
    // Go servers send an empty call if there is none.
    if (!(delta.id || name || delta.fragment || extra)) return;
    const known = this.#calls.length;
    const call = this.#callOf(delta);
    const isKnown = known === this.#calls.length;
    const isAgain =
      (delta.id !== "" && call.wireId === delta.id) || (name !== "" && call.name !== "");
    if (delta.id && !call.wireId) this.#learnId(call, delta.id);
    if (name) this.#noteName(call, delta.name);
    if (call.name && call.contentIndex === undefined) this.#named.add(call);
    if (extra) call.thoughtSignature ||= asText(asRecord(asRecord(extra).google).thought_signature);
    // A name may arrive in pieces (Q043). It is complete when no other declared name starts with
    // it, or when arguments follow.
    if (call.name && (delta.fragment || this.#isWholeName(call.name))) this.#open(call);
    if (!delta.fragment) return;
    if (!isKnown) call.begin(delta.fragment);
    else if (isAgain) call.restate(delta.fragment);
    else call.append(delta.fragment);
    if (call.contentIndex !== undefined) this.#writer.append(call.contentIndex, delta.fragment);
  }

  /** Starts the calls of another choice. Its indexes and ids are unrelated to earlier ones. */
  nextChoice(): void {
    this.#latest = undefined;
    this.#known.clear();
  }

  #isWholeName(name: string): boolean {
    if (this.#declared.size === 0) return true;
    if (!this.#declared.has(name)) return false;
    return ![...this.#declared.keys()].some((other) => other !== name && other.startsWith(name));
  }

  #fragment(args: unknown): string {
    return typeof args === "object" && args !== null
      ? JSON.stringify(this.#facts.exactly(args))
      : asText(args); // Q046
  }

  /** Removes template fragments around a declared name. */
  // Q070
  #undecorated(name: string): string {
    const bare = name.replace(/^(?:functions\.|default_api:)|(?:<\|.*|:\d+)$/g, "");
    return this.#declared.has(bare) ? bare : name;
  }

  /** Closes all calls, in the order in which they started. Called when the answer is complete. */
  close(): void {
    const { proof } = this.#facts;
    for (const call of this.#calls) {
      if (call.name === "" && call.wireId === "")
        proof.contradict("the stream had a piece for a call that had not begun");
      if (call.isCovered && (call.name === "" || !call.isComplete))
        proof.contradict("the stream began a call within another");
      if (call.isBegunAgain) proof.contradict("the stream began a call twice");
      call.name ||= "unnamed"; // still reported, so that the model learns of it (Q045)
      this.#writer.close(this.#open(call), {
        text: call.finalText,
        thoughtSignature: call.thoughtSignature || undefined,
      });
    }
  }

  /** Returns the call that a delta continues, or a new one. */
  #callOf(delta: CallDelta): OpenCall {
    const { index, id, name, fragment } = delta;
    // With an index, only calls of that index are candidates: the last one, unless an id says
    // otherwise.
    const sameId = id ? this.#known.get(keyOf(index, id)) : undefined;
    const last = sameId ?? (index === undefined ? this.#latest : this.#known.get(keyOf(index)));
    if (!last) return this.#start(delta);
    let isNew: boolean;
    if (sameId) {
      // One id for several calls without an index: a complete call, then another name.
      isNew =
        index === undefined && last.name !== name && this.#declared.has(name) && last.isComplete;
    } else if (!name) {
      // An id that changes with every delta does not start a new call (Q037).
      isNew = last.isNamedAgain && /^\s*\{/.test(fragment);
    } else if (!id) isNew = this.#isNext(last, delta);
    // A new id with a name starts a new call (Q033), unless it repeats the name of the last one and
    // continues its arguments.
    else isNew = last.name !== name || !last.hasText || last.isComplete || !/^[^{]/.test(fragment);
    if (!isNew) return last;
    if (index !== undefined) last.isCovered = true;
    const call = this.#start(delta);
    if (!name) call.name = last.name;
    return call;
  }

  /**
   * Returns whether a name without an id starts another call. Otherwise it repeats or completes the
   * name of this one.
   */
  // Q042, Q043
  #isNext(call: OpenCall, { name, fragment }: CallDelta): boolean {
    if (!call.name) return false;
    // The name is still growing.
    if (!call.hasText && name.startsWith(call.name) && call.name !== name) return false;
    if (call.name === name) {
      // After complete arguments, the same name may start another call. The next piece decides.
      call.isNamedAgain = call.isComplete && call.text !== "{}";
      return call.isNamedAgain && fragment.trim() !== "";
    }
    return (this.#declared.has(call.name) && this.#declared.has(name)) || call.isComplete;
  }

  /** Opens the call's part in the message, and writes the arguments that came before its name. */
  // Q044
  #open(call: OpenCall): number {
    if (call.contentIndex === undefined) {
      this.#named.delete(call);
      call.contentIndex = this.#writer.openToolCall(
        call.id,
        this.#declared.get(call.name) ?? call.name,
      );
      this.#writer.append(call.contentIndex, call.text);
    }
    return call.contentIndex;
  }

  #start({ index, id }: CallDelta): OpenCall {
    // Calls appear in the message in the order in which they started.
    for (const earlier of [...this.#named].toSorted((a, b) => a.order - b.order))
      this.#open(earlier);
    const call = new OpenCall(index, this.#facts.callId(id), this.#calls.length);
    this.#facts.proof.add(call);
    this.#calls.push(call);
    this.#latest = call;
    if (index !== undefined) this.#known.set(keyOf(index), call);
    if (id) this.#learnId(call, id);
    return call;
  }

  #learnId(call: OpenCall, id: string): void {
    call.wireId = id;
    for (const index of [undefined, call.place]) this.#known.set(keyOf(index, id), call);
  }

  /** Records a name. Names arrive whole, repeated or, rarely, in pieces. */
  #noteName(call: OpenCall, name: string): void {
    if (call.name === name) return;
    if (call.contentIndex !== undefined)
      this.#facts.proof.contradict("the stream changed the name of a call", name);
    else if (call.name === "" || this.#declared.has(name)) call.name = name;
    else if (this.#declared.has(call.name + name) || !this.#declared.has(call.name))
      call.name += name;
  }
}

function keyOf(index: number | undefined, id = ""): string {
  return `${index} ${id}`;
}

function asIndex(value: unknown): number | undefined {
  const number = asNumber(value); // Q035
  return Number.isInteger(number) ? number : undefined;
}
