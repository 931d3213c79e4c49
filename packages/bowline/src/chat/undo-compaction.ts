/** Undoes the last compaction of a conversation: in its session, or in memory without one. */
import { contextTokens, type AgentMessage } from "@bowline/core";
import type { AgentSession } from "@bowline/core/session";
import type { ChatAgent } from "./chat-agent.ts";

export type UndoResult =
  | { readonly type: "none" }
  /** Refused: the next request would be compacted again at once. */
  | { readonly type: "too_long"; readonly tokens: number; readonly limit: number }
  | {
      readonly type: "undone";
      readonly before: number;
      readonly after: number;
      /** The size above which requests are compacted, if the next one is above it. */
      readonly limit?: number;
      /** Whether an earlier compaction is still in force. */
      readonly hasMore: boolean;
    };

export interface UndoOptions {
  /** Undoes it even if the next request would be compacted again. */
  readonly isSure: boolean;
  /** The size of the context that is shown, in tokens. */
  readonly shownTokens?: number | undefined;
}

/** What there is to undo, and how. */
interface Undo {
  /** The size of the context afterwards, in tokens. */
  readonly tokens: number;
  run(sizes: { readonly tokensBefore: number; readonly tokensAfter: number }): Promise<void>;
  hasMore(): Promise<boolean>;
}

export async function undoCompaction(
  chat: ChatAgent,
  attached: AgentSession | undefined,
  { isSure, shownTokens }: UndoOptions,
): Promise<UndoResult> {
  const undo = (attached && (await inSession(chat, attached))) ?? inMemory(chat);
  if (undo === undefined) return { type: "none" };
  const { tokens } = undo;
  const { limit } = chat;
  if (tokens > limit && !isSure) return { type: "too_long", tokens, limit };
  const before = shownTokens ?? contextTokens(chat.agent.state.messages);
  await undo.run({ tokensBefore: before, tokensAfter: tokens });
  const hasMore = await undo.hasMore();
  return { type: "undone", before, after: tokens, hasMore, ...(tokens > limit && { limit }) };
}

async function inSession(chat: ChatAgent, attached: AgentSession): Promise<Undo | undefined> {
  const { session } = attached;
  const compaction = await session.compaction();
  if (compaction === undefined) return undefined;
  const entries = await session.contextEntries(undefined, { without: compaction.id });
  const counted = contextTokens(entries.map(({ message }) => message as AgentMessage));
  return {
    // An estimate of all messages lacks the system prompt and the tools.
    tokens: Math.max(counted, compaction.tokensBefore ?? 0),
    run: async (sizes) => {
      await attached.undoCompaction(sizes);
      chat.sendAll();
    },
    hasMore: async () => (await session.compaction()) !== undefined,
  };
}

function inMemory(chat: ChatAgent): Undo | undefined {
  const tokens = chat.tokensWithoutLast();
  if (tokens === undefined) return undefined;
  return {
    tokens,
    run: async () => chat.undoLast(),
    hasMore: async () => chat.tokensWithoutLast() !== undefined,
  };
}
