/**
 * The stateful agent: a transcript, two queues, an abort controller and listeners around the one
 * loop. Nothing global; two agents never meet. Its length is that of its public face, which says
 * what each call does and throws.
 */
import { systemClock } from "../clock.ts";
import { BowlineError } from "../errors.ts";
import type { InferSchema } from "../infer-schema.ts";
import { asRecord, defined, isRecord } from "../json-value.ts";
import type { ImageContent } from "../llm/message.ts";
import type { StreamFn } from "../llm/model.ts";
import { createAgentEffects } from "./agent-effects.ts";
import type { AgentMessage } from "./contract/agent-message.ts";
import { createMemoryEffects, portsOf, type Effects, type InboxKind } from "./contract/effects.ts";
import type { AgentEvent, AgentListener } from "./contract/event.ts";
import type { AgentLoopConfig } from "./contract/hooks.ts";
import type { ToolExecutionMode } from "./contract/tool.ts";
import { createLlmFilter } from "./llm-filter.ts";
import type { OutputRunFactory } from "./output.ts";
import { MessageQueue, type QueueMode } from "./queue.ts";
import { assertContinuable, isAnswer } from "./run/continuable.ts";
import type { RunInput } from "./run/run.ts";
import { runLoop } from "./run/run-loop.ts";
import type { InterruptedRun, RunResult } from "./run/run-result.ts";
import { MutableAgentState, type AgentState, type InitialState } from "./state.ts";

/**
 * What may also be assigned on the agent later; it takes effect with the next turn, and `streamFn`,
 * `effects`, `budget`, `hookTimeoutMs`, `clock` and `createId` with the next run.
 */
export interface AgentSettings extends Partial<
  Omit<
    AgentLoopConfig,
    | "model"
    | "reasoning"
    | "output"
    | "getSteeringMessages"
    | "hasSteeringMessages"
    | "getFollowUpMessages"
    | "returnMessages"
    | "toolContext"
  >
> {
  /**
   * Makes the model calls. Default: by the model's protocol, when the agent comes from the
   * package's main entry.
   */
  streamFn?: StreamFn;
  /** Records steps, or waits for answers elsewhere, in place of this process's memory. */
  effects?: Partial<Pick<Effects, "step" | "recorded" | "waitFor">>;
}

export interface AgentOptions<TContext = unknown> extends AgentSettings {
  initialState?: InitialState<TContext>;
  /** Default `one-at-a-time`. */
  steeringMode?: QueueMode;
  /** Default `one-at-a-time`. */
  followUpMode?: QueueMode;
  /** Handed to every tool unchanged. */
  context?: TContext;
}

export interface PromptOptions<TSchema = unknown> {
  readonly images?: readonly ImageContent[];
  /**
   * A schema of an object. The run's result then has a checked value of it as `output`: held to the
   * schema by the server where it can, given by a tool elsewhere, and sent back to the model twice
   * when it does not fit. Rejects with `invalid_argument` for what is no such schema.
   */
  readonly output?: TSchema;
}

interface RunChoices {
  readonly output?: unknown;
  readonly steeringTaken?: boolean;
  readonly resume?: InterruptedRun;
}

// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the settings are assigned in the constructor, whole
export interface Agent<TContext = unknown> extends AgentSettings {
  /** Default: keeps the three roles that a model understands. */
  convertToLlm: AgentLoopConfig["convertToLlm"];
  /** Handed to every tool unchanged. */
  context: TContext | undefined;
}

export class Agent<TContext = unknown> {
  /** Used when no `streamFn` is given; a subclass may set it. */
  static defaultStreamFn: StreamFn | undefined;
  /**
   * What makes a run for {@link PromptOptions.output}; a subclass may set it to `createOutputRun`.
   */
  static outputRun: OutputRunFactory | undefined;

  /** Default `parallel`. */
  toolExecution: ToolExecutionMode = "parallel";
  readonly #state: MutableAgentState;
  readonly #queues: Readonly<Record<InboxKind, MessageQueue>>;
  /** Each with how it is called. */
  readonly #listeners = new Map<AgentListener, (event: AgentEvent) => unknown>();
  /** How many listeners are being called right now. */
  #calling = 0;
  #controller: AbortController | undefined;
  #running: Promise<RunResult> | undefined;
  readonly #effects = createMemoryEffects();

  constructor(options: AgentOptions<TContext> = {}) {
    // What streams and what converts is there to be called and wrapped, also when it is the
    // default.
    const {
      initialState = {},
      steeringMode,
      followUpMode,
      context,
      streamFn = new.target.defaultStreamFn,
      convertToLlm = createLlmFilter(),
      ...settings
    } = options;
    this.#state = new MutableAgentState(initialState);
    this.#queues = {
      steering: new MessageQueue(steeringMode),
      followUp: new MessageQueue(followUpMode),
    };
    Object.assign(this, defined(settings), { context, streamFn, convertToLlm });
  }

  get state(): AgentState {
    return this.#state;
  }

  /** The signal of the run that is going on. */
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
   * Calls `listener` with every event from now on, once, however often it is given. Returns what
   * ends that at once.
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
   * Runs from a new message until there is nothing more to do. Resolves, also for a failed or
   * aborted run, when awaited `agent_end` listeners are done. Rejects with `invalid_state` during a
   * run: use {@link steer} or {@link followUp} then.
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
    const options = Array.isArray(imagesOrOptions) ? { images: imagesOrOptions } : imagesOrOptions;
    const { images = [], output } = asRecord(options) as PromptOptions;
    const prompts =
      typeof input === "string"
        ? [
            {
              role: "user" as const,
              content:
                images.length === 0 ? input : [{ type: "text" as const, text: input }, ...images],
              timestamp: (this.clock ?? systemClock).now(),
            },
          ]
        : [input].flat();
    const isSound =
      prompts.length > 0 && prompts.every((message?: Partial<AgentMessage>) => message?.role);
    if (!isSound || !isRecord(options))
      throw new BowlineError(
        "invalid_argument",
        "prompt() takes a text, or messages with a role; then images, or options.",
      );
    return this.#run(prompts, { output });
  }

  /**
   * Goes on without a new message: the last one must be no whole answer, or something must be
   * queued. Rejects with `invalid_state` otherwise, without any message, and during a run.
   */
  async continue<const TSchema>(
    options: Pick<PromptOptions<TSchema>, "output"> = {},
  ): Promise<RunResult<InferSchema<TSchema>>> {
    this.#assertIdle();
    const { messages } = this.#state;
    const last = messages.at(-1);
    const isAnswered = last === undefined || isAnswer(last);
    const steered = isAnswered ? this.#queues.steering.take() : [];
    const prompts = isAnswered && steered.length === 0 ? this.#queues.followUp.take() : steered;
    if (prompts.length === 0) assertContinuable(messages);
    let run: RunResult | undefined;
    try {
      // What was taken here counts as the first poll, so that "one at a time" holds.
      run = await this.#run(prompts, { ...options, steeringTaken: steered.length > 0 });
      return run as RunResult<InferSchema<TSchema>>;
    } finally {
      // A run that could not begin, or had no budget to begin with, has not heard them.
      if (!run?.messages.length) {
        this.#queues.steering.giveBack(prompts);
        this.#queues.followUp.giveBack(prompts);
      }
    }
  }

  /**
   * Goes on with a run that its process did not finish, from the transcript that was kept: open
   * calls are run or answered as `effects.recorded` says, then the model is asked, unless the turn
   * had ended the run. A run for an output needs its schema again. Rejects with `invalid_state`
   * during a run.
   */
  async resume<const TSchema>(
    run: InterruptedRun,
    options: Pick<PromptOptions<TSchema>, "output"> = {},
  ): Promise<RunResult<InferSchema<TSchema>>> {
    this.#assertIdle();
    return this.#run([], { ...options, resume: run }) as Promise<RunResult<InferSchema<TSchema>>>;
  }

  /**
   * Cancels the run: no further model call, no further tool; the partial answer and the queues are
   * kept.
   */
  abort(): void {
    this.#controller?.abort();
  }

  /**
   * Resolves when no run is going on. Throws `invalid_state` in a listener before its first
   * `await`, since the run waits for the listener. Behind it that cannot be seen: such a listener
   * ends the run at `hookTimeoutMs`.
   */
  waitForIdle(): Promise<void> {
    if (this.#calling > 0) {
      throw new BowlineError("invalid_state", "waitForIdle() in a listener would wait for itself.");
    }
    return Promise.resolve(this.#running).then(() => {});
  }

  /**
   * Forgets messages, queues and the last error; keeps prompt, model and tools. Throws
   * `invalid_state` during a run.
   */
  reset(): void {
    this.#assertIdle();
    this.#state.messages = [];
    this.#state.errorMessage = undefined;
    this.clearAllQueues();
  }

  /** Queues a message for after the current turn's tools, before the next model call. */
  steer(message: AgentMessage): void {
    this.#queues.steering.push(message);
  }

  /** Queues a message for when the agent would otherwise stop. */
  followUp(message: AgentMessage): void {
    this.#queues.followUp.push(message);
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
   * Answers all that hooks and tools of the run wait for under this name, such as an approval.
   * False when nothing does.
   */
  answer(name: string, value: unknown): boolean {
    return this.#effects.answer(name, value);
  }

  hasQueuedMessages(): boolean {
    return this.#queues.steering.size + this.#queues.followUp.size > 0;
  }

  #run(
    prompts: AgentMessage[],
    { output, steeringTaken = false, resume }: RunChoices,
  ): Promise<RunResult> {
    const { outputRun } = this.constructor as typeof Agent;
    const { streamFn } = this;
    if (!streamFn || (output !== undefined && !outputRun)) {
      const missing = streamFn
        ? "outputRun: let a subclass set it to createOutputRun"
        : "streamFn: give one";
      throw new BowlineError(
        "invalid_argument",
        `No ${missing}, or import Agent from the main entry.`,
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
    const effects: Effects = { ...this.#effects, ...portsOf(this.effects), ...own };
    const input: RunInput = {
      context: state, // live: the loop appends to the agent's own messages
      config: () => this.#config(),
      effects,
      streamFn,
      signal: controller.signal,
      resume,
    };
    const forOutput = output === undefined ? undefined : outputRun?.(output, input);
    this.#controller = controller;
    state.isStreaming = true;
    const running = runLoop(prompts, forOutput?.input ?? input).then(forOutput?.finish);
    this.#running = running.finally(() => {
      state.isStreaming = false;
      state.streamingMessage = undefined;
      this.#controller = undefined;
      this.#running = undefined;
    });
    return this.#running;
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
      throw new BowlineError("invalid_state", "A run is going on: use steer() or followUp().");
  }
}
