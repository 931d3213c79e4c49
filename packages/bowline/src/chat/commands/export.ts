import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { sessionToHtml, sessionToJson, sessionToMarkdown } from "@bowline/core/session";
import type { SlashCommand } from "./command.ts";

export const exportSession: SlashCommand = {
  name: "export",
  takes: "[file.md|.html|.json]",
  help: "write the whole session to a file that only you can read",
  async run(args, chat) {
    const { session } = chat.runtime;
    if (session === undefined) return chat.notice("There is nothing to export yet.");
    const name = args === "" ? `bowline-${session.id.slice(0, 8)}.md` : args;
    const path = resolve(chat.world.directory, name);
    const toText = name.endsWith(".html")
      ? sessionToHtml
      : name.endsWith(".json")
        ? sessionToJson
        : sessionToMarkdown;
    const text = await toText(session);
    // An existing file is never overwritten.
    const file = await open(path, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
      throw new Error(
        error.code === "EEXIST"
          ? `${path} exists. Name another file: /export <file>.`
          : `${path} cannot be written (${error.code ?? error.message}).`,
      );
    });
    try {
      await file.writeFile(text);
    } finally {
      await file.close();
    }
    chat.notice(`The session is in ${path}.`);
  },
};
