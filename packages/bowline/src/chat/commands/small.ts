/** Commands of a line or two. */
import type { SlashCommand } from "./command.ts";

export const quit: SlashCommand = {
  name: "quit",
  help: "leave; the session is kept",
  run: (_, chat) => chat.leave(),
};

export const plan: SlashCommand = {
  name: "plan",
  help: "plan mode on or off: only reading tools run, the model proposes",
  run: (_, chat) => chat.setPlan(!chat.state.isPlan),
};

export const newConversation: SlashCommand = {
  name: "new",
  help: "begin a new conversation; the old one is kept",
  needsIdle: true,
  run: async (_, chat) => {
    await chat.change(async () => undefined);
    chat.notice("A new conversation begins. Nothing of the old one is sent.");
  },
};

export const continueRun: SlashCommand = {
  name: "continue",
  help: "go on with a run that was interrupted, failed or used up its budget",
  needsIdle: true,
  run: (_, chat) => chat.goOn(),
};
