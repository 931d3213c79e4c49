import { pickOne } from "../../screen/picker.ts";
import { oneLine } from "../../terminal.ts";
import type { Wanted } from "../../models/discover.ts";
import { listChoices } from "../../models/model-choices.ts";
import type { Chat } from "../chat.ts";
import type { SlashCommand } from "./command.ts";

export const model: SlashCommand = {
  name: "model",
  takes: "[provider/model]",
  help: "choose another model, among those of the server and of vendors with a key",
  needsIdle: true,
  async run(args, chat) {
    if (args !== "") return use(chat, wantedOf(args, chat));
    let choices: Awaited<ReturnType<typeof listChoices>> | undefined;
    await chat.work(async (signal) => {
      choices = await listChoices(chat.runtime.connection, chat.world.env, signal);
    });
    if (choices === undefined) return;
    for (const notice of choices.notices) chat.notice(notice, "warning");
    const wanted = await pickOne(chat.screen, {
      filter: true,
      title: "Which model?",
      items: choices.items.map(({ label, detail, wanted: value }) => ({ label, detail, value })),
    });
    if (wanted !== undefined) await use(chat, wanted);
  },
};

/** A name without a known vendor is an id of the server in use. */
function wantedOf(name: string, { runtime, world }: Chat): Wanted {
  const { model: current, keyFrom } = runtime.connection;
  if (current.provider !== "custom" || /^[a-z-]+\//.test(name))
    return { model: name, origin: "from /model" };
  const apiKeyEnv = keyFrom.isSet ? keyFrom.variable : world.options.apiKeyEnv;
  return {
    model: name,
    baseUrl: current.baseUrl,
    origin: "from /model",
    ...(apiKeyEnv !== undefined && { apiKeyEnv }),
  };
}

async function use(chat: Chat, wanted: Wanted): Promise<void> {
  const connection = await chat.world.connect(wanted);
  await chat.runtime.use(connection);
  const { id, provider, contextWindow } = connection.model;
  const name = oneLine(`${provider}/${id}`, 200);
  chat.dispatch({ type: "model", model: name, contextWindow, why: connection.why });
}
