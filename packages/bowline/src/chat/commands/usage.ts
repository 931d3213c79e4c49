import {
  addUsage,
  billedUsage,
  isLlmMessage,
  type AssistantMessage,
  type Usage,
} from "@bowline/core";
import { isKnownEntry } from "@bowline/core/session";
import { oneLine } from "../../terminal.ts";
import { plural, usageText } from "../text.ts";
import type { Chat } from "../chat.ts";
import type { SlashCommand } from "./command.ts";

interface Row {
  usage: Usage;
  requests: number;
  unpriced: number;
}

export const usage: SlashCommand = {
  name: "usage",
  help: "requests, tokens and cost of this session, by model",
  async run(_, chat) {
    const rows = await rowsOf(chat);
    if (rows.size === 0) return chat.notice("No model was asked yet.");
    const lines = [...rows].map(([model, { usage: sum, requests, unpriced }]) => {
      const isUnknown = unpriced > 0 && sum.cost !== undefined;
      const more = isUnknown ? ` · cost of ${plural(unpriced, "request")} unknown` : "";
      return `  ${oneLine(model, 100)}  ${plural(requests, "request")} · ${usageText(sum)}${more}`;
    });
    chat.notice(["Usage of this session:", ...lines].join("\n"));
  },
};

async function rowsOf({ runtime }: Chat): Promise<Map<string, Row>> {
  const rows = new Map<string, Row>();
  const add = (model: string, used: Usage): void => {
    const row = rows.get(model) ?? { usage: {}, requests: 0, unpriced: 0 };
    row.usage = addUsage(row.usage, used);
    row.requests++;
    if (used.cost === undefined) row.unpriced++;
    rows.set(model, row);
  };
  const addMessage = (message: AssistantMessage): void =>
    add(`${message.provider}/${message.model}`, billedUsage(message));
  if (runtime.session === undefined) {
    for (const message of runtime.agent.state.messages)
      if (message.role === "assistant") addMessage(message);
    return rows;
  }
  for (const entry of await runtime.session.path(undefined, { files: false })) {
    if (!isKnownEntry(entry)) continue;
    if (entry.type === "usage") add("summaries and sub-agents", entry.usage);
    else if (entry.type === "message" && isLlmMessage(entry.message)) {
      if (entry.message.role === "assistant") addMessage(entry.message);
    }
  }
  return rows;
}
