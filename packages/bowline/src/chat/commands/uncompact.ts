import { tokensText } from "../text.ts";
import type { UndoResult } from "../undo-compaction.ts";
import type { Chat } from "../chat.ts";
import type { SlashCommand } from "./command.ts";

export const uncompact: SlashCommand = {
  name: "uncompact",
  takes: "[anyway]",
  help: "undo the last compaction: requests contain the earlier messages again",
  needsIdle: true,
  async run(args, chat) {
    if (args !== "" && args !== "anyway")
      return chat.notice('/uncompact takes nothing, or "anyway". Nothing was undone.', "warning");
    // As work, so that no run begins meanwhile.
    await chat.work(async () => {
      const { contextTokens: shownTokens } = chat.state;
      const options = { isSure: args === "anyway", shownTokens };
      tell(await chat.runtime.uncompact(options), chat);
    });
  },
};

function tell(result: UndoResult, chat: Pick<Chat, "dispatch" | "notice">): void {
  switch (result.type) {
    case "none":
      return chat.notice("Nothing is compacted: each request contains the whole conversation.");
    case "too_long":
      return chat.notice(
        `Not undone: a request would have about ${tokensText(result.tokens)} tokens. ` +
          `Above ${tokensText(result.limit)}, the next one would be compacted again at once. ` +
          "/model chooses a model with a larger window; /uncompact anyway undoes it nevertheless.",
        "warning",
      );
    case "undone": {
      const { before, after, limit, hasMore } = result;
      chat.dispatch({ type: "uncompacted", before, after });
      if (limit !== undefined)
        chat.notice(
          `The next request is compacted again: it is above ${tokensText(limit)}.`,
          "warning",
        );
      if (hasMore) chat.notice("An earlier compaction stays; /uncompact undoes it too.");
    }
  }
}
