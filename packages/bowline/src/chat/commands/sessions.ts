import { openSession, type SessionSummary, type Store } from "@bowline/core/session";
import { pickOne } from "../../screen/picker.ts";
import { oneLine } from "../../terminal.ts";
import { timeText } from "../text.ts";
import type { Chat } from "../chat.ts";
import type { SlashCommand } from "./command.ts";

const MAX_LISTED = 500;

export const sessions: SlashCommand = {
  name: "sessions",
  help: "choose among the sessions of all folders",
  needsIdle: true,
  run: (_, chat) => choose(chat, () => true),
};

export const resume: SlashCommand = {
  name: "resume",
  takes: "[id]",
  help: "go on with an earlier session of this folder",
  needsIdle: true,
  async run(args, chat) {
    if (args === "") return choose(chat, (one) => one.metadata?.cwd === chat.world.directory);
    const all = await listed(chat.world.store);
    const found = all.filter(({ id }) => id === args || id.startsWith(args));
    const exact = found.find(({ id }) => id === args) ?? found[0];
    if (exact === undefined || (found.length > 1 && exact.id !== args))
      throw new Error(
        `${found.length === 0 ? "No session has" : `${found.length} sessions have`} the id ${JSON.stringify(oneLine(args, 100))}.`,
      );
    await go(chat, exact.id);
  },
};

async function choose(chat: Chat, isOffered: (one: SessionSummary) => boolean): Promise<void> {
  const own = chat.runtime.session?.id;
  const all = (await listed(chat.world.store)).filter((one) => one.id !== own && isOffered(one));
  if (all.length === 0) return chat.notice("There is no earlier session.");
  const id = await pickOne(chat.screen, {
    filter: true,
    title: "Go on with which session?",
    items: all.map((one) => ({
      label: oneLine(one.title ?? one.id, 200),
      detail: detailOf(one),
      value: one.id,
    })),
  });
  if (id !== undefined) await go(chat, id);
}

async function go(chat: Chat, id: string): Promise<void> {
  await chat.change(() => openSession(chat.world.store, id));
}

async function listed(store: Store): Promise<SessionSummary[]> {
  const { sessions: found } = await store.list({ limit: MAX_LISTED });
  return [...found];
}

function detailOf({ id, metadata, updatedAt }: SessionSummary): string {
  const cwd = typeof metadata?.cwd === "string" ? ` ${oneLine(metadata.cwd, 100)}` : "";
  return `${timeText(updatedAt)}${cwd} ${id.slice(0, 8)}`;
}
