/** The slash commands, and what a line that begins with a slash does. */
import { didYouMean } from "../../settings/nearest-name.ts";
import type { CompletionItem } from "../../screen/editor/completion.ts";
import type { Chat } from "../chat.ts";
import type { SlashCommand } from "./command.ts";
import { compact } from "./compact.ts";
import { context } from "./context.ts";
import { copy } from "./copy.ts";
import { exportSession } from "./export.ts";
import { fork } from "./fork.ts";
import { continueRun, newConversation, plan, quit } from "./small.ts";
import { help } from "./help.ts";
import { mcp } from "./mcp.ts";
import { model } from "./model.ts";
import { permissions } from "./permissions.ts";
import { projectCommand, projectCommands } from "./project.ts";
import { queue } from "./queue.ts";
import { rename } from "./rename.ts";
import { resume, sessions } from "./sessions.ts";
import { tools } from "./tools.ts";
import { uncompact } from "./uncompact.ts";
import { unfold } from "./unfold.ts";
import { usage } from "./usage.ts";

export const slashCommands: readonly SlashCommand[] = [
  compact,
  context,
  continueRun,
  copy,
  exportSession,
  fork,
  help,
  mcp,
  model,
  newConversation,
  permissions,
  plan,
  queue,
  quit,
  rename,
  resume,
  sessions,
  tools,
  uncompact,
  unfold,
  usage,
];

/** The names to complete after a slash. Those of the project come when it is loaded. */
export function commandNames(chat: Chat & { readonly hasRuntime: boolean }): CompletionItem[] {
  const own = slashCommands.map(({ name, help: detail }) => ({ name, detail }));
  if (!chat.hasRuntime) return own;
  const taken = new Set(own.map(({ name }) => name));
  const more = projectCommands(chat.world.project).filter(({ name }) => !taken.has(name));
  return [...own, ...more.map(({ name, description: detail }) => ({ name, detail }))];
}

/**
 * Performs a line that begins with a slash. The model never gets a line that is no command.
 * `isTyped`: the line is shown above what it prints.
 */
export async function runCommandLine(
  line: string,
  chat: Chat & { readonly hasRuntime: boolean },
  isTyped = false,
): Promise<void> {
  const [, name = "", args = ""] = /^\/(\S*)\s*([^]*)$/.exec(line) ?? [];
  const found = slashCommands.find((command) => command.name === name);
  if (found?.needsIdle === true && chat.isBusy) {
    chat.setDraft(line);
    return chat.dispatch({
      type: "hint",
      text: `/${name} needs a pause: Esc interrupts what works.`,
    });
  }
  try {
    if (found !== undefined && (chat.hasRuntime || found === quit || found === help)) {
      // A terminal that edits the line itself has shown it.
      if (isTyped && found !== quit && !chat.screen.isPlain)
        chat.dispatch({ type: "block", block: { type: "user", text: line, media: 0 } });
      return await found.run(args.trim(), chat, slashCommands);
    }
    if (found !== undefined) {
      chat.setDraft(line);
      return chat.dispatch({ type: "hint", text: `/${name} works as soon as a model is found.` });
    }
    if (chat.hasRuntime && (await projectCommand(name, args.trim(), chat))) return;
  } catch (error) {
    return chat.notice(error instanceof Error ? error.message : String(error), "error");
  }
  refuse(name, line, chat);
}

function refuse(name: string, line: string, chat: Chat & { readonly hasRuntime: boolean }): void {
  const known = commandNames(chat).map((command) => command.name);
  const nearest = didYouMean(name, known, (one) => `/${one}`);
  chat.setDraft(line);
  chat.notice(
    `There is no command /${name}.${nearest} Nothing was sent. /help lists the commands; a space before the slash sends the line as text.`,
    "warning",
  );
}
