import { messageText } from "@bowline/core";
import { page } from "../../screen/pager.ts";
import { pickOne } from "../../screen/picker.ts";
import { printable } from "../../terminal.ts";
import { callTitle } from "../tool-lines.ts";
import type { Chat } from "../chat.ts";
import type { SlashCommand } from "./command.ts";

export const unfold: SlashCommand = {
  name: "unfold",
  takes: "[all]",
  help: "read the whole output of the last tool call, or choose one of all",
  async run(args, chat) {
    const cards = cardsOf(chat);
    const last = cards.at(-1);
    if (last === undefined) return chat.notice("No tool was called yet.");
    const chosen =
      args === "all"
        ? await pickOne(chat.screen, {
            filter: true,
            title: "Which call?",
            items: cards.toReversed().map((card) => ({
              label: card.title,
              detail: `${card.lines.length} lines`,
              value: card,
            })),
          })
        : last;
    if (chosen !== undefined) await page(chat.screen, chosen.title, chosen.lines);
  },
};

interface Card {
  readonly title: string;
  readonly lines: readonly string[];
}

function cardsOf({ runtime }: Chat): Card[] {
  const args = new Map<string, unknown>();
  const cards: Card[] = [];
  for (const message of runtime.agent.state.messages) {
    if (message.role === "assistant") {
      for (const part of message.content)
        if (part.type === "toolCall") args.set(part.id, part.arguments);
    } else if (message.role === "toolResult") {
      const { toolName, toolCallId } = message;
      cards.push({
        title: callTitle(toolName, args.get(toolCallId) ?? {}),
        lines: printable(messageText(message)).split("\n"),
      });
    }
  }
  return cards;
}
