/**
 * One run as the page shows it, built from its events. Updates are immutable, so that unchanged
 * parts are not redrawn.
 */
import type { RunEvent } from "../../gateway/client/client.ts";
import type {
  AddedText,
  Block,
  ErrorKind,
  EventData,
  RunState,
  TokenCounts,
} from "../../gateway/protocol/protocol.ts";
import { isReady, type SentImage } from "./sent-image.ts";

export type ToolBlock = Extract<Block, { readonly type: "tool_call" }>;
/** A text that a program added to a message. The text itself is known from the history only. */
export interface ShownAddition extends AddedText {
  readonly text?: string;
}
/** Events contain types and sizes of images; the sending tab has the images themselves. */
export type UserBlock = Omit<Extract<Block, { readonly type: "user" }>, "images" | "added"> & {
  readonly images?: readonly SentImage[];
  readonly added?: readonly ShownAddition[];
};
export type ShownBlock = Exclude<Block, { readonly type: "user" }> | UserBlock;

export interface RunView {
  readonly runId: string;
  readonly state: RunState;
  readonly blocks: readonly ShownBlock[];
  /** The result of each model call. For a run joined late, only those since. */
  readonly turns: readonly TurnView[];
  readonly notices: readonly Notice[];
  /** Answers to approvals, by the tool call's id. */
  readonly answers: ReadonlyMap<string, AnswerView>;
  readonly stopReason?: "stop" | "length" | "budget";
  readonly failure?: Failure;
  /** The run's last entry, if it was read from the transcript. */
  readonly lastEntry?: string;
}

export interface TurnView {
  readonly turn: number;
  readonly provider: string;
  readonly model: string;
  readonly usage: TokenCounts;
}

interface Notice {
  readonly code: string;
  readonly message: string;
}

export interface AnswerView {
  readonly decision: "allow" | "deny" | "expired";
  readonly by?: string;
}

interface Failure {
  readonly message: string;
  readonly kind: ErrorKind;
}

export function newRun(runId: string): RunView {
  return { runId, state: "running", blocks: [], turns: [], notices: [], answers: new Map() };
}

export function isOver({ state }: RunView): boolean {
  return state !== "running" && state !== "queued";
}

/**
 * Returns true if the run's last message is complete here. After a reload only the sizes of images
 * and files are known. What a program added to a message would not be sent again.
 */
export function canRetry({ blocks }: RunView): boolean {
  const asked = blocks.findLast((block) => block.type === "user");
  if (asked?.files !== undefined || asked?.added !== undefined) return false;
  return (asked?.images ?? []).every(isReady);
}

/**
 * Applies an event. `calls` maps approvals to tool calls. `images` are those of a user's message
 * sent by this tab.
 */
export function foldRun(
  run: RunView,
  { event, data }: RunEvent,
  calls?: ReadonlyMap<string, string>,
  images: readonly SentImage[] = [],
): RunView {
  switch (event) {
    case "chat.user":
      return add(run, userBlock(data, images));
    case "chat.delta":
      return grow(run, "text", data.turn, data.text);
    case "chat.thinking":
      return grow(run, "thinking", data.turn, data.text);
    case "chat.tool_call": {
      const { toolCallId, name } = data;
      const begun = { name, arguments: data.arguments, output: "" };
      // A call that a killed server had started already has a card.
      if (callOf(run, toolCallId)?.state === "running") return changeCall(run, toolCallId, begun);
      return add(run, { type: "tool_call", toolCallId, state: "running", ...begun });
    }
    case "tool.progress":
      return changeCall(run, data.toolCallId, { output: data.text });
    case "chat.tool_result": {
      const { toolCallId, output, isError, durationMs } = data;
      return changeCall(run, toolCallId, {
        output,
        durationMs,
        state: isError ? "failed" : "done",
      });
    }
    case "chat.turn": {
      const { turn, provider, model, usage } = data;
      return {
        ...run,
        turns: [...run.turns.filter((one) => one.turn !== turn), { turn, provider, model, usage }],
      };
    }
    case "chat.notice": {
      const { code, message } = data;
      return { ...run, notices: [...run.notices, { code, message }] };
    }
    case "chat.snapshot":
      return { ...run, state: data.state, blocks: withImages(data.blocks, run.blocks) };
    case "chat.final":
      return { ...run, state: "final", stopReason: data.stopReason };
    case "chat.error":
      return { ...run, state: "error", failure: { message: data.message, kind: data.errorKind } };
    case "chat.aborted":
      return { ...run, state: "aborted" };
    case "exec.approval_request":
    case "chat.queued":
      return run;
    case "exec.approval_resolved": {
      const toolCallId = calls?.get(data.approvalId);
      if (toolCallId === undefined) return run;
      const answer: AnswerView = {
        decision: data.decision,
        ...(data.by !== undefined && { by: data.by }),
      };
      return { ...run, answers: new Map(run.answers).set(toolCallId, answer) };
    }
  }
}

function userBlock(
  { text, images: told = [], files, added }: EventData<"chat.user">,
  images: readonly SentImage[],
): UserBlock {
  const shown = images.length > 0 ? images : told;
  return {
    type: "user",
    text,
    ...(shown.length > 0 && { images: shown }),
    ...(files && { files }),
    ...(added && { added }),
  };
}

/** Adds the images that this tab sent to the messages of a snapshot. */
function withImages(
  blocks: readonly ShownBlock[],
  known: readonly ShownBlock[],
): readonly ShownBlock[] {
  const messages = known.filter((block) => block.type === "user");
  let next = 0;
  return blocks.map((block) => {
    if (block.type !== "user") return block;
    const { images } = messages[next++] ?? {};
    return images?.some(isReady) ? { ...block, images } : block;
  });
}

function add(run: RunView, block: ShownBlock): RunView {
  return { ...run, blocks: [...run.blocks, block] };
}

function grow(run: RunView, type: "text" | "thinking", turn: number, text: string): RunView {
  const last = run.blocks.at(-1);
  if (last?.type !== type || last.turn !== turn) return add(run, { type, turn, text });
  return {
    ...run,
    blocks: run.blocks.with(run.blocks.length - 1, { ...last, text: last.text + text }),
  };
}

/** Ids can repeat in later turns: find the last. */
function callOf({ blocks }: RunView, toolCallId: string): ToolBlock | undefined {
  const call = blocks.findLast(
    (block) => block.type === "tool_call" && block.toolCallId === toolCallId,
  );
  return call?.type === "tool_call" ? call : undefined;
}

function changeCall(run: RunView, toolCallId: string, change: Partial<ToolBlock>): RunView {
  const call = callOf(run, toolCallId);
  if (call === undefined) return run;
  return { ...run, blocks: run.blocks.with(run.blocks.lastIndexOf(call), { ...call, ...change }) };
}
