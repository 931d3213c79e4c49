import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { messageText } from "@bowline/core";
import { dataFolder } from "../../home.ts";
import { replaceFile } from "../../replace-file.ts";
import { bytesText } from "../text.ts";
import type { SlashCommand } from "./command.ts";

/** Terminals refuse longer texts, and some cut them silently. */
const MAX_CLIPBOARD = 74_000;

export const copy: SlashCommand = {
  name: "copy",
  help: "copy the last answer to the clipboard, and write it to a file",
  async run(_, chat) {
    const answer = chat.runtime.agent.state.messages.findLast(
      (message) => message.role === "assistant" && messageText(message) !== "",
    );
    if (answer === undefined || answer.role !== "assistant")
      return chat.notice("There is no answer to copy yet.");
    const text = messageText(answer);
    const folder = dataFolder(chat.world.env);
    const file = join(folder, "copied.md");
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await replaceFile(file, text);
    const base64 = Buffer.from(text).toString("base64");
    const isShort = base64.length <= MAX_CLIPBOARD;
    if (isShort) chat.control(`\u001b]52;c;${base64}\u0007`);
    const size = bytesText(Buffer.byteLength(text));
    chat.notice(
      isShort
        ? `${size} were sent to the terminal's clipboard. If your terminal takes none, they are in ${file}.`
        : `The answer is too long for the clipboard (${size}). It is in ${file}.`,
    );
  },
};
