/** What a run is given: its task, and what it touches while it does it. */
import {
  Agent,
  createCompaction,
  createProgressGuard,
  streamByProtocol,
  systemClock,
} from "@bowline/core";
import type {
  AgentOptions,
  AgentTool,
  BeforeToolCallContext,
  BeforeToolCallResult,
  Budget,
  ImageContent,
  Model,
  ThinkingLevel,
} from "@bowline/core";
import type { AnyEntry, SessionHeader } from "@bowline/core/session";

/** Decides whether a call may run. */
export type Approver = (
  context: BeforeToolCallContext,
  signal?: AbortSignal,
) => Promise<BeforeToolCallResult | undefined>;

/** What a run is to do. JSON-safe. */
export interface RunSetup {
  readonly task: string;
  readonly images: readonly ImageContent[];
  readonly systemPrompt: string;
  readonly model: Model;
  readonly thinking: ThinkingLevel;
  readonly budget: Budget;
  /**
   * How long a model server that fails is retried. Recordings of before there was a limit have none,
   * and are replayed with core's own number of retries, which their runs had.
   */
  readonly retryMs?: number;
  /** What its session held before, for a replay; absent where none was kept. */
  readonly session?: SessionContent;
}

/** How long a model server may be without an answer. */
export const ANSWER_MS = 600_000;

/** JSON-safe. */
export interface SessionContent {
  readonly header: SessionHeader;
  readonly entries: readonly AnyEntry[];
}

/** What a run touches. */
export interface RunPorts extends Pick<
  AgentOptions,
  "apiKey" | "fetch" | "clock" | "createId" | "random"
> {
  readonly tools: readonly AgentTool[];
  readonly beforeToolCall: Approver;
}

/** Long conversations are compacted, and circles are stopped: nobody may be watching. */
export function createAgent(
  { systemPrompt, model, thinking, budget, retryMs }: RunSetup,
  { tools, ...ports }: RunPorts,
): Agent {
  const { clock = systemClock } = ports;
  const compaction = createCompaction({ streamOptions: { clock } });
  const guard = createProgressGuard({ now: () => clock.now() });
  return new Agent({
    systemPrompt,
    model,
    thinkingLevel: thinking,
    tools: [...tools],
    ...ports,
    streamFn: compaction.wrap(streamByProtocol),
    transformContext: async (messages, signal, run) =>
      guard(await compaction.transformContext(messages, signal, run)),
    // A person who stops a run waits two seconds at most, tools that ignore their signal included.
    abortGraceMs: 1000,
    hookTimeoutMs: 0,
    budget,
    timeouts: { firstByteMs: ANSWER_MS },
    // A server that restarts, or whose line is down for a while, does not end the run.
    ...(retryMs !== undefined && {
      maxRetries: Infinity,
      maxRetryTimeMs: retryMs,
      retryAfterOutput: true,
    }),
  });
}
