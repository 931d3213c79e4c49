/** The stateful agent: the loop with a transcript, two queues, listeners and an abort. */
import { systemClock } from "../clock.ts";
import { BowlineError } from "../errors.ts";
import type { InferSchema } from "../infer-schema.ts";
import { defined } from "../json-value.ts";
import type { ImageContent } from "../llm/message.ts";
import type { StreamFn } from "../llm/model.ts";
import { createAgentEffects } from "./agent-effects.ts";
import { DEFAULT_MAX_TURNS, splitOptions } from "./agent-options.ts";
import type { AgentOptions, AgentSettings, PromptOptions } from "./agent-options.ts";
import { AgentQueues } from "./agent-queues.ts";
import type { AgentMessage } from "./contract/agent-message.ts";
import { portsOf } from "./contract/effects.ts";
import { createMemoryEffects } from "./contract/memory-effects.ts";
import type { AgentEvent, AgentListener } from "./contract/event.ts";
import type { AgentLoopConfig } from "./contract/hooks.ts";
import type { ToolExecutionMode } from "./contract/tool.ts";
import { createLlmFilter } from "./llm-filter.ts";
import type { OutputRunFactory } from "./output.ts";
import type { QueueMode, QueueOptions } from "./queue.ts";
import { readPrompt } from "./read-prompt.ts";
import { assertContinuable, isAnswer } from "./run/continuable.ts";
import type { RunInput } from "./run/run.ts";
import { runLoop } from "./run/run-loop.ts";
import type { InterruptedRun, RunResult } from "./run/run-result.ts";
import { MutableAgentState, type AgentState } from "./state.ts";

interface RunChoices extends Pick<PromptOptions, "output"> {
  readonly steeringTaken?: boolean | undefined;
  readonly resume?: InterruptedRun;
}

// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the settings are assigned in the constructor, whole
export interface Agent<TContext = unknown> extends AgentSettings {
  /** Default: keeps messages of the roles `user`, `assistant` and `toolResult`. */
  convertToLlm: AgentLoopConfig["convertToLlm"];
  /** Handed to every tool unchanged. */
  context: TContext | undefined;
}

export class Agent<TContext = unknown> {
  /** Used when no `streamFn` is given. A subclass may set it. */
  static defaultStreamFn: StreamFn | undefined;
  /**
   * Creates the runs for {@link PromptOptions.output}. A subclass may set it to `createOutputRun`.
   */
  static outputRun: OutputRunFactory | undefined;
  /** Throws for unknown options. A subclass may set it to `checkAgentOptions`. */
  static checkOptions: ((options: object) => void) | undefined;

  /** Default `parallel`. */
  toolExecution: ToolExecutionMode = "parallel";
  readonly #state: MutableAgentState;
  readonly #queues: AgentQueues;
  /** Each listener with its wrapper. */
  readonly #listeners = new Map<AgentListener, (event: AgentEvent) => unknown>();
  /** Number of listeners on the call stack. */
  #calling = 0;
  #controller: AbortController | undefined;
  #running: Promise<RunResult> | undefined;
  readonly #effects = createMemoryEffects(undefined, () => this.clock ?? systemClock);

  constructor(options: AgentOptions<TContext> = {}) {
    new.target.checkOptions?.(options);
    const { state, others } = splitOptions(options);
    // Defaults are assigned too, so that a program can call or wrap them.
    const {
      steeringMode,
      followUpMode,
      context,
      streamFn = new.target.defaultStreamFn,
      convertToLlm = createLlmFilter(),
      ...settings
    } = others;
    this.#state = new MutableAgentState(state);
    this.#queues = new AgentQueues(steeringMode, followUpMode);
    Object.assign(this, defined(settings), { context, streamFn, convertToLlm });
  }

  get state(): AgentState {
    return this.#state;
  }

  /** The signal of the current run. */
  get signal(): AbortSignal | undefined {
    return this.#controller?.signal;
  }

  get steeringMode(): QueueMode {
    return this.#queues.steering.mode;
  }
  set steeringMode(mode: QueueMode) {
    this.#queues.steering.mode = mode;
  }

  get followUpMode(): QueueMode {
    return this.#queues.followUp.mode;
  }
  set followUpMode(mode: QueueMode) {
    this.#queues.followUp.mode = mode;
  }

  /**
   * Calls `listener` with every event from now on; once per event, even if it is added twice.
   * Returns a function that unsubscribes it immediately.
   */
  subscribe(listener: AgentListener): () => void {
    this.#listeners.set(listener, (event) => {
      this.#calling++;
      try {
        return listener(event, this.signal as AbortSignal);
      } finally {
        this.#calling--;
      }
    });
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Runs from a new message until the model has nothing more to do. Resolves when awaited
   * `agent_end` listeners are done, also for a failed or aborted run. Rejects with `invalid_state`
   * during a run: use {@link steer} or {@link followUp} then.
   */
  async prompt(text: string, images?: readonly ImageContent[]): Promise<RunResult>;
  async prompt<const TSchema>(
    input: string | AgentMessage | AgentMessage[],
    options?: PromptOptions<TSchema>,
  ): Promise<RunResult<InferSchema<TSchema>>>;
  async prompt(
    input: string | AgentMessage | AgentMessage[],
    imagesOrOptions: readonly ImageContent[] | PromptOptions = {},
  ): Promise<RunResult> {
    this.#assertIdle();
    const { prompts, output } = readPrompt(input, imagesOrOptions, this.clock ?? systemClock);
    return this.#run(prompts, { output });
  }

  /**
   * Runs without a new message. Rejects with `invalid_state` when the last message is a complete
   * answer and no message is queued, and during a run.
   */
  async continue<const TSchema>(
    options: Pick<PromptOptions<TSchema>, "output"> = {},
  ): Promise<RunResult<InferSchema<TSchema>>> {
    this.#assertIdle();
    const { messages } = this.#state;
    const last = messages.at(-1);
    const isAnswered = last === undefined || isAnswer(last);
    const queued = isAnswered ? this.#queues.takeFirst() : undefined;
    const prompts = queued?.messages ?? [];
    if (prompts.length === 0) assertContinuable(messages);
    let run: RunResult | undefined;
    try {
      // Messages taken here count as the first poll, so that "one-at-a-time" holds.
      run = await this.#run(prompts, { ...options, steeringTaken: queued?.areSteering });
      return run as RunResult<InferSchema<TSchema>>;
    } finally {
      // A run that did not begin, or had no budget, has not received the messages.
      if (!run?.messages.length) this.#queues.giveBack(prompts);
    }
  }

  /**
   * Continues a run that an earlier process did not finish. Pending tool calls run, or get the
   * result of `effects.recorded`. Then the model is called, unless the last turn had ended the run.
   * Pass `output` again for a run that had it. Rejects with `invalid_state` during a run.
   */
  async resume<const TSchema>(
    run: InterruptedRun,
    options: Pick<PromptOptions<TSchema>, "output"> = {},
  ): Promise<RunResult<InferSchema<TSchema>>> {
    this.#assertIdle();
    return this.#run([], { ...options, resume: run }) as Promise<RunResult<InferSchema<TSchema>>>;
  }

  /**
   * Aborts the run: no further model call or tool starts. The partial answer stays in the
   * transcript, and the queues stay. The `cause` of the run's error is `reason`.
   */
  abort(reason?: unknown): void {
    this.#controller?.abort(reason);
  }

  /**
   * Resolves when no run is active. Throws `invalid_state` in a listener before its first `await`,
   * because the run waits for the listener. After an `await` the deadlock cannot be detected, and
   * such a listener ends the run at `hookTimeoutMs`.
   */
  waitForIdle(): Promise<void> {
    if (this.#calling > 0) {
      throw new BowlineError("invalid_state", "waitForIdle() in a listener would never resolve.");
    }
    return Promise.resolve(this.#running).then(() => {});
  }

  /**
   * Clears messages, queues, the last error and remembered approvals. Keeps the system prompt,
   * model and tools. Throws `invalid_state` during a run.
   */
  reset(): void {
    this.#assertIdle();
    this.#state.messages = [];
    this.#state.errorMessage = undefined;
    this.clearAllQueues();
    this.#effects.approvedTools.clear();
  }

  /**
   * Queues a message to send after the current turn's tools, before the next model call: at the end
   * of its queue, or as {@link QueueOptions.before} says.
   */
  steer(message: AgentMessage, { before }: QueueOptions = {}): void {
    this.#queues.steering.push(message, before);
  }

  /** Queues a message to send when the run would otherwise end, as {@link steer} does. */
  followUp(message: AgentMessage, { before }: QueueOptions = {}): void {
    this.#queues.followUp.push(message, before);
  }

  /**
   * Removes one message, the same object, from its queue. Returns false if it is not queued, for
   * example because a run has taken it.
   */
  unqueue(message: AgentMessage): boolean {
    return this.#queues.steering.remove(message) || this.#queues.followUp.remove(message);
  }

  clearSteeringQueue(): void {
    this.#queues.steering.clear();
  }

  clearFollowUpQueue(): void {
    this.#queues.followUp.clear();
  }

  clearAllQueues(): void {
    this.clearSteeringQueue();
    this.clearFollowUpQueue();
  }

  /**
   * Answers all hooks and tools of the run that wait under this name, such as for an approval.
   * Returns false when none waits.
   */
  answer(name: string, value: unknown): boolean {
    return this.#effects.answer(name, value);
  }

  hasQueuedMessages(): boolean {
    return this.#queues.size > 0;
  }

  #run(
    prompts: AgentMessage[],
    { output, steeringTaken = false, resume }: RunChoices,
  ): Promise<RunResult> {
    const { outputRun } = this.constructor as typeof Agent;
    const { streamFn } = this;
    if (!streamFn || (output !== undefined && !outputRun)) {
      const missing = streamFn
        ? "outputRun is missing. Set it to createOutputRun in a subclass"
        : "streamFn is missing. Pass one";
      throw new BowlineError(
        "invalid_argument",
        `${missing}, or import Agent from the main entry.`,
      );
    }
    const state = this.#state;
    const controller = new AbortController();
    const own = createAgentEffects({
      state,
      listeners: this.#listeners,
      queues: this.#queues,
      parentRunId: this.parentRunId,
      steeringTaken,
    });
    const input: RunInput = {
      context: state, // not a copy: the loop appends to the agent's messages
      config: () => this.#config(),
      effects: { ...this.#effects, ...portsOf(this.effects), ...own },
      streamFn,
      signal: controller.signal,
      turnLimit: DEFAULT_MAX_TURNS,
      resume,
    };
    const forOutput = output === undefined ? undefined : outputRun?.(output, input);
    this.#controller = controller;
    state.isStreaming = true;
    // In a function, so that a run that cannot begin, such as one without an id, ends as well.
    const begin = async (): Promise<RunResult> => runLoop(prompts, forOutput?.input ?? input);
    const running = begin().then(forOutput?.finish);
    return (this.#running = running.finally(() => {
      state.isStreaming = false;
      state.streamingMessage = undefined;
      this.#controller = undefined;
      this.#running = undefined;
    }));
  }

  #config(): AgentLoopConfig {
    const { model, thinkingLevel } = this.#state;
    return Object.assign({}, this, {
      model,
      toolContext: this.context,
      ...(thinkingLevel !== "off" && { reasoning: thinkingLevel }),
    });
  }

  #assertIdle(): void {
    if (this.#controller)
      throw new BowlineError("invalid_state", "The agent is running: use steer() or followUp().");
  }
}
