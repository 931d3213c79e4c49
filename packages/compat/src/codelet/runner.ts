/** codelet's runner: a history, a provider and a tool registry on core's loop. */
import { agentLoopContinue, type AgentContext, type AgentLoopConfig } from "@bowline/core/agent";
import { systemClock, BowlineError } from "@bowline/core";
import { failureOf, runToEnd } from "../run-end.ts";
import { standInModel } from "../transcript.ts";
import { fromTranscript, Message, toTranscript } from "./message.ts";
import { toStreamFn, type LlmProvider } from "./provider.ts";
import { ToolRegistry, type ToolOutput } from "./tool-registry.ts";

export interface RunnerOptions extends Pick<AgentLoopConfig, "budget" | "clock"> {
  /** Default: no tools. */
  tools?: ToolRegistry;
  /** Aborts every run that has no signal of its own. */
  signal?: AbortSignal;
}

export interface RunOptions {
  /** Aborts this run. Default: the runner's signal. */
  signal?: AbortSignal;
}

export class Runner {
  readonly tools: ToolRegistry;
  readonly #provider: LlmProvider | undefined;
  readonly #options: Omit<RunnerOptions, "tools">;
  readonly #context: AgentContext;
  #isRunning = false;

  constructor(
    provider?: LlmProvider,
    { tools = ToolRegistry.default(), ...options }: RunnerOptions = {},
  ) {
    this.tools = tools;
    this.#provider = provider;
    this.#options = options;
    // Read in each round, so that a tool registered during a run is available.
    this.#context = {
      systemPrompt: "",
      messages: [],
      get tools() {
        return tools.tools;
      },
    };
  }

  static withProvider(provider: LlmProvider, options?: RunnerOptions): Runner {
    return new Runner(provider, options);
  }

  /** A copy of the history, without failed answers. */
  get messages(): Message[] {
    return fromTranscript(this.#context.messages);
  }

  addMessage(message: Message): void {
    const { clock = systemClock } = this.#options;
    this.#context.messages.push(...toTranscript(message, clock.now()));
  }

  executeTool(name: string, args: unknown): Promise<ToolOutput> {
    return this.tools.execute(name, args);
  }

  /**
   * Adds the user's message and runs until the model calls no more tools, one tool after another.
   * Resolves with the whole history; the next `run` continues it. Rejects with the provider's error
   * and keeps the messages so far.
   */
  async run(
    userInput: string,
    { signal = this.#options.signal }: RunOptions = {},
  ): Promise<Message[]> {
    const provider = this.#provider;
    if (provider === undefined) throw new BowlineError("invalid_state", "No provider configured");
    if (this.#isRunning)
      throw new BowlineError("invalid_state", "A run is already active. Wait for it to end.");
    this.#isRunning = true;
    this.addMessage(Message.user(userInput));
    await this.#loop(provider, signal).finally(() => (this.#isRunning = false));
    return this.messages;
  }

  async #loop(provider: LlmProvider, signal: AbortSignal | undefined): Promise<void> {
    const { signal: _, ...options } = this.#options;
    let thrown: Error | undefined;
    const config: AgentLoopConfig = {
      ...options,
      model: standInModel("codelet"),
      toolExecution: "sequential",
      maxParallelTools: 1, // also for tools declared as parallel
      convertToLlm: (messages) => messages,
    };
    const ask = toStreamFn(provider);
    const events = agentLoopContinue(this.#context, config, signal, async (...call) => {
      try {
        return await ask(...call);
      } catch (error) {
        thrown = error as Error;
        throw error;
      }
    });
    const failure = failureOf(await runToEnd(events));
    if (failure !== undefined)
      throw thrown ?? new BowlineError(failure.code, failure.message, failure);
  }
}
