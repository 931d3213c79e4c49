/** The messages queued for an agent: each is delivered once, in order, and none is lost. */
import type { RunRecord } from "./facts.ts";
import type { Settings } from "./plan.ts";
import type { Report } from "./report.ts";

export type QueueKind = "steering" | "followUp";

interface Queued {
  readonly kind: QueueKind;
  readonly text: string;
  /** `taken`: a hook has it and has not yet given it to the loop, or did so too late. */
  state: "waiting" | "taken" | "seen" | "cleared";
  /** True if the message was returned to the queue after later ones may have been taken. */
  isBack?: boolean;
}

export class QueueWatch {
  readonly #queue: Queued[] = [];
  readonly #settings: Settings;
  readonly #report: Report;

  constructor(settings: Settings, report: Report) {
    this.#settings = settings;
    this.#report = report;
  }

  add(kind: QueueKind, text: string): void {
    this.#queue.push({ kind, text, state: "waiting" });
  }

  clear(): void {
    for (const queued of this.#queue) if (queued.state === "waiting") queued.state = "cleared";
  }

  /** A hook takes messages from the caller's queue. */
  take(messages: readonly { readonly content?: unknown }[]): void {
    for (const queued of this.#find(messages)) queued.state = "taken";
  }

  /** Messages that were too late for the loop are back in the caller's queue. */
  giveBack(messages: readonly { readonly content?: unknown }[]): void {
    for (const queued of this.#find(messages)) {
      if (queued.state !== "taken")
        this.#report("3 queue", `"${queued.text}" was given back, but ${queued.state}`);
      queued.state = "waiting";
      queued.isBack = true;
    }
  }

  #find(messages: readonly { readonly content?: unknown }[]): Queued[] {
    return this.#queue.filter(({ text }) => messages.some(({ content }) => content === text));
  }

  /** There is a steering message that was not yet delivered. */
  get hasSteering(): boolean {
    return this.#queue.some(({ kind, state }) => kind === "steering" && state !== "seen");
  }

  /** The next steering message that the loop can take. */
  get steering(): string | undefined {
    return this.#queue.find(({ kind, state }) => kind === "steering" && state === "waiting")?.text;
  }

  get waiting(): number {
    return this.#queue.filter(({ state }) => state === "waiting").length;
  }

  /**
   * A user message was delivered: one at a time, unless the mode is `all`. Returns its queue.
   * `now`: the latest time at which it was taken.
   */
  seen(content: unknown, run: RunRecord, isAll: boolean, now: number): QueueKind | undefined {
    const index = this.#queue.findIndex(({ text }) => text === content);
    const queued = this.#queue[index];
    if (queued === undefined) return undefined;
    const { kind, state, text } = queued;
    if (state === "seen") this.#report("3 queue", `"${text}" came twice`);
    queued.state = "seen";
    const earlier = this.#queue.slice(0, index);
    if (
      earlier.some(
        (other) => other.kind === kind && other.state === "waiting" && other.isBack !== true,
      )
    ) {
      this.#report("3 queue", `"${text}" came before one that was queued earlier`);
    }
    const mode = kind === "steering" ? this.#settings.steeringMode : this.#settings.followUpMode;
    if (++run.taken[kind] > 1 && mode !== "all" && !isAll) {
      this.#report("3 queue", `two messages of the ${kind} queue came in one turn`);
    }
    if (run.abort !== undefined && run.abort.at < now) {
      this.#report("3 queue", `"${text}" was taken after the abort`);
    }
    return kind;
  }

  /** Takes the transcript of a run whose events were not all read. */
  readLater(messages: readonly { readonly role: string; readonly content?: unknown }[]): void {
    const contents = new Set(
      messages.filter(({ role }) => role === "user").map(({ content }) => content),
    );
    for (const queued of this.#queue) if (contents.has(queued.text)) queued.state = "seen";
  }

  end(): void {
    for (const { text, state, isBack } of this.#queue) {
      if (state === "taken" || (state === "waiting" && isBack !== true))
        this.#report("3 queue", `"${text}" was lost`);
    }
  }
}
