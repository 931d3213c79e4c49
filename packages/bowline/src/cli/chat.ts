/** `bowline` and `bowline chat`: a conversation on the terminal. */
import { systemClock } from "@bowline/core";
import type { ChatOptions } from "../chat/options.ts";
import { UsageError } from "../command-error.ts";
import { linkStyle } from "../screen/colours.ts";
import { draftOf } from "../screen/editor/draft.ts";
import { shellWord } from "../terminal.ts";
import { parseChatOptions } from "./chat-options.ts";
import { openChatTerminal, type ChatTerminal } from "./chat-terminal.ts";
import { exitCode } from "./exit.ts";

/** Returns the exit code. Throws `UsageError` and `CommandError` for errors that fit one line. */
export async function chat(args: readonly string[], host: NodeJS.Process): Promise<number> {
  const { options, help } = parseChatOptions(args);
  if (help) {
    host.stdout.write((await import("./help.ts")).chatHelp());
    return exitCode.done;
  }
  if ((!host.stdin.isTTY || !host.stdout.isTTY) && options.plain !== true)
    throw new UsageError(
      'A conversation needs a terminal. Without one: bowline run "<task>"; see bowline --help.',
    );
  return converse(options, host);
}

async function converse(options: ChatOptions, host: NodeJS.Process): Promise<number> {
  const terminal = await openChatTerminal(options, host);
  const { conversation, screen } = terminal;
  // The screen reports a terminal that has gone; the run must still end and be saved.
  for (const stream of [host.stdout, host.stderr])
    stream.removeAllListeners("error").on("error", ignore);
  const release = endOnSignals(host, screen.isPlain, () => conversation.quit());
  const restore = (): void => void host.stdout.write(screen.restore());
  host.once("exit", restore);
  try {
    const begun = begin(terminal, options, host);
    await Promise.race([begun.then(() => conversation.left), conversation.left]);
  } finally {
    release();
    terminal.stop();
    await conversation.close();
    await terminal.drafts.close();
    await terminal.history.close();
    host.off("exit", restore);
  }
  const { session } = conversation;
  if (session !== undefined)
    host.stdout.write(`To go on with this conversation: bowline -s ${shellWord(session.id)}\n`);
  return exitCode.done;
}

/** Loads the rest after the first frame, which shows where to type. */
async function begin(
  terminal: ChatTerminal,
  options: ChatOptions,
  host: NodeJS.Process,
): Promise<void> {
  const { env, stdout } = host;
  const { conversation, colours } = terminal;
  await terminal.shown;
  const [{ View }, { commandNames }, { beginChat }] = await Promise.all([
    import("../chat/view.ts"),
    import("../chat/commands/index.ts"),
    import("./begin-chat.ts"),
  ]);
  const columns = (): number => stdout.columns || 80;
  const unfold = `${conversation.screen.isPlain ? "/unfold" : "Ctrl-O"} shows them`;
  conversation.use(new View({ colours, columns, linkStyle: linkStyle(env), unfold }));
  terminal.complete(() => commandNames(conversation));
  await terminal.history.load();
  await restoreDraft(terminal);
  const now = (): number => systemClock.now();
  await beginChat(conversation, { options, directory: host.cwd(), env, now });
}

/** Brings back what was being typed when an earlier process ended. */
async function restoreDraft(terminal: ChatTerminal): Promise<void> {
  const { conversation, drafts, history } = terminal;
  const [first, ...others] = await drafts.restore();
  for (const parts of others) history.add(parts);
  if (first === undefined || first.length === 0) return;
  conversation.setDraft(draftOf(first));
  conversation.notice("The draft of an earlier conversation is back.");
}

/** On a plain screen, Ctrl-C is a signal, which the screen takes. */
function endOnSignals(host: NodeJS.Process, isPlainScreen: boolean, end: () => void): () => void {
  const signals = ["SIGTERM", "SIGHUP", ...(isPlainScreen ? [] : (["SIGINT"] as const))] as const;
  for (const signal of signals) host.on(signal, end);
  return () => {
    for (const signal of signals) host.off(signal, end);
  };
}

function ignore(): void {}
