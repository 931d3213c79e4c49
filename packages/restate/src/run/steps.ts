/** The steps of a run: calls of the model and of tools. */
import type { Effects, StepAbout, StepResult, ToolStep, ToolStepResult } from "@bowline/core";
import { BowlineError, isBowlineError } from "@bowline/core";
import { toJson, unknownOutcome, unwritable, type EntryBody } from "@bowline/core/session";
import type { Adoptions, StepOwner } from "./adoptions.ts";
import type { Journal } from "./journal.ts";
import type { SessionLog } from "./session-log.ts";
import type { Transcript } from "./transcript.ts";

export interface StepsParts {
  readonly runId: string;
  readonly journal: Journal;
  readonly log: SessionLog;
  readonly transcript: Transcript;
  readonly adoptions: Adoptions;
  readonly owner: StepOwner;
  /** Results of tools above this many bytes of JSON are kept in the session, not in the journal. */
  readonly maxResultBytes: number;
  /** Reads a result that was kept in the session, by its sequence number. */
  readonly load: (seq: number) => Promise<ToolStepResult>;
}

/** The journal's record of a step. */
type StepRecord<T> =
  | { readonly result: T }
  /** The entry with the result. */
  | { readonly seq: number };

export class Steps {
  readonly #parts: StepsParts;
  /** The attempts that recorded the intents of tools, by the calls' keys. */
  readonly #startedBy = new Map<string, number>();

  constructor(parts: StepsParts) {
    this.#parts = parts;
  }

  /** Records the answer and the intents of its calls, before the tools start. */
  async begin(calls: readonly ToolStep[]): Promise<void> {
    const { runId, journal, log, transcript } = this.#parts;
    for (const { kind: _, ...call } of calls) {
      const intent: EntryBody = { type: "tool_intent", runId, ...call };
      transcript.add(intent, `${call.idempotencyKey}:intent`);
    }
    const items = transcript.take();
    // The key is that of the run, the turn and the call. Call ids alone may be reused by servers.
    const name = `begin:${calls[0]?.idempotencyKey.slice(runId.length + 1) ?? ""}`;
    const by = await journal.record(name, async () => {
      await log.append(items);
      return log.epoch;
    });
    for (const { idempotencyKey } of calls) this.#startedBy.set(idempotencyKey, by);
  }

  readonly step: Effects["step"] = async <T extends StepResult>(
    name: string,
    fn: () => Promise<T>,
    about: StepAbout,
  ): Promise<T> => {
    const { runId, journal, log, transcript, adoptions } = this.#parts;
    const items = about.kind === "model" ? transcript.take() : [];
    const key = `${runId}:${name}`;
    const live: { result?: T } = {};
    const result = await journal.record(
      name,
      async (): Promise<StepRecord<T>> => {
        await log.append(items);
        const done = (await this.#run(key, fn, about)) as T;
        if (about.kind === "model") return { result: done };
        live.result = toJsonResult(done as StepResult as ToolStepResult) as StepResult as T;
        return this.#keptApart(name, about, live.result);
      },
      async (record): Promise<T> => {
        adoptions.forget(key);
        if ("result" in record) return record.result;
        return live.result ?? ((await this.#parts.load(record.seq)) as StepResult as T);
      },
    );
    this.#addUsage(name, result);
    return result;
  };

  /** Runs a step, takes over a running one, or tells that it is unknown whether a tool ran. */
  #run(key: string, fn: () => Promise<StepResult>, about: StepAbout): Promise<StepResult> {
    const { adoptions, log, owner } = this.#parts;
    const mayRun =
      about.kind === "model" ||
      about.replay === "safe" ||
      adoptions.has(key) ||
      this.#startedBy.get(about.idempotencyKey) === log.epoch;
    if (mayRun) return adoptions.run(key, owner, fn);
    const unknown: ToolStepResult = unknownOutcome(about);
    return Promise.resolve(unknown);
  }

  /** Writes a large result to the session, and returns the reference to it. */
  async #keptApart<T extends StepResult>(
    name: string,
    about: ToolStep,
    result: T,
  ): Promise<StepRecord<T>> {
    const { runId, log, maxResultBytes } = this.#parts;
    if (Buffer.byteLength(JSON.stringify(result)) <= maxResultBytes) return { result };
    const { toolCallId, idempotencyKey } = about;
    const { isError } = result as StepResult as ToolStepResult;
    // The attempt is part of the key: the journal knows one result, and another attempt's differs.
    const key = `${runId}:${name}:result:${log.epoch}`;
    const body = {
      type: "tool_result",
      runId,
      toolCallId,
      idempotencyKey,
      result,
      isError,
    } as const;
    const [entry] = await log.append([{ key, body }]);
    if (entry === undefined)
      throw new BowlineError("internal_error", "The session returned no entry for a result.");
    return { seq: entry.seq };
  }

  /** Records usage that no message carries. */
  #addUsage(name: string, { usage, nested }: StepResult): void {
    const { runId, transcript } = this.#parts;
    if (usage !== undefined && Object.keys(usage).length > 0)
      transcript.add({ type: "usage", runId, usage }, `${runId}:${name}:usage`);
    if (nested !== undefined && Object.keys(nested.usage).length > 0)
      transcript.add({ type: "usage", runId, usage: nested.usage }, `${runId}:${name}:nested`);
  }
}

/** Returns a result that JSON can represent. One that it cannot is replaced: the tool ran. */
function toJsonResult(done: ToolStepResult): ToolStepResult {
  try {
    return JSON.parse(toJson(done)) as ToolStepResult;
  } catch (error) {
    if (!isBowlineError(error)) throw error;
    return unwritable(done, error);
  }
}
