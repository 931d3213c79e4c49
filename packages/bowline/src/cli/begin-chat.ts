/** Gives a conversation its sessions, models and tools, as `bowline run` has them. */
import { latestOf, findOrNew, findSession } from "./find-session.ts";
import type { Conversation } from "../chat/conversation.ts";
import { start, type StartOptions } from "../chat/start.ts";
import { metadataOf, wantedAfter } from "./run-session.ts";
import { createRunTools } from "./run-tools.ts";

export async function begin(
  conversation: Conversation,
  given: Omit<StartOptions, "sessions" | "createTools">,
): Promise<void> {
  const { options, directory, env } = given;
  await start(conversation, {
    ...given,
    sessions: {
      async find(store) {
        const { keep } = options;
        if (keep === "latest") return latestOf(store, directory);
        if (typeof keep !== "object") return undefined;
        const find = keep.isKnown ? findSession : findOrNew;
        return find(store, keep.id, directory);
      },
      wanted: async (server, session) =>
        wantedAfter({ ...options, server }, session, (await session?.state()) ?? {}),
      metadata: (model, server) => metadataOf(model, server, directory),
    },
    createTools: (project, createSubAgent, hidden) => {
      const { tools = [], excludeTools = [] } = project.settings.merged;
      return createRunTools({
        project,
        env: { ...env },
        only: tools,
        without: excludeTools,
        createSubAgent,
        hidden,
      });
    },
  });
}
