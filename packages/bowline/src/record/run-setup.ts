/** The input of a run: its task, and its ports to the outside. */
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
  FileContent,
  ImageContent,
  Model,
  ThinkingLevel,
} from "@bowline/core";
import type { AnyEntry, SessionHeader } from "@bowline/core/session";

/**
 * Decides whether a call may run. With `asked`, the reason of a hook, a person is asked even if a
 * rule allows the call.
 */
export type Approver = (
  context: BeforeToolCallContext,
  signal?: AbortSignal,
  asked?: string,
) => Promise<BeforeToolCallResult | undefined>;

/** The task of a run and its settings. JSON-safe. */
export interface RunSetup {
  readonly task: string;
  readonly images: readonly ImageContent[];
  /** Absent if there are none, and in recordings of earlier versions. */
  readonly files?: readonly FileContent[];
  readonly systemPrompt: string;
  readonly model: Model;
  readonly thinking: ThinkingLevel;
  readonly budget: Budget;
  /**
   * How long failed model calls are retried, in milliseconds. Absent in old recordings, which are
   * replayed with core's number of retries, as their runs were.
   */
  readonly retryMs?: number;
  /** The session's content before the run, for replays. Absent if there was no session. */
  readonly session?: SessionContent;
}

/** Time limit of one model call, in milliseconds. */
export const ANSWER_MS = 600_000;

/** The content of a session. JSON-safe. */
export interface SessionContent {
  readonly header: SessionHeader;
  readonly entries: readonly AnyEntry[];
}

/** The ports of a run to the outside. */
export interface RunPorts extends Pick<
  AgentOptions,
  "apiKey" | "fetch" | "clock" | "createId" | "random"
> {
  readonly tools: readonly AgentTool[];
  readonly beforeToolCall: Approver;
}

/**
 * Creates the agent. It compacts long conversations and stops loops, because no one may be
 * watching.
 */
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
    // An abort takes at most two seconds, even if tools ignore their signal.
    abortGraceMs: 1000,
    hookTimeoutMs: 0,
    budget,
    timeouts: { firstByteMs: ANSWER_MS },
    // The run survives a restart of the model server or a short network failure.
    ...(retryMs !== undefined && {
      maxRetries: Infinity,
      maxRetryTimeMs: retryMs,
      retryAfterOutput: true,
    }),
  });
}
