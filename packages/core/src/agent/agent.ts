/**
 * The stateful agent: a transcript, two queues, an abort controller and listeners around the one loop. Nothing global; two
 * agents never meet.
 */
import { systemClock } from "../clock.ts";
import { BowlineError } from "../errors.ts";
import type { ImageContent, Message, UserContent } from "../llm/message.ts";
import type { StreamFn } from "../llm/model.ts";
import type { Effects } from "./effects.ts";
import { isThenable } from "./emitter.ts";
import type { AgentEvent, AgentMessage } from "./event.ts";
import type { AgentLoopConfig } from "./hooks.ts";
import { assertContinuable, runLoop } from "./loop.ts";
import { MessageQueue, type QueueMode } from "./queue.ts";
import type { RunResult } from "./run.ts";
import { applyToState, createAgentState, type AgentState, type InitialState, type MutableAgentState } from "./state.ts";

/** Awaited in the order of subscription when it returns a promise. A throw ends the run with `listener_failed`. */
export type AgentListener = (event: AgentEvent, signal: AbortSignal) => unknown;

/** What may also be assigned on the agent later; it takes effect with the next turn. */
export interface AgentSettings extends Partial<
  Omit<AgentLoopConfig, "model" | "reasoning" | "getSteeringMessages" | "getFollowUpMessages" | "toolContext">
> {
  /** Makes the model calls. Default: by the model's protocol, when the agent comes from the package's main entry. */
  streamFn?: StreamFn;
}

export interface AgentOptions<TContext = unknown> extends AgentSettings {
  initialState?: InitialState;
  /** Default `one-at-a-time`. */
  steeringMode?: QueueMode;
  /** Default `one-at-a-time`. */
  followUpMode?: QueueMode;
  /** Handed to every tool unchanged. */
  context?: TContext;
}

/** Keeps the roles a model understands. */
const keepLlmMessages = (messages: AgentMessage[]): Message[] =>
  messages.filter(({ role }) => /^(?:user|assistant|toolResult)$/.test(role));

// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the settings are assigned in the constructor, whole
export interface Agent<TContext = unknown> extends AgentSettings {
  /** Handed to every tool unchanged. */
  context: TContext | undefined;
}

export class Agent<TContext = unknown> {
  /** Used when no `streamFn` is given; a subclass may set it. */
  static defaultStreamFn: StreamFn | undefined;

  readonly #state: MutableAgentState;
  readonly #steering: MessageQueue;
  readonly #followUps: MessageQueue;
  #listeners: readonly AgentListener[] = [];
  #inListener = 0;
  #controller: AbortController | undefined;
  #running: Promise<RunResult> | undefined;

  constructor(options: AgentOptions<TContext> = {}) {
    const { initialState = {}, steeringMode, followUpMode, context, ...settings } = options;
    this.#state = createAgentState(initialState);
    this.#steering = new MessageQueue(steeringMode);
    this.#followUps = new MessageQueue(followUpMode);
    this.context = context;
    Object.assign(this, settings);
  }

  get state(): AgentState {
    return this.#state;
  }

  /** The signal of the run that is going on. */
  get signal(): AbortSignal | undefined {
    return this.#controller?.signal;
  }

  get steeringMode(): QueueMode {
    return this.#steering.mode;
  }
  set steeringMode(mode: QueueMode) {
    this.#steering.mode = mode;
  }

  get followUpMode(): QueueMode {
    return this.#followUps.mode;
  }
  set followUpMode(mode: QueueMode) {
    this.#followUps.mode = mode;
  }

  /** Calls `listener` with every event from now on. Returns what ends that. */
  subscribe(listener: AgentListener): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  /**
   * Runs from a new message until there is nothing more to do. Resolves, also for a failed or aborted run, when awaited
   * `agent_end` listeners are done. Rejects with `invalid_state` during a run: use {@link steer} or {@link followUp} then.
   */
  async prompt(text: string, images?: readonly ImageContent[]): Promise<RunResult>;
  async prompt(message: AgentMessage | AgentMessage[]): Promise<RunResult>;
  async prompt(
    input: string | AgentMessage | AgentMessage[],
    images: readonly ImageContent[] = [],
  ): Promise<RunResult> {
    this.#assertIdle();
    return this.#run(typeof input === "string" ? [this.#userMessage(input, images)] : [input].flat());
  }

  /**
   * Goes on without a new message: the last one must be a user's or a tool result, or something must be queued. Rejects with
   * `invalid_state` otherwise, and during a run.
   */
  async continue(): Promise<RunResult> {
    this.#assertIdle();
    const { messages } = this.#state;
    const isAnswered = messages.at(-1)?.role === "assistant";
    const steered = isAnswered ? this.#steering.take() : [];
    const prompts = isAnswered && steered.length === 0 ? this.#followUps.take() : steered;
    if (prompts.length === 0) assertContinuable(messages);
    // What was taken here counts as the first poll, so that "one at a time" holds.
    return this.#run(prompts, steered.length > 0);
  }

  /** Cancels the run: no further model call, no further tool; the partial answer and the queues are kept. */
  abort(): void {
    this.#controller?.abort();
  }

  /** Resolves when no run is going on. Throws `invalid_state` in a listener, which the run itself waits for. */
  waitForIdle(): Promise<void> {
    if (this.#inListener > 0) {
      throw new BowlineError("invalid_state", "waitForIdle() in a listener would wait for itself.");
    }
    return Promise.resolve(this.#running).then(() => {});
  }

  /** Forgets messages, queues and the last error; keeps prompt, model and tools. Throws `invalid_state` during a run. */
  reset(): void {
    this.#assertIdle();
    this.#state.messages = [];
    this.#state.errorMessage = undefined;
    this.clearAllQueues();
  }

  /** Queues a message for after the current turn's tools, before the next model call. */
  steer(message: AgentMessage): void {
    this.#steering.push(message);
  }

  /** Queues a message for when the agent would otherwise stop. */
  followUp(message: AgentMessage): void {
    this.#followUps.push(message);
  }

  clearSteeringQueue(): void {
    this.#steering.clear();
  }

  clearFollowUpQueue(): void {
    this.#followUps.clear();
  }

  clearAllQueues(): void {
    this.clearSteeringQueue();
    this.clearFollowUpQueue();
  }

  hasQueuedMessages(): boolean {
    return this.#steering.size + this.#followUps.size > 0;
  }

  #run(prompts: AgentMessage[], steeringTaken = false): Promise<RunResult> {
    const streamFn = this.streamFn ?? (this.constructor as typeof Agent).defaultStreamFn;
    if (streamFn === undefined) {
      throw new BowlineError("invalid_argument", "No streamFn: pass one, or import Agent from the main entry.");
    }
    const state = this.#state;
    const controller = new AbortController();
    let skipSteering = steeringTaken;
    const effects: Effects = {
      step: (_name, fn) => fn(),
      // Nobody outside can answer here; effects that are given can be.
      waitFor: (name) => Promise.reject(new BowlineError("invalid_state", `Nothing answers ${name} here.`)),
      publish: (event) => this.#publish(event, controller.signal),
      inbox: (kind) => {
        if (kind === "followUp") return this.#followUps.take();
        const skip = skipSteering;
        skipSteering = false;
        return skip ? [] : this.#steering.take();
      },
    };
    this.#controller = controller;
    state.isStreaming = true;
    const running = runLoop(prompts, {
      context: state, // live: the loop appends to the agent's own messages
      config: () => this.#config(),
      effects,
      streamFn,
      signal: controller.signal,
    });
    this.#running = running.finally(() => {
      state.isStreaming = false;
      state.streamingMessage = undefined;
      state.pendingToolCalls.clear();
      this.#controller = undefined;
      this.#running = undefined;
    });
    return this.#running;
  }

  #config(): AgentLoopConfig {
    const { model, thinkingLevel } = this.#state;
    const settings: AgentSettings = Object.assign({}, this);
    return {
      convertToLlm: keepLlmMessages,
      ...settings,
      model,
      toolContext: this.context,
      ...(thinkingLevel !== "off" && { reasoning: thinkingLevel }),
    };
  }

  /** Calls every listener, each after the one before; the first failure is thrown when all have been called. */
  #publish(event: AgentEvent, signal: AbortSignal): void | Promise<void> {
    applyToState(this.#state, event);
    let failure: { readonly error: unknown } | undefined;
    const note = (error: unknown): void => {
      failure ??= { error };
    };
    const call = (listener: AgentListener): Promise<void> | undefined => {
      this.#inListener++;
      try {
        const result = listener(event, signal);
        return isThenable(result) ? Promise.resolve(result).catch(note) : undefined;
      } catch (error) {
        note(error);
        return undefined;
      } finally {
        this.#inListener--;
      }
    };
    const finish = (): void => {
      if (failure !== undefined) throw failure.error;
    };
    let waiting: Promise<void> | undefined;
    for (const listener of this.#listeners) waiting = waiting ? waiting.then(() => call(listener)) : call(listener);
    return waiting ? waiting.then(finish) : finish();
  }

  #assertIdle(): void {
    if (this.#running === undefined) return;
    throw new BowlineError("invalid_state", "A run is going on: use steer() or followUp(), or wait for its end.");
  }

  #userMessage(text: string, images: readonly ImageContent[]): AgentMessage {
    const parts: UserContent[] = [{ type: "text", text }, ...images];
    return {
      role: "user",
      content: images.length === 0 ? text : parts,
      timestamp: (this.clock ?? systemClock).now(),
    };
  }
}
