/** The message that a page shows of a run: its steps, and the chunks for a page that joins. */
import type { UIAddedPart, UIDataChunk, UIMessageChunk, UIUserPart } from "./chunk.ts";
import type { UIStreamSettings } from "./options.ts";
import type { ShownApproval, ShownCall } from "./shown-call.ts";
import { ShownStep, type ShownData, type ShownPart } from "./shown-step.ts";

/** A message that was added to the run while it worked. */
interface ShownSteering {
  readonly kind: "steering";
  readonly id: string;
  readonly parts: readonly (UIUserPart | UIAddedPart)[];
}

type Item = ShownStep | ShownSteering;

/** An approval that the run has asked for. */
interface AskedApproval {
  readonly call: ShownCall;
  readonly approval: ShownApproval;
  readonly isOpen: boolean;
}

export class ShownMessage {
  readonly #settings: UIStreamSettings;
  readonly items: Item[] = [];
  /** Each approval with its call, and the index of its step among the items. */
  readonly #asked = new Map<
    string,
    { readonly call: ShownCall; readonly approval: ShownApproval; readonly item: number }
  >();
  /** The data that has an id, by its name and id. */
  readonly #data = new Map<string, ShownData>();
  /** The ids of all calls. */
  readonly #callIds = new Set<string>();
  /** Undefined before the first event. */
  runId: string | undefined;
  /** The last chunks. Undefined while the run goes on. */
  end: readonly UIMessageChunk[] | undefined;
  /** The chunks of a step that {@link step} had to open. */
  readonly opened: UIMessageChunk[] = [];

  constructor(settings: UIStreamSettings) {
    this.#settings = settings;
  }

  /** Whether the run has ended. */
  get isOver(): boolean {
    return this.end !== undefined;
  }

  /** Whether the run waits for an answer that the page can give. */
  get isAsking(): boolean {
    return !this.isOver && [...this.#asked.values()].some(({ call }) => call.isAsking);
  }

  /** Number of approvals asked for so far. */
  get asked(): number {
    return this.#asked.size;
  }

  approval(approvalId: string): AskedApproval | undefined {
    const asked = this.#asked.get(approvalId);
    if (asked === undefined) return undefined;
    const { call, approval } = asked;
    return { call, approval, isOpen: !this.isOver && call.isAsking };
  }

  /** Remembers that the last step's call needs approval. */
  ask(call: ShownCall, approval: ShownApproval): void {
    this.#asked.set(approval.approvalId, { call, approval, item: this.items.length - 1 });
  }

  start(): UIMessageChunk[] {
    const { runId } = this;
    return runId === undefined
      ? []
      : [{ type: "start", messageId: this.#settings.messageId ?? runId }];
  }

  /** Returns the chunks for a page that has nothing of the message. */
  replay(): UIMessageChunk[] {
    return [
      ...this.start(),
      ...this.items.flatMap((item) => itemChunks(item)),
      ...(this.end ?? []),
    ];
  }

  /**
   * Returns the chunks for a page that has the message up to where these approvals were asked for.
   * That step is sent again, because the page shows it without the calls that `pause` took out.
   */
  replayAfter(approvalIds: readonly string[]): UIMessageChunk[] {
    if (this.runId === undefined) return []; // the first event begins the message
    const lastStep = this.items.findLastIndex(({ kind }) => kind === "step");
    const known = approvalIds.flatMap((id) => this.#asked.get(id)?.item ?? []);
    const from = known.length > 0 ? Math.max(...known) : lastStep;
    const [step, ...later] = this.items.slice(Math.max(from, 0));
    return [
      ...this.start(),
      { type: "reset-step" },
      ...(step ? itemChunks(step).filter(({ type }) => type !== "start-step") : []),
      ...later.flatMap((item) => itemChunks(item)),
      ...(this.end ?? []),
    ];
  }

  /**
   * Returns the chunks that end a response while the run waits for approval. The client posts an
   * answer once every call of its last step is settled or answered, so that step may not show calls
   * that are neither: they are taken out, and shown again by `replayAfter`. The requests come last,
   * because a step that is sent again would undo what the person clicked in the meantime.
   */
  pause(): UIMessageChunk[] {
    const step = this.step();
    const shown = step.parts.filter((part) => part.kind !== "call" || part.mayWait);
    const isWhole = shown.length === step.parts.length;
    return [
      ...(isWhole ? [] : ([{ type: "reset-step" }, ...step.replay(shown)] as const)),
      ...step.calls.flatMap((call) => call.request()),
      { type: "finish-step" },
      { type: "finish", finishReason: "tool-calls" },
    ];
  }

  /** Returns the last step. Opens one if there is none. */
  step(): ShownStep {
    const last = this.items.at(-1);
    if (last?.kind === "step") return last;
    this.opened.push(...this.openStep());
    return this.items.at(-1) as ShownStep;
  }

  openStep(): UIMessageChunk[] {
    const closed = this.closeStep();
    const port = {
      settings: this.#settings,
      runId: this.runId ?? "",
      newCallId: (callId: string) => this.#newCallId(callId),
      forget: (parts: readonly ShownPart[]) => this.#forget(parts),
    };
    this.items.push(new ShownStep(port, this.items.length));
    return [...closed, { type: "start-step" }];
  }

  closeStep(): UIMessageChunk[] {
    const last = this.items.at(-1);
    if (last?.kind !== "step" || !last.isOpen) return [];
    last.isOpen = false;
    return [{ type: "finish-step" }];
  }

  steer(parts: ShownSteering["parts"], seq: number): UIMessageChunk[] {
    const closed = this.closeStep();
    const steering: ShownSteering = { kind: "steering", id: `${this.runId ?? ""}:${seq}`, parts };
    this.items.push(steering);
    return [...closed, ...itemChunks(steering)];
  }

  /** Adds data to the last step, or replaces data of the same name and id. */
  addData(chunk: UIDataChunk): void {
    if (chunk.transient) return;
    const key = dataKey(chunk);
    const known = key === undefined ? undefined : this.#data.get(key);
    if (known) {
      known.chunk = chunk;
      return;
    }
    const part: ShownData = { kind: "data", chunk };
    this.step().parts.push(part);
    if (key !== undefined) this.#data.set(key, part);
  }

  /** Returns the open call of a run. Ids may repeat in later answers. */
  callOf(about: { readonly runId: string; readonly toolCallId: string }): ShownCall | undefined {
    const last = this.items.at(-1);
    if (last?.kind !== "step") return undefined;
    const { runId, toolCallId: callId } = about;
    return last.callsOf({ runId, callId }).findLast(({ isSettled }) => !isSettled);
  }

  /** Returns all calls, in order. */
  calls(): ShownCall[] {
    return this.items.flatMap((item) => (item.kind === "step" ? item.calls : []));
  }

  #newCallId(callId: string): string {
    let id = callId;
    for (let count = 2; this.#callIds.has(id); count++) id = `${callId}#${count}`;
    this.#callIds.add(id);
    return id;
  }

  #forget(parts: readonly ShownPart[]): void {
    for (const part of parts) {
      if (part.kind === "call") this.#callIds.delete(part.names.id);
      const key = part.kind === "data" ? dataKey(part.chunk) : undefined;
      if (key !== undefined) this.#data.delete(key);
    }
  }
}

function dataKey({ type, id }: UIDataChunk): string | undefined {
  return id === undefined ? undefined : JSON.stringify([type, id]);
}

function itemChunks(item: Item): UIMessageChunk[] {
  if (item.kind === "steering") return steeringChunks(item);
  return [
    { type: "start-step" },
    ...item.replay(),
    ...(item.isOpen ? [] : [{ type: "finish-step" } as const]),
  ];
}

/** The client takes texts and files only as parts of such a message, so what was added follows. */
function steeringChunks({ id, parts }: ShownSteering): UIMessageChunk[] {
  const own = parts.filter((part) => part.type !== "data-added");
  const added = parts.filter((part) => part.type === "data-added");
  return [
    ...(own.length > 0 ? [{ type: "steering-message", id, parts: own } as const] : []),
    ...added.map((part, index) => ({ ...part, id: `${id}:${index}` })),
  ];
}
