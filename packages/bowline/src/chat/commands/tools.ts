import { oneLine } from "../../terminal.ts";
import { needsApproval } from "../../tools/index.ts";
import { planRefusal } from "../gate.ts";
import type { SlashCommand } from "./command.ts";

export const tools: SlashCommand = {
  name: "tools",
  help: "the tools that the model has, and which of them run in plan mode",
  run(_, chat) {
    const all = chat.runtime.agent.state.tools;
    const width = Math.max(0, ...all.map(({ name }) => name.length));
    const rows = all.map(({ name, description }) => {
      const kind = needsApproval(name) ? "can change things" : "reads only";
      const verdict = chat.world.permissions.judge({ tool: name, args: {} });
      const plan = planRefusal(name, verdict) === undefined ? "" : "; not in plan mode";
      return `  ${oneLine(name, 60).padEnd(width)}  ${kind}${plan}: ${firstSentence(description)}`;
    });
    chat.notice(["Tools:", ...rows].join("\n"));
  },
};

/** The whole description is for the model. */
function firstSentence(text: string): string {
  return oneLine(/^[^]*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text, 200);
}
