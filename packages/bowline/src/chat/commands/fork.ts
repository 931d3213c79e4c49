import { messageText } from "@bowline/core";
import { isKnownEntry } from "@bowline/core/session";
import { pickOne } from "../../screen/picker.ts";
import { oneLine } from "../../terminal.ts";
import type { SlashCommand } from "./command.ts";

export const fork: SlashCommand = {
  name: "fork",
  help: "go on from before an earlier message, in a new session; the old one is kept",
  needsIdle: true,
  async run(_, chat) {
    const { session } = chat.runtime;
    if (session === undefined) return chat.notice("There is nothing to fork yet.");
    const prompts: { at: string | null; text: string; time: number }[] = [];
    for (const entry of await session.path()) {
      if (!isKnownEntry(entry) || entry.type !== "message" || entry.message.role !== "user")
        continue;
      const { content } = entry.message as {
        content?: Parameters<typeof messageText>[0]["content"];
      };
      const text = content === undefined ? "" : messageText({ content });
      prompts.push({ at: entry.parentId, text, time: entry.timestamp });
    }
    const chosen = await pickOne(chat.screen, {
      filter: true,
      title: "Go on from before which message? It comes back as the draft.",
      items: prompts.toReversed().map((prompt) => ({
        label: oneLine(prompt.text, 200),
        detail: new Date(prompt.time).toLocaleString(),
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
