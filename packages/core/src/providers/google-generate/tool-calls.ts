/**
 * Turns function calls into tool calls. A call arrives whole in one part, or streamed: the first
 * part has the name, the following ones do not. Equal calls are separate calls. A call without an
 * id gets one.
 */
// Q201, Q200
import type { MessageWriter } from "../../llm/writer.ts";
import { isRecord, list, asText } from "../../json-value.ts";
import type { SeenCall } from "../call-proof.ts";
import type { ReaderFacts } from "../protocol.ts";
import { field, type Json } from "./fields.ts";
import { fromGoogleName } from "./names.ts";
import { PartialArguments } from "./partial-arguments.ts";
import { packOrigin } from "./signature.ts";

interface OpenCall extends SeenCall {
  readonly contentIndex: number;
  readonly name: string;
  hasArguments: boolean;
  isClosed: boolean;
  /** Whether the server's id became the call's id. */
  readonly hasId: boolean;
  readonly streamed: PartialArguments;
  /** The text of arguments that arrived in one piece. */
  whole: string | undefined;
  hasStreamed: boolean;
  signature: string;
}

export class ToolCallAssembler {
  readonly #writer: MessageWriter;
  readonly #facts: ReaderFacts;
  /** Calls that are not complete yet. */
  readonly #open = new Set<OpenCall>();
  readonly #openById = new Map<string, OpenCall>();
  #newest: OpenCall | undefined;

  constructor(writer: MessageWriter, facts: ReaderFacts) {
    this.#writer = writer;
    this.#facts = facts;
  }

  /** Reads one `functionCall`, with the signature of its part. */
  add(wire: Json, signature: string): void {
    const name = asText(wire.name);
    const id = asText(wire.id);
    const pieces = list(this.#facts.exactly(field(wire, "partialArgs"))).filter(isRecord);
    const isEmpty = name === "" && id === "" && pieces.length === 0 && isNothing(wire.args);
    const call =
      this.#continued(name, id, pieces.length > 0) ?? (isEmpty ? undefined : this.#start(name, id));
    if (call === undefined) return; // the end of a call that has already ended
    if (call.name === "")
      this.#facts.proof.contradict("the stream had a piece for a call that had not begun");
    call.signature ||= signature;
    const isLast = field(wire, "willContinue") !== true;
    for (const piece of pieces) this.#takePiece(call, piece);
    this.#takeWhole(call, wire.args, isLast);
    call.hasArguments ||= isLast || call.hasStreamed || call.whole !== undefined;
    if (isLast) this.#close(call);
  }

  /**
   * Ends the calls whose last part is missing, with the arguments received so far. Called when the
   * answer is complete.
   */
  // Q203
  close(): void {
    for (const call of this.#open) this.#close(call);
  }

  /**
   * Returns the call that a part continues. A name repeated with a piece of the arguments does not
   * start a new call.
   */
  #continued(name: string, id: string, hasPieces: boolean): OpenCall | undefined {
    const sameId = id === "" ? undefined : this.#openById.get(id);
    if (sameId !== undefined || name === "") return sameId ?? this.#newest;
    return id === "" && hasPieces && name === this.#newest?.name ? this.#newest : undefined;
  }

  #start(name: string, given: string): OpenCall {
    const id = this.#facts.callId(given);
    const call: OpenCall = {
      contentIndex: this.#writer.openToolCall(
        id,
        fromGoogleName(name || "unnamed", this.#facts.toolNames),
      ),
      name,
      wireId: given,
      place: this.#facts.proof.count, // a number, so that equal calls are separate (Q201)
      hasArguments: false,
      isClosed: false,
      hasId: id === given,
      streamed: new PartialArguments(),
      whole: undefined,
      hasStreamed: false,
      signature: "",
    };
    this.#facts.proof.add(call);
    this.#open.add(call);
    if (given !== "") this.#openById.set(given, call);
    this.#newest = call;
    return call;
  }

  /**
   * Takes arguments that arrived in one piece. Missing arguments are empty. Empty arguments of a
   * call that streams them are a placeholder.
   */
  // Q202
  #takeWhole(call: OpenCall, args: unknown, isLast: boolean): void {
    if (args === undefined || args === null) return;
    const isPlaceholder = isNothing(args) && (!isLast || call.hasStreamed);
    if (!isPlaceholder)
      call.whole = typeof args === "string" ? args : JSON.stringify(this.#facts.exactly(args));
  }

  #takePiece(call: OpenCall, piece: Json): void {
    // Pieces after whole arguments: the intended arguments are unknown.
    const isMixed = call.whole !== undefined && !call.hasStreamed;
    const text = isMixed ? call.streamed.fail() : call.streamed.add(piece);
    call.whole = undefined;
    call.hasStreamed = true;
    this.#writer.append(call.contentIndex, text);
  }

  #close(call: OpenCall): void {
    this.#open.delete(call);
    this.#openById.delete(call.wireId);
    if (this.#newest === call) this.#newest = undefined;
    call.isClosed = true;
    const { contentIndex, whole, hasStreamed } = call;
    this.#writer.append(contentIndex, hasStreamed ? call.streamed.end() : (whole ?? ""));
    if (hasStreamed && whole === undefined && call.streamed.isBroken)
      this.#facts.proof.contradict("the stream sent pieces of arguments that do not fit together");
    const thoughtSignature = packOrigin(call.signature, call.hasId);
    this.#writer.close(contentIndex, {
      ...(hasStreamed && whole !== undefined && { text: whole }),
      ...(thoughtSignature !== undefined && { thoughtSignature }),
    });
  }
}

function isNothing(args: unknown): boolean {
  return args === undefined || args === null || (isRecord(args) && Object.keys(args).length === 0);
}
