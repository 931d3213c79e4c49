import type { UserMessage } from "@bowline/core";
import { isKnownEntry, type AnyEntry } from "@bowline/core/session";
import { pickOne } from "../../screen/picker.ts";
import { oneLine } from "../../terminal.ts";
import { timeText } from "../text.ts";
import { typedText } from "../user-message.ts";
import type { SlashCommand } from "./command.ts";

/** A message that a person sent. */
interface Prompt {
  /** The entry with which a fork before the message ends. */
  readonly at: string | null;
  readonly text: string;
  readonly time: number;
}

export const fork: SlashCommand = {
  name: "fork",
  help: "go on from before an earlier message, in a new session; the old one is kept",
  needsIdle: true,
  async run(_, chat) {
    const { session } = chat.runtime;
    if (session === undefined) return chat.notice("There is nothing to fork yet.");
    const prompts = promptsOf(await session.path());
    const chosen = await pickOne(chat.screen, {
      filter: true,
      title: "Go on from before which message? It comes back as the draft.",
      items: prompts.toReversed().map((prompt) => ({
        label: oneLine(prompt.text, 200),
        detail: timeText(prompt.time),
        value: prompt,
      })),
    });
    if (chosen === undefined) return;
    await chat.change(async () =>
      chosen.at === null ? undefined : session.fork({ at: chosen.at }),
    );
    chat.setDraft(chosen.text);
    chat.notice("This is a fork: the messages from that point on are in the old session only.");
  },
};

function promptsOf(path: readonly AnyEntry[]): Prompt[] {
  return path.flatMap((entry, index) => {
    if (!isKnownEntry(entry) || entry.type !== "message" || entry.message.role !== "user")
      return [];
    const { content } = entry.message as Partial<UserMessage>;
    const text = content === undefined ? "" : typedText({ content });
    // The start of the message's own run does not belong to what comes before it.
    const before = path[index - 1];
    const last = before?.type === "run_start" ? path[index - 2] : before;
    return [{ at: last?.id ?? null, text, time: entry.timestamp }];
  });
}
