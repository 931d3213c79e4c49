/**
 * Waits for answers of people and for moments. While a run waits for nothing else, no process needs
 * to run. The limit of a wait is part of it, and the engine decides which came first.
 */
import { BowlineError, type WaitOptions } from "@bowline/core";
import type { AnswerInput, OpenQuestion } from "../wire.ts";
import { questionKey } from "../wire.ts";
import type { Wait } from "../engine/pump.ts";
import type { Journal } from "./journal.ts";

/** How a wait ended. */
type WaitEnd = { readonly answer: AnswerInput } | { readonly code: "timeout" | "aborted" };

/** The loop's name for the end of its time budget. No one answers it. */
const DEADLINE = "deadline:";

/** Settles when the entry of a question is written. */
interface Request {
  readonly written: Promise<void>;
  readonly resolve: (written: Promise<void>) => void;
}

export class Questions {
  readonly #runId: string;
  readonly #journal: Journal;
  readonly #write: (name: string) => Promise<void>;
  /** The requests of questions that are not open yet. */
  readonly #requests = new Map<string, Request>();
  /** Settles when the last request is written. */
  #written: Promise<void> = Promise.resolve();

  /** `write` writes the entries of the run that are not written yet. */
  constructor(runId: string, journal: Journal, write: (name: string) => Promise<void>) {
    this.#runId = runId;
    this.#journal = journal;
    this.#write = write;
  }

  /**
   * Writes the request, which the loop emits after it has begun to wait. One after the other, so that
   * the entries keep their order.
   */
  asked(name: string): void {
    const written = this.#written.then(() => this.#write(name));
    this.#written = written.catch(() => {}); // the wait rejects with it
    this.#request(name).resolve(written);
  }

  #request(name: string): Request {
    const known = this.#requests.get(name);
    if (known !== undefined) return known;
    let resolve: Request["resolve"] = () => {};
    const written = new Promise<void>((settle) => (resolve = settle));
    const request = { written, resolve };
    this.#requests.set(name, request);
    return request;
  }

  async waitFor<T>(name: string, { signal, until }: WaitOptions = {}): Promise<T> {
    const isDeadline = name.startsWith(DEADLINE);
    if (!isDeadline) {
      // Until then, a person could not read what is asked.
      await this.#request(name).written;
      this.#requests.delete(name);
    }
    const { context } = this.#journal;
    const question = isDeadline ? undefined : context.awakeable(name);
    if (question !== undefined) {
      const open: OpenQuestion = {
        awakeableId: question.id,
        runId: this.#runId,
        ...(until !== undefined && { until }),
      };
      context.set(questionKey(name), open);
    }
    const end = await this.#end(name, question?.handle, signal, until);
    if (question !== undefined) context.clear(questionKey(name));
    if ("answer" in end) return end.answer as T;
    const text = end.code === "timeout" ? "There was no answer in time." : "The wait was aborted.";
    throw new BowlineError(end.code, text);
  }

  async #end(
    name: string,
    handle: ReturnType<Journal["context"]["awakeable"]>["handle"] | undefined,
    signal: AbortSignal | undefined,
    until: number | undefined,
  ): Promise<WaitEnd> {
    const journal = this.#journal;
    const waits: Wait<WaitEnd>[] = [];
    if (handle !== undefined)
      waits.push(journal.add(handle, (value) => this.#read(value as AnswerInput, until)));
    if (until !== undefined) {
      // By the system's time, which goes on while no attempt runs. The engine records the moment.
      const ms = Math.max(0, until - journal.time());
      const late = (): WaitEnd => {
        journal.advance(until);
        return { code: "timeout" };
      };
      waits.push(journal.add(journal.context.sleep(`until:${name}`, ms), late));
    }
    let release = (): void => {};
    const aborted = new Promise<WaitEnd>((resolve) => {
      const abort = (): void => resolve({ code: "aborted" });
      if (signal?.aborted) abort();
      signal?.addEventListener("abort", abort, { once: true });
      release = () => signal?.removeEventListener("abort", abort);
    });
    // These are plain promises. The engine's own are with the pump.
    const end = await Promise.race([...waits.map(({ result }) => result), aborted]);
    release();
    for (const { drop } of waits) drop();
    return end;
  }

  #read(answer: AnswerInput, until: number | undefined): WaitEnd {
    const { at } = answer;
    if (until !== undefined && at > until) {
      this.#journal.advance(until);
      return { code: "timeout" };
    }
    this.#journal.advance(at);
    return { answer };
  }
}
