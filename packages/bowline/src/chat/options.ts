/** The options of a conversation, as the command line gives them. */
import type { ThinkingLevel } from "@bowline/core";

/** Which session a conversation belongs to. */
export type ChatKeep =
  | "new"
  | "latest"
  | "none"
  | "choose"
  /** `isKnown`: it must exist. */
  | { readonly id: string; readonly isKnown: boolean };

export interface ChatOptions {
  /** The first message. Empty: none. */
  readonly task: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
  readonly profile?: string;
  readonly thinking?: ThinkingLevel;
  readonly yes: boolean;
  readonly keep: ChatKeep;
  /** Append-only lines instead of a live area. Absent: as the settings and the terminal say. */
  readonly plain?: boolean;
  readonly plan: boolean;
  readonly maxTurns: number;
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly retryMs: number;
}
