/** `bowline` and `bowline chat`: a conversation on the terminal. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { systemClock } from "@bowline/core";
import { Conversation } from "../chat/conversation.ts";
import type { ChatOptions } from "../chat/options.ts";
import { UsageError } from "../command-error.ts";
import { configFolder, dataFolder } from "../home.ts";
import type { Settings } from "../settings/keys.ts";
import { colours, linkStyle } from "../screen/colours.ts";
import type { CompletionItem } from "../screen/editor/completion.ts";
import { commandCompletions } from "../screen/editor/command-completions.ts";
import { DraftFile } from "../screen/editor/draft-file.ts";
import { Editor } from "../screen/editor/editor.ts";
import { HistoryFile } from "../screen/editor/history-file.ts";
import { History } from "../screen/editor/history.ts";
import { isAlive } from "../screen/editor/is-alive.ts";
import { openScreen } from "../screen/screen.ts";
import { oneLine, shellWord } from "../terminal.ts";
import { parseChatOptions } from "./chat-options.ts";
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
  const { env, stdin, stdout } = host;
  const directory = host.cwd();
  const now = (): number => systemClock.now();
  const paint = colours(stdout, env);
  const files = editorFiles(directory, env, host.pid, now);
  let names = (): readonly CompletionItem[] => [];
  const editor = new Editor({
    ...files,
    colours: paint,
    completions: [commandCompletions(() => names())],
    onChange: () => void screen?.invalidate(),
    onNotice: (text) => conversation.notice(text, "warning"),
  });
  const conversation: Conversation = new Conversation({
    colours: paint,
    editor,
    now,
    control: (sequence) => void stdout.write(sequence),
  });
  const framed = deferred();
  const screen = openScreen(
    {
      input: stdin,
      output: stdout,
      env,
      live: (columns, maxRows) => {
        setImmediate(() => framed.resolve());
        return conversation.live(columns, maxRows);
      },
      onInput: (input) => conversation.input(input),
      onEnd: () => conversation.quit(),
      state: () => conversation.stateWords(),
      signals: host,
    },
    await isPlain(options, env),
  );
  conversation.show(screen);
  // The screen reports a terminal that has gone; the run must still end and be saved.
  for (const stream of [stdout, host.stderr])
    stream.removeAllListeners("error").on("error", ignore);
  const release = endOnSignals(host, screen.isPlain, () => conversation.quit());
  const restore = (): void => void host.stdout.write(screen.restore());
  host.once("exit", restore);
  try {
    // Loaded after the first frame, which shows where to type.
    if (!screen.isPlain) await framed.promise;
    const [{ View }, { commandNames }, { begin }] = await Promise.all([
      import("../chat/view.ts"),
      import("../chat/commands/index.ts"),
      import("./begin-chat.ts"),
    ]);
    conversation.use(
      new View({ colours: paint, columns: () => stdout.columns || 80, linkStyle: linkStyle(env) }),
    );
    names = () => commandNames(conversation);
    await files.history.load();
    await restoreDraft(conversation, editor, files);
    const begun = begin(conversation, { options, directory, env, now });
    await Promise.race([begun.then(() => conversation.left), conversation.left]);
  } finally {
    release();
    await conversation.close();
    await files.drafts.close();
    await files.history.close();
    host.off("exit", restore);
  }
  const { session } = conversation;
  if (session !== undefined)
    host.stdout.write(
      `session ${oneLine(session.id, 100)}; go on with: bowline -s ${shellWord(session.id)}\n`,
    );
  return exitCode.done;
}

function ignore(): void {}

/** A broken settings file is reported later, with the others. */
async function isPlain({ plain }: ChatOptions, env: NodeJS.ProcessEnv): Promise<boolean> {
  if (plain === true) return true;
  const { loadSettings } = await import("../settings/settings.ts");
  const loading = loadSettings({ configFolder: configFolder(env), project: [], env });
  const { merged } = await loading.catch(() => ({ merged: {} as Settings }));
  return merged.screenReader === true;
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve: () => resolve() };
}

interface EditorFiles {
  readonly history: History;
  readonly drafts: DraftFile;
}

function editorFiles(
  project: string,
  env: NodeJS.ProcessEnv,
  pid: number,
  now: () => number,
): EditorFiles {
  const folder = dataFolder(env);
  const newId = (): string => randomUUID();
  const file = new HistoryFile({ folder: join(folder, "history"), now, newId });
  return {
    history: new History({ file, project, clock: systemClock }),
    drafts: new DraftFile({
      folder: join(folder, "drafts"),
      project,
      pid,
      isAlive,
      clock: systemClock,
      newId,
    }),
  };
}

/** Brings back what was being typed when an earlier process ended. */
async function restoreDraft(
  conversation: Conversation,
  editor: Editor,
  { drafts, history }: EditorFiles,
): Promise<void> {
  const [first, ...others] = await drafts.restore();
  for (const parts of others) history.add(parts);
  if (first === undefined || first.length === 0) return;
  conversation.restoreDraft(first, editor);
}

/** On a plain screen, Ctrl-C is a signal, which the screen takes. */
function endOnSignals(host: NodeJS.Process, isPlainScreen: boolean, end: () => void): () => void {
  const signals = ["SIGTERM", "SIGHUP", ...(isPlainScreen ? [] : (["SIGINT"] as const))] as const;
  for (const signal of signals) host.on(signal, end);
  return () => {
    for (const signal of signals) host.off(signal, end);
  };
}
