/** Creates the agent of a conversation, with its compaction. */
import {
  Agent,
  createCompaction,
  createProgressGuard,
  streamByProtocol,
  systemClock,
  type AgentTool,
  type Budget,
  type Clock,
  type Compaction,
  type CompactionEvent,
  type Model,
  type StreamFn,
  type ThinkingLevel,
} from "@bowline/core";
import { CompactionSteps } from "./compaction-steps.ts";
import { ANSWER_MS, type Approver } from "../record/run-setup.ts";

export interface ChatAgentOptions {
  readonly model: Model;
  readonly thinking: ThinkingLevel;
  readonly systemPrompt: string;
  readonly tools: readonly AgentTool[];
  readonly budget: Budget;
  /** How long failed model calls are retried, in milliseconds. */
  readonly retryMs: number;
  /** Percentage of the context window at which the conversation is compacted. */
  readonly compactAt?: number;
  readonly beforeToolCall: Approver;
  readonly apiKey?: string;
  readonly fetch?: typeof globalThis.fetch;
  /** Receives the events of a compaction that the person asked for, outside of a run. */
  readonly onCompaction: (event: CompactionEvent) => Promise<void>;
  /** Default: by the model's protocol. */
  readonly streamFn?: StreamFn;
  readonly clock?: Clock;
}

export interface ChatAgent {
  readonly agent: Agent;
  /** Compacts now, with the person's words for the summary. Resolves with true if it freed tokens. */
  compact(words: string, signal: AbortSignal): Promise<boolean>;
  /** The size of a request above which it is compacted, in tokens. Infinity if it is unknown. */
  readonly limit: number;
  /** The size without the last compaction of this process. Undefined if there is none. */
  tokensWithoutLast(): number | undefined;
  /** Undoes the last compaction of this process, in memory. */
  undoLast(): void;
  /** Forgets all compactions of this process: the next request contains the agent's messages. */
  sendAll(): void;
}

export function createChatAgent(options: ChatAgentOptions): ChatAgent {
  const { clock = systemClock, streamFn = streamByProtocol, compactAt } = options;
  let words = "";
  let agent: Agent | undefined;
  const steps = new CompactionSteps();
  const compaction: Compaction = createCompaction({
    streamOptions: { clock },
    contextWindow: () => (agent?.state.model ?? options.model).contextWindow,
    onCompaction: async (event) => {
      steps.note(event, compaction.state, agent?.state.messages ?? []);
      // A run emits these events itself.
      if (agent?.state.isStreaming === false) await options.onCompaction(event);
    },
    get prompt() {
      return words === "" ? undefined : summaryPrompt(words);
    },
    get reserveTokens() {
      const size = (agent?.state.model ?? options.model).contextWindow;
      return compactAt === undefined || size === undefined
        ? undefined
        : Math.round(size * (1 - compactAt / 100));
    },
  });
  const guard = createProgressGuard({ now: () => clock.now() });
  const { apiKey, fetch } = options;
  const made = (agent = new Agent({
    systemPrompt: options.systemPrompt,
    model: options.model,
    thinkingLevel: options.thinking,
    tools: [...options.tools],
    beforeToolCall: options.beforeToolCall,
    streamFn: compaction.wrap(streamFn),
    transformContext: async (messages, signal, run) =>
      guard(await compaction.transformContext(messages, signal, run)),
    clock,
    // An interrupt takes at most a second, even if tools ignore their signal.
    abortGraceMs: 1000,
    hookTimeoutMs: 0,
    budget: options.budget,
    timeouts: { firstByteMs: ANSWER_MS },
    maxRetries: Infinity,
    maxRetryTimeMs: options.retryMs,
    retryAfterOutput: true,
    ...(apiKey !== undefined && { apiKey }),
    ...(fetch !== undefined && { fetch }),
  }));
  return {
    agent: made,
    async compact(given, signal) {
      words = given;
      try {
        return await compaction.compact(made.state.messages, { signal });
      } finally {
        words = "";
      }
    },
    get limit() {
      return compaction.limit;
    },
    tokensWithoutLast: () => steps.tokensWithout(made.state.messages),
    undoLast() {
      compaction.restore(steps.undo(made.state.messages));
    },
    sendAll() {
      steps.forget();
      compaction.restore(undefined);
    },
  };
}

function summaryPrompt(words: string): string {
  return (
    "Summarise the conversation so far for the model that continues it: the task, decisions, " +
    "files and commands that matter, what is done and what is open. The person asks in particular: " +
    words
  );
}
