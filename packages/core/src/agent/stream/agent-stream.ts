/** A run as a stream: events for any number of readers, the result, and a `Response`. */
import { onAbort, systemClock, type Clock } from "../../clock.ts";
import { BowlineError } from "../../errors.ts";
import type { PromptOptions } from "../agent-options.ts";
import type { Agent } from "../agent.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import type { AgentEvent } from "../contract/event.ts";
import type { RunResult } from "../run/run-result.ts";
import { EventLog } from "./event-log.ts";
import { toResponse, type ResponseOptions } from "./to-response.ts";

/** Takes a few MB at most: deltas are small, and the transcript holds the messages anyway. */
const MAX_HELD_EVENTS = 10_000;

/** The part of an agent that a stream uses. */
type Runnable = Pick<Agent, "abort" | "clock" | "prompt" | "state" | "subscribe">;

export interface AgentStreamOptions<TSchema = unknown> extends PromptOptions<TSchema> {
  /** Aborts the run when it fires. For example the signal of an HTTP request. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Number of events that the stream buffers for slow readers. Default 10,000. A reader that falls
   * further behind rejects with `reader_too_slow`, and the run continues.
   */
  readonly maxHeldEvents?: number | undefined;
}

/**
 * A running or finished run. Every reader gets all events from the first, including those of nested
 * runs. A reader that stops does not abort the run: use `signal` or {@link Agent.abort}.
 */
export class AgentStream<TOutput = unknown> implements AsyncIterable<AgentEvent> {
  /** The schema that the run was given as `output`. */
  readonly output: unknown;
  readonly #log: EventLog<AgentEvent>;
  readonly #result: Promise<RunResult<TOutput>>;
  readonly #clock: Clock;

  /**
   * Starts a run of `agent`, as {@link Agent.prompt} does. Throws `invalid_state` during a run, and
   * `invalid_argument` if `maxHeldEvents` is not a positive integer.
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
    this.output = prompt.output;
    this.#log = new EventLog(maxHeldEvents);
    this.#clock = agent.clock ?? systemClock;
    this.#result = this.#run(agent, input, prompt as PromptOptions<TOutput>, signal);
    this.#result.catch(() => {}); // readers reject with the same error
  }

  /**
   * Resolves with the run's result. Rejects only when {@link Agent.prompt} does, not for a failed
   * run.
   */
  result(): Promise<RunResult<TOutput>> {
    return this.#result;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AgentEvent, void, undefined> {
    for await (const batch of this.#log.batches()) yield* batch;
  }

  /**
   * Returns the run as a response of server-sent events. Each event is one JSON value: a {@link
   * ResponseEvent}, or what `options.toData` returns. The response fails if the run ends without
   * `agent_end`, so that no client takes a partial run for a complete one.
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
