/** The options of a UI message stream, and what is shown by default. */
import { systemClock, type Clock } from "../clock.ts";
import { BowlineError, type ErrorInfo } from "../errors.ts";
import type { AgentEvent, RunEndReason } from "../agent/contract/event.ts";
import type { AgentToolResult, ToolOutcome } from "../agent/contract/tool-result.ts";
import { joinTexts } from "../llm/message.ts";
import type { Usage } from "../llm/usage.ts";
import type { UIDataChunk } from "./chunk.ts";

/** A tool's result or progress. */
export interface UIToolResult {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly result: AgentToolResult;
  /** True for progress while the tool runs. */
  readonly isPreliminary: boolean;
}

/** A failure that the page is told about. */
export type UIFailure =
  | { readonly kind: "run"; readonly error: ErrorInfo }
  | {
      readonly kind: "tool";
      readonly toolName: string;
      readonly outcome: ToolOutcome;
      /** The text that the model gets. It may name files, hosts or keys of the server. */
      readonly text: string;
    };

/** Data for the page, sent as a part of the type `data-<name>`. */
export interface UIData {
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  /** Data of the same name and id replaces earlier data. */
  readonly id?: string | undefined;
  /** A JSON value. */
  readonly data: unknown;
  /** Whether the message does not keep the data. Default false. */
  readonly isTransient?: boolean | undefined;
}

/** The metadata of a finished message, unless `toMetadata` gives other. */
export interface UIMessageMetadata {
  readonly runId: string;
  readonly reason: RunEndReason;
  /** The billed usage of the run, with its cost in US dollars where prices are known. */
  readonly usage: Usage;
}

export interface UIMessageStreamOptions {
  /**
   * Whether thinking is sent. Default false: a model may repeat the system prompt or other users'
   * data while it thinks.
   */
  readonly reasoning?: boolean | undefined;
  /**
   * What a response does while a call waits for approval. `end` (default): it ends, and the client
   * posts the answer, as `useChat` does. `wait`: it stays open, and the answer comes by another
   * request.
   */
  readonly approvals?: "end" | "wait" | undefined;
  /** The id of the message. Default: the id of the run, which is unique. */
  readonly messageId?: string | undefined;
  /**
   * Returns the JSON value that is shown of a tool's result. Default: its text, or its content if
   * that has images.
   */
  readonly toOutput?: ((result: UIToolResult) => unknown) | undefined;
  /** Returns data to send with a tool's result, for example from its `details`. Default: none. */
  readonly toData?: ((result: UIToolResult) => UIData | readonly UIData[] | undefined) | undefined;
  /** Returns the text that is shown of a failure. Default: a general text without details. */
  readonly toErrorText?: ((failure: UIFailure) => string) | undefined;
  /** Returns the metadata of the finished message. Default: a {@link UIMessageMetadata}. */
  readonly toMetadata?: ((end: UIMessageMetadata) => unknown) | undefined;
  /**
   * Number of chunks that are buffered for a slow reader. Default 10,000. A reader that falls
   * further behind rejects with `reader_too_slow`, and the run continues.
   */
  readonly maxHeldChunks?: number | undefined;
  /** Default: the system's clock. */
  readonly clock?: Clock | undefined;
}

/** The options with their defaults. */
export type UIStreamSettings = {
  readonly [TName in Exclude<keyof UIMessageStreamOptions, "messageId">]-?: Exclude<
    UIMessageStreamOptions[TName],
    undefined
  >;
} & Pick<UIMessageStreamOptions, "messageId">;

export function settingsOf(options: UIMessageStreamOptions): UIStreamSettings {
  const {
    reasoning = false,
    approvals = "end",
    messageId,
    toOutput = shownOutput,
    toData = () => undefined,
    toErrorText = generalText,
    toMetadata = (end) => end,
    maxHeldChunks = 10_000,
    clock = systemClock,
  } = options;
  const hooks = { toOutput, toData, toErrorText, toMetadata };
  return { reasoning, approvals, messageId, ...hooks, maxHeldChunks, clock };
}

/** Returns the chunks of the data that belongs to a result. */
export function dataOf(settings: UIStreamSettings, result: UIToolResult): UIDataChunk[] {
  return [settings.toData(result) ?? []].flat().map(({ name, id, data, isTransient }) => {
    if (!/^[\w-]+$/.test(name))
      throw new BowlineError(
        "invalid_argument",
        `toData: ${JSON.stringify(name)} is not a name. Use letters, digits, "_" and "-".`,
      );
    return {
      type: `data-${name}` as const,
      ...(id !== undefined && { id }),
      data: data ?? null,
      ...(isTransient === true && { transient: true as const }),
    };
  });
}

export function metadataOf(
  { runId, reason, usage }: Extract<AgentEvent, { type: "agent_end" }>,
  settings: UIStreamSettings,
): unknown {
  return settings.toMetadata({ runId, reason, usage });
}

function shownOutput({ result: { content = [] } }: UIToolResult): unknown {
  return content.every(({ type }) => type === "text") ? joinTexts(content, "\n") : content;
}

/** Tells what happened without the text of an error, which may contain data of the server. */
function generalText(failure: UIFailure): string {
  if (failure.kind === "run") return `The answer failed (${failure.error.code}).`;
  switch (failure.outcome) {
    case "finished":
    case "failed":
      return "The tool failed.";
    case "stopped":
    case "left_running":
      return "The tool was stopped.";
    case "not_started":
      return "The tool was not run.";
    case "unknown":
      return "It is unknown whether the tool ran.";
  }
}
