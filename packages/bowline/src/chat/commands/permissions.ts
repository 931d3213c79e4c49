import { oneLine } from "../../terminal.ts";
import type { Chat } from "../chat.ts";
import type { SlashCommand } from "./command.ts";

const actions = ["allow", "ask", "deny"] as const;
const scopes = ["session", "project", "user"] as const;
const takes = "[allow|ask|deny <rule> [session|project|user]]";

export const permissions: SlashCommand = {
  name: "permissions",
  takes,
  help: "list the rules for calls, or add one (default: for this session)",
  async run(args, chat) {
    if (args === "") return list(chat);
    const [, action = "", rest = ""] = /^(\S+)\s*([^]*)$/.exec(args) ?? [];
    const known = actions.find((one) => one === action);
    const scope = scopes.find((one) => rest.endsWith(` ${one}`)) ?? "session";
    const rule = rest.endsWith(` ${scope}`) ? rest.slice(0, -scope.length - 1).trim() : rest.trim();
    if (known === undefined || rule === "")
      throw new Error(`/permissions takes ${takes}, such as: /permissions allow bash(git log *)`);
    await chat.world.permissions.add(rule, known, scope);
    chat.notice(`${known} ${rule}, for this ${scope}.`);
  },
};

function list(chat: Chat): void {
  const rules = chat.world.permissions.list();
  const rows = actions
    .toReversed()
    .flatMap((action) => rules.filter((rule) => rule.action === action))
    .map(
      ({ action, rule, scope, source }) =>
        `  ${action.padEnd(5)}  ${oneLine(rule, 200)}  ${scope === source ? scope : `${scope}, ${oneLine(source, 200)}`}`,
    );
  chat.notice(
    [
      "Rules (deny before ask before allow; without a rule, what can change things asks):",
      ...(rows.length === 0 ? ["  none"] : rows),
    ].join("\n"),
  );
}
