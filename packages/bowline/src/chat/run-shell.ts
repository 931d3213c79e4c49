/** Performs a line of the shell in a conversation, and gives it to the model. */
import type { Chat } from "./chat.ts";
import { runShellLine, type ShellLine } from "./shell-line.ts";
import { shellText } from "./shell-text.ts";

export async function runShell(line: ShellLine, chat: Chat): Promise<void> {
  if (chat.isBusy) {
    chat.dispatch({ type: "hint", text: "A shell line runs when nothing else works." });
    chat.setDraft(`${line.isHidden ? "!!" : "!"}${line.command}`);
    return;
  }
  const { directory, env } = chat.world;
  await chat.work(async (signal) => {
    const id = "shell";
    chat.dispatch({ type: "shell", output: "", command: line.command, id });
    try {
      const block = await runShellLine(line, directory, env, signal, (output) =>
        chat.dispatch({ type: "shell", output, command: line.command, id }),
      );
      chat.dispatch({ type: "block", block });
      if (!line.isHidden)
        chat.runtime.add({ role: "user", content: shellText(block), timestamp: Date.now() });
    } finally {
      chat.dispatch({ type: "shell_end", id });
    }
  });
}
