/** Reads the messages of a session, and its run. */
import type { AgentMessage } from "@bowline/core";
import { RequestError, type GatewayClient } from "../gateway/client/client.ts";
import type { HistoryEntry, RunInfo, WaitingMessage } from "../gateway/protocol/protocol.ts";
import { userContent } from "./event-bodies.ts";

/** The most messages of a page of the history. */
const PAGE = 500;
/** How often to read again if a run began or ended during the read. */
const TRIES = 3;

export interface ReadChat {
  /** Those before the run, and the message that it answers. */
  readonly messages: AgentMessage[];
  /** The run that is going on, else the first that waits. */
  readonly run: RunInfo | undefined;
}

export async function readChat(client: GatewayClient, sessionKey: string): Promise<ReadChat> {
  for (let tries = 1; ; tries++) {
    const run = await openRun(client, sessionKey);
    const { entries, waiting } = await history(client, sessionKey);
    const after = await openRun(client, sessionKey);
    if (tries < TRIES && after?.runId !== run?.runId) continue;
    return { messages: messagesBefore(entries, waiting, run), run };
  }
}

/** Returns undefined for a session that does not exist. */
async function openRun(client: GatewayClient, sessionKey: string): Promise<RunInfo | undefined> {
  try {
    const { session } = await client.request("sessions.get", { sessionKey });
    return session.runs.find(({ state }) => state === "running") ?? session.runs[0];
  } catch (error) {
    if (error instanceof RequestError && error.code === "not_found") return undefined;
    throw error;
  }
}

interface History {
  readonly entries: readonly HistoryEntry[];
  readonly waiting: readonly WaitingMessage[];
}

async function history(client: GatewayClient, sessionKey: string): Promise<History> {
  let entries: HistoryEntry[] = [];
  for (;;) {
    const before = entries[0]?.id;
    const asked = { sessionKey, limit: PAGE, ...(before !== undefined && { before }) };
    const page = await client.request("chat.history", asked);
    const whole: HistoryEntry[] = [];
    for (const entry of page.messages)
      whole.push(
        entry.truncated === undefined
          ? entry
          : { ...entry, message: await client.message(sessionKey, entry.id) },
      );
    entries = [...whole, ...entries];
    if (!page.hasMore || page.messages.length === 0) return { entries, waiting: page.waiting };
  }
}

function messagesBefore(
  entries: readonly HistoryEntry[],
  waiting: readonly WaitingMessage[],
  run: RunInfo | undefined,
): AgentMessage[] {
  const begun = entries.findIndex(({ runId }) => run !== undefined && runId === run.runId);
  const own = begun < 0 ? [] : entries.slice(begun);
  const isPrompt = ({ message }: HistoryEntry): boolean => message.role === "user";
  const answer = own.findIndex((entry) => !isPrompt(entry));
  const before = begun < 0 ? entries : entries.slice(0, begun);
  const prompts = answer < 0 ? own : own.slice(0, answer);
  const messages = [...before, ...prompts].map(({ message }) => toMessage(message));
  const prompt = waiting.find(({ messageId }) => messageId === run?.runId);
  if (prompt !== undefined)
    messages.push({
      role: "user",
      content: userContent(prompt.text, prompt.added),
      timestamp: Date.now(),
    });
  return messages;
}

/** Leaves out images and files, whose data the history does not have. */
function toMessage(message: HistoryEntry["message"]): AgentMessage {
  const { content } = message;
  if (typeof content === "string") return message as AgentMessage;
  const parts = (content as readonly { readonly type: string }[]).filter(
    ({ type }) => type !== "image" && type !== "file",
  );
  return { ...message, content: parts } as AgentMessage;
}
