/**
 * Function calls to tool calls. A call comes whole in one part, or streamed: named in its first
 * part, then in parts without a name. Equal calls are two calls. Calls without an id get one.
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
  /** Whether that became its id. */
  readonly hasId: boolean;
  readonly streamed: PartialArguments;
  /** Arguments that came in one piece: their text. */
  whole: string | undefined;
  hasStreamed: boolean;
  signature: string;
}

export class ToolCallAssembler {
  readonly #writer: MessageWriter;
  readonly #facts: ReaderFacts;
  /** Calls of which more is to come. */
  readonly #open = new Set<OpenCall>();
  readonly #openById = new Map<string, OpenCall>();
  #newest: OpenCall | undefined;

  constructor(writer: MessageWriter, facts: ReaderFacts) {
    this.#writer = writer;
    this.#facts = facts;
  }

  /** One `functionCall`, with the signature of its part. */
  add(wire: Json, signature: string): void {
    const name = asText(wire.name);
    const id = asText(wire.id);
    const pieces = list(this.#facts.exactly(field(wire, "partialArgs"))).filter(isRecord);
    const isEmpty = name === "" && id === "" && pieces.length === 0 && isNothing(wire.args);
    const call =
      this.#continued(name, id, pieces.length > 0) ?? (isEmpty ? undefined : this.#start(name, id));
    if (call === undefined) return; // the end of a call that had ended
    if (call.name === "") this.#facts.proof.contradict("the stream had a piece for none");
    call.signature ||= signature;
    const isLast = field(wire, "willContinue") !== true;
    for (const piece of pieces) this.#takePiece(call, piece);
    this.#takeWhole(call, wire.args, isLast);
    call.hasArguments ||= isLast || call.hasStreamed || call.whole !== undefined;
    if (isLast) this.#close(call);
  }

  /**
   * The answer is complete: calls whose last part went missing end here, with what came of their
   * arguments.
   */
  // Q203
  close(): void {
    for (const call of this.#open) this.#close(call);
  }

  /**
   * The call that a part goes on with. A name that is repeated with a piece of the arguments begins
   * no other call.
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
      place: this.#facts.proof.count, // equal calls are two (Q201)
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

  /** Missing arguments are none, and so is the placeholder of a call that streams them. */
  // Q202
  #takeWhole(call: OpenCall, args: unknown, isLast: boolean): void {
    if (args === undefined || args === null) return;
    const isPlaceholder = isNothing(args) && (!isLast || call.hasStreamed);
    if (!isPlaceholder)
      call.whole = typeof args === "string" ? args : JSON.stringify(this.#facts.exactly(args));
  }

  #takePiece(call: OpenCall, piece: Json): void {
    // Pieces behind whole arguments, and not of them: nobody can say what the whole is.
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
      this.#facts.proof.contradict("the stream gave arguments that do not follow each other");
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
