/** Draws the past of a stored session, and says what can be gone on with. */
import { isLlmMessage } from "@bowline/core";
import type { Session } from "@bowline/core/session";
import type { Block } from "./block.ts";
import type { Chat } from "./chat.ts";
import type { Runtime } from "./runtime.ts";
import { Past } from "./past.ts";
import { timeText } from "./text.ts";
import { oneLine } from "../terminal.ts";
import { typedText } from "./user-message.ts";

/** Earlier blocks of a long session are not drawn again. */
const MAX_BLOCKS = 400;

export async function drawPast(
  chat: Pick<Chat, "dispatch" | "notice" | "setDraft">,
  session: Session,
  runtime: Runtime,
): Promise<void> {
  const past = new Past();
  let blocks: Block[] = [];
  let dropped = 0;
  let lastAt = session.header.createdAt;
  for (const entry of await session.path(undefined, { files: false })) {
    blocks.push(...past.blocks(entry));
    // Opening the session has added the entry that takes over the run.
    if (entry.type !== "reopen") lastAt = entry.timestamp;
    if (blocks.length <= MAX_BLOCKS * 2) continue;
    dropped += blocks.length - MAX_BLOCKS;
    blocks = blocks.slice(-MAX_BLOCKS);
  }
  blocks.push(...past.end());
  const { run, queued = [] } = await session.state();
  if (dropped > 0)
    chat.notice(`Earlier parts are left out: bowline sessions replay ${session.id} shows them.`);
  for (const block of blocks) chat.dispatch({ type: "block", block });
  const { contextTokens, ...cost } = past.totals;
  chat.dispatch({ type: "past", cost, ...(contextTokens !== undefined && { contextTokens }) });
  chat.notice(`Session ${oneLine(session.id, 100)} goes on here.`);
  for (const { message } of session.damage)
    chat.notice(`The session's file was damaged. ${oneLine(message, 1000)}`, "warning");
  if (runtime.hasInterrupted) chat.notice(interruptedText(run?.calls.size ?? 0, lastAt), "warning");
  const texts = queued.flatMap(({ message }) =>
    isLlmMessage(message) && message.role === "user" ? typedText(message) : [],
  );
  if (texts.length === 0) return;
  // They were typed for a moment that has passed: the person decides again.
  runtime.agent.clearAllQueues();
  chat.setDraft(texts.join("\n"));
  chat.notice("Messages that were queued and not sent are back in the draft.");
}

function interruptedText(calls: number, at: number): string {
  const what = calls === 0 ? "" : ` It had begun ${calls} tool call${calls === 1 ? "" : "s"}.`;
  return (
    `The last run was interrupted at ${timeText(at)}: its process was stopped.${what} /continue goes on with it. ` +
    "A message ends it instead; tool calls without a result are then reported to the model as unknown."
  );
}
