import type { SlashCommand } from "./command.ts";

export const compact: SlashCommand = {
  name: "compact",
  takes: "[what to keep in mind]",
  help: "replace older messages by a summary, in requests only; the session keeps them",
  needsIdle: true,
  async run(args, chat) {
    const { runtime } = chat;
    if (args === "undo")
      return chat.notice("Nothing was compacted. /uncompact undoes the last compaction.");
    if (runtime.agent.state.messages.length === 0)
      return chat.notice("There is nothing to compact yet.");
    // Without the settings of a request, older messages would be dropped instead of summarised.
    if (!runtime.hasAsked)
      return chat.notice("Send a message first: a summary needs the settings of a request.");
    await chat.work(async (signal) => {
      const hasFreed = await runtime.compact(args, signal);
      if (!hasFreed) chat.notice("Compaction would free nothing.", "warning");
    });
  },
};
