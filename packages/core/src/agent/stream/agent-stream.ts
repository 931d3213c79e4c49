/** A run as a stream: its events for any number of readers, its result, and a `Response`. */
import { onAbort, systemClock, type Clock } from "../../clock.ts";
import { BowlineError } from "../../errors.ts";
import type { PromptOptions } from "../agent-options.ts";
import type { Agent } from "../agent.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import type { AgentEvent } from "../contract/event.ts";
import type { RunResult } from "../run/run-result.ts";
import { EventLog } from "./event-log.ts";
import { toResponse, type ResponseOptions } from "./to-response.ts";

/** Deltas are small, and messages are held by the transcript anyway: some MB at most. */
const MAX_HELD_EVENTS = 10_000;

/** What is needed of an agent. */
type Runnable = Pick<Agent, "abort" | "clock" | "prompt" | "state" | "subscribe">;

export interface AgentStreamOptions<TSchema = unknown> extends PromptOptions<TSchema> {
  /** Aborts the run, such as the signal of the HTTP request that asked for it. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How many events a reader may be behind the run. Default 10,000. A reader that is further behind
   * rejects with `reader_too_slow`; the run goes on.
   */
  readonly maxHeldEvents?: number | undefined;
}

/**
 * A run that has begun. Every reader gets all events from the first on, nested runs' included. A
 * reader that leaves ends nothing but its own reading: abort the run by `signal` or
 * {@link Agent.abort}.
 */
export class AgentStream<TOutput = unknown> implements AsyncIterable<AgentEvent> {
  readonly #log: EventLog<AgentEvent>;
  readonly #result: Promise<RunResult<TOutput>>;
  readonly #clock: Clock;

  /**
   * Begins a run of `agent`, as {@link Agent.prompt} does. Throws `invalid_state` while a run is
   * going on and `invalid_argument` for a `maxHeldEvents` that is no positive integer.
   */
  constructor(
    agent: Runnable,
    input: string | AgentMessage | AgentMessage[],
    options: AgentStreamOptions = {},
  ) {
    const { signal, maxHeldEvents = MAX_HELD_EVENTS, ...prompt } = options;
    if (!Number.isInteger(maxHeldEvents) || maxHeldEvents < 1)
      throw new BowlineError(
        "invalid_argument",
        `maxHeldEvents must be a positive integer, not ${String(maxHeldEvents)}.`,
      );
    if (agent.state.isStreaming)
      throw new BowlineError(
        "invalid_state",
        "The agent is running. Use steer() or followUp(), or wait for the end of the run.",
      );
    this.#log = new EventLog(maxHeldEvents);
    this.#clock = agent.clock ?? systemClock;
    this.#result = this.#run(agent, input, prompt as PromptOptions<TOutput>, signal);
    this.#result.catch(() => {}); // readers reject with the same error
  }

  /** The run's result. Rejects only where {@link Agent.prompt} does, never for a failed run. */
  result(): Promise<RunResult<TOutput>> {
    return this.#result;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AgentEvent, void, undefined> {
    for await (const batch of this.#log.batches()) yield* batch;
  }

  /**
   * The run as server-sent events, one JSON object each: a {@link ResponseEvent}, or what
   * `options.toData` returns. A run that ended without its `agent_end` breaks the response off, so
   * that no client takes a part for the whole.
   */
  toResponse(options?: ResponseOptions): Response {
    return toResponse(this.#log.batches(), this.#clock, options);
  }

  async #run(
    agent: Runnable,
    input: string | AgentMessage | AgentMessage[],
    options: PromptOptions<TOutput>,
    signal: AbortSignal | undefined,
  ): Promise<RunResult<TOutput>> {
    const unsubscribe = agent.subscribe((event) => this.#log.push(event));
    let release = (): void => {};
    try {
      const running = agent.prompt(input, options);
      release = onAbort(signal, () => agent.abort(signal?.reason));
      const result = (await running) as RunResult<TOutput>;
      this.#log.end();
      return result;
    } catch (error) {
      this.#log.fail(error);
      throw error;
    } finally {
      release();
      unsubscribe();
    }
  }
}
