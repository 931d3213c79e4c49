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

export interface QuestionsParts {
  readonly runId: string;
  readonly journal: Journal;
  /** Writes the entries of the run that are not written yet. */
  readonly write: (name: string) => Promise<void>;
  /** Finds the answer that the database has. With `isClosing`, it takes none from then on. */
  readonly find: (name: string, isClosing: boolean) => Promise<AnswerInput | undefined>;
}

export class Questions {
  readonly #runId: string;
  readonly #journal: Journal;
  readonly #write: QuestionsParts["write"];
  readonly #find: QuestionsParts["find"];
  /** The requests of questions that are not open yet. */
  readonly #requests = new Map<string, Request>();
  /** Settles when the last request is written. */
  #written: Promise<void> = Promise.resolve();

  constructor({ runId, journal, write, find }: QuestionsParts) {
    this.#runId = runId;
    this.#journal = journal;
    this.#write = write;
    this.#find = find;
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
    const end = name.startsWith(DEADLINE)
      ? await this.#end(name, undefined, signal, until)
      : await this.#ask(name, signal, until);
    if ("answer" in end) return end.answer as T;
    const text = end.code === "timeout" ? "There was no answer in time." : "The wait was aborted.";
    throw new BowlineError(end.code, text);
  }

  /**
   * Waits for a person, whose answer is in the database before the engine hears of it. An answer that the
   * engine has no wait for yet is found here.
   */
  async #ask(name: string, signal?: AbortSignal, until?: number): Promise<WaitEnd> {
    // Until then, a person could not read what is asked.
    await this.#request(name).written;
    this.#requests.delete(name);
    const journal = this.#journal;
    const { context } = journal;
    const { id: awakeableId, handle } = context.awakeable(name);
    const limit = until !== undefined && { until };
    const open: OpenQuestion = { awakeableId, runId: this.#runId, ...limit };
    context.set(questionKey(name), open);
    // When this step is recorded, the engine has the state. A later answer resolves the wait, and an
    // earlier one is found by the next step.
    await journal.record(`open:${name}`, () => Promise.resolve());
    const early = await journal.record(`answer:${name}`, () => this.#find(name, false));
    const end =
      early === undefined ? await this.#end(name, handle, signal, until) : this.#read(early, until);
    context.clear(questionKey(name));
    if (!("code" in end) || end.code !== "timeout") return end;
    // An answer that was given in time counts, also if no process could pass it on.
    const late = await journal.record(`late:${name}`, () => this.#find(name, true));
    return late === undefined ? end : this.#read(late, until);
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
