/** Gives a conversation its sessions, models and tools, as `bowline run` has them. */
import { latestOf, findOrNew, findSession } from "./find-session.ts";
import type { Conversation } from "../chat/conversation.ts";
import { start } from "../chat/start.ts";
import type { StartOptions } from "../chat/start-options.ts";
import { metadataOf, wantedAfter } from "./run-session.ts";
import { openOutputFolder } from "./output-folder.ts";
import { createRunTools } from "./run-tools.ts";

export async function beginChat(
  conversation: Conversation,
  given: Omit<StartOptions, "sessions" | "createTools" | "openOutputs">,
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
    openOutputs: (hasSession) => openOutputFolder(env, hasSession),
    createTools: (project, ports) => {
      const { tools = [], excludeTools = [] } = project.settings.merged;
      return createRunTools({
        ...ports,
        project,
        env: { ...env },
        only: tools,
        without: excludeTools,
      });
    },
  });
}
