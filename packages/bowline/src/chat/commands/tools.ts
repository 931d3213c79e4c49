import { oneLine } from "../../terminal.ts";
import { needsApproval } from "../../tools/index.ts";
import { planRefusal } from "../gate.ts";
import type { SlashCommand } from "./command.ts";

export const tools: SlashCommand = {
  name: "tools",
  help: "the tools that the model has, and which of them run in plan mode",
  run(_, chat) {
    const rows = chat.runtime.agent.state.tools.map(({ name, description }) => {
      const kind = needsApproval(name) ? "can change things" : "reads only";
      const plan = planRefusal(name) === undefined ? "" : "; not in plan mode";
      return `  ${name}  ${kind}${plan}: ${oneLine(description, 120)}`;
    });
    chat.notice(["Tools:", ...rows].join("\n"));
  },
};
