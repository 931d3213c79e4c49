/** Checks after all runs have ended. */
import { messageText, type UserMessage } from "@bowline/core";
import type { Result } from "../../src/gateway/protocol/protocol.ts";
import type { Disk } from "./model-disk.ts";
import type { Ledger } from "./model-ledger.ts";

/**
 * Each accepted message must be in its session's log once, unless it was withdrawn or its run
 * failed. A refused message must not be there.
 */
export async function checkMessages(
  ledger: Ledger,
  disk: Disk,
  keys: readonly string[],
): Promise<void> {
  const found = new Map<string, number>();
  for (const sessionKey of keys)
    for (const entry of await disk.entries(sessionKey)) {
      const { message } = entry as { message?: UserMessage };
      const isSaid = entry.type === "message" && message?.role === "user";
      const word = isSaid ? messageText(message).split(" ")[0] : undefined;
      if (word !== undefined) found.set(word, (found.get(word) ?? 0) + 1);
    }
  for (const [word, { sessionKey, fate, runId = word }] of ledger.messages) {
    const count = found.get(word) ?? 0;
    const mayBeOut = ledger.mayBeGone(runId, sessionKey) || ledger.ends.get(runId) === "chat.error";
    if (count > 1) ledger.fault(`${word} is in ${sessionKey} ${count} times`);
    if (count === 0 && fate === "accepted" && !mayBeOut)
      ledger.fault(`${word} was accepted and is not in ${sessionKey}`);
    if (count > 0 && fate === "refused")
      ledger.fault(`${word} was refused and is in ${sessionKey}`);
  }
}

/** The history must agree with the events. */
export function checkTexts(ledger: Ledger, { sessionKey, messages }: Result<"chat.history">): void {
  const last = new Map<string, string>();
  for (const { runId, message } of messages)
    if (runId !== undefined && message.role === "assistant") last.set(runId, messageText(message));
  for (const [runId, text] of last) {
    const told = ledger.texts.get(runId);
    const isMeant = ledger.ends.get(runId) === "chat.final" && !ledger.mayBeGone(runId, sessionKey);
    if (told !== undefined && told !== text && isMeant)
      ledger.fault(
        `${runId} is ${JSON.stringify(text)} in the history, and was told as ${JSON.stringify(told)}`,
      );
  }
}
