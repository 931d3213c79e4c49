/**
 * The state of a conversation on a terminal: what is live. Finished blocks leave it at once, so it
 * does not grow with the conversation.
 */
import type { AgentEvent, ErrorInfo } from "@bowline/core";
import type { Block, FileChange } from "./block.ts";
import type { WaitMoment } from "./waiting.ts";

/** A message that waits for its moment. */
export interface Queued {
  readonly id: number;
  readonly moment: WaitMoment;
  readonly text: string;
  /** True while it is in the draft. */
  readonly isEdited?: true;
}

/** A tool call that has begun. */
export interface LiveCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  readonly startedAt: number;
  /** The end of its output, at most {@link TAIL_CHARACTERS} long. */
  readonly tail: string;
  readonly bytes: number;
  /** The sub-agent's tool that made the call. */
  readonly within?: string;
}

/** A call that waits for a person's answer. */
export interface Asked {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: unknown;
  readonly reason: string;
  /** The parsed commands or paths of the call. */
  readonly parts: readonly string[];
  readonly suggestions: readonly { readonly rule: string; readonly also: string }[];
  readonly change?: FileChange;
  readonly askedAt: number;
}

interface Waiting {
  readonly attempt: number;
  /** When the request is sent again, in milliseconds since the epoch. */
  readonly until: number;
  readonly error: ErrorInfo;
}

/** What the model or the runtime is doing now, besides tool calls. */
export interface LiveAnswer {
  /** When the request was sent. */
  readonly since: number;
  /** The end of the thinking, and the number of its words. */
  readonly thinking: string;
  readonly words: number;
  readonly isThinking: boolean;
  /** The call whose arguments are being written. */
  readonly writing?: { readonly name: string; readonly bytes: number };
  readonly retry?: Waiting;
}

type Phase = "starting" | "idle" | "working" | "interrupting";

export interface ChatState {
  readonly phase: Phase;
  /** `vendor/model`. Absent until it is known. */
  readonly model?: string;
  readonly contextWindow?: number;
  readonly contextTokens?: number;
  /** The known cost so far, in US dollars. */
  readonly cost: number;
  /** Whether a request's cost is unknown. */
  readonly isCostUnknown: boolean;
  readonly requests: number;
  readonly isPlan: boolean;
  readonly sandbox?: string;
  readonly startedAt?: number;
  /** The duration of the last run, in milliseconds. */
  readonly lastMs?: number;
  readonly answer?: LiveAnswer;
  readonly calls: readonly LiveCall[];
  /** Ids of this run's calls that have a finished block. */
  readonly settled: readonly string[];
  readonly compacting?: { readonly since: number; readonly before: number };
  readonly queue: readonly Queued[];
  /** The draft that waits while a queued message is edited. */
  readonly aside?: string;
  readonly asked: readonly Asked[];
  /** One line above the draft: what a key would do, or why something was refused. */
  readonly hint?: string;
}

export type Action =
  | { readonly type: "event"; readonly event: AgentEvent }
  | { readonly type: "ready" }
  | {
      readonly type: "model";
      readonly model: string;
      readonly contextWindow?: number | undefined;
      readonly why?: string;
    }
  | { readonly type: "past"; readonly contextTokens?: number; readonly cost: Cost }
  | { readonly type: "uncompacted"; readonly before: number; readonly after: number }
  | { readonly type: "sandbox"; readonly sandbox: string }
  | { readonly type: "plan"; readonly isOn: boolean }
  | { readonly type: "queue"; readonly queue: readonly Queued[]; readonly aside?: string }
  | { readonly type: "asked"; readonly asked: Asked }
  | { readonly type: "interrupting" }
  /** A line of the shell runs; `output` is all of it so far. */
  | {
      readonly type: "shell";
      readonly id: string;
      readonly command: string;
      readonly output: string;
    }
  | { readonly type: "shell_end"; readonly id: string }
  | { readonly type: "hint"; readonly text: string | undefined }
  | { readonly type: "block"; readonly block: Block }
  | { readonly type: "reset" };

export interface Cost {
  readonly cost: number;
  readonly isCostUnknown: boolean;
  readonly requests: number;
}

/** The next state, and the blocks that are finished with it. */
export interface Step {
  readonly state: ChatState;
  readonly blocks: readonly Block[];
}

export const TAIL_CHARACTERS = 4000;

export function initialState(): ChatState {
  return {
    phase: "starting",
    cost: 0,
    isCostUnknown: false,
    requests: 0,
    isPlan: false,
    calls: [],
    settled: [],
    queue: [],
    asked: [],
  };
}
