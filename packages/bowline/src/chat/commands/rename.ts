import { oneLine } from "../../terminal.ts";
import type { SlashCommand } from "./command.ts";

export const rename: SlashCommand = {
  name: "rename",
  takes: "<title>",
  help: "give the session a title",
  async run(args, chat) {
    const { session } = chat.runtime;
    if (args === "") return chat.notice("What is the title? /rename <title>", "warning");
    if (session === undefined) return chat.notice("The session begins with the first message.");
    await session.rename(args);
    chat.notice(`The session is now ${JSON.stringify(oneLine(args, 200))}.`);
  },
};
