/** Opens a conversation on the terminal: its editor with history and draft, and its screen. */
import { randomUUID } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@bowline/core";
import { Conversation } from "../chat/conversation.ts";
import type { ChatOptions } from "../chat/options.ts";
import { configFolder, dataFolder } from "../home.ts";
import { colours, type Colours } from "../screen/colours.ts";
import { commandCompletions } from "../screen/editor/command-completions.ts";
import type { CompletionItem } from "../screen/editor/completion.ts";
import { DraftFile } from "../screen/editor/draft-file.ts";
import { Editor } from "../screen/editor/editor.ts";
import { FileCompletions } from "../screen/editor/file-completions.ts";
import { HistoryFile } from "../screen/editor/history-file.ts";
import { History } from "../screen/editor/history.ts";
import type { ImagePort } from "../screen/editor/image-port.ts";
import { isAlive } from "../screen/editor/is-alive.ts";
import { openScreen, type Screen } from "../screen/screen.ts";
import type { Settings } from "../settings/keys.ts";

export interface ChatTerminal {
  readonly conversation: Conversation;
  readonly screen: Screen;
  readonly editor: Editor;
  readonly history: History;
  readonly drafts: DraftFile;
  readonly colours: Colours;
  /** Resolves when the first frame is on the screen. */
  readonly shown: Promise<void>;
  /** Completes these names after a slash. */
  complete(names: () => readonly CompletionItem[]): void;
  /** Stops listing files. */
  stop(): void;
}

export async function openChatTerminal(
  options: ChatOptions,
  host: NodeJS.Process,
): Promise<ChatTerminal> {
  const { env, stdin, stdout } = host;
  const directory = host.cwd();
  const paint = colours(stdout, env);
  const kept = keptInput(directory, env, host.pid);
  const stopped = new AbortController();
  let names = (): readonly CompletionItem[] => [];
  const editor = new Editor({
    ...kept,
    colours: paint,
    images: imagesOf(directory, host),
    completions: [commandCompletions(() => names()), filesOf(directory, stopped.signal)],
    onChange: () => screen?.invalidate(),
    onNotice: (text) => conversation.notice(text, "warning"),
  });
  const conversation: Conversation = new Conversation({
    colours: paint,
    editor,
    now: () => systemClock.now(),
    control: (sequence) => void stdout.write(sequence),
  });
  let show = (): void => {};
  const shown = new Promise<void>((resolve) => (show = resolve));
  let screen: Screen | undefined;
  const opened = openScreen(
    {
      input: stdin,
      output: stdout,
      env,
      live: (columns, maxRows) => {
        setImmediate(show);
        return conversation.live(columns, maxRows);
      },
      onInput: (input) => conversation.input(input),
      onEnd: () => conversation.quit(),
      state: () => conversation.stateWords(),
      signals: host,
    },
    await isPlain(options, env),
  );
  screen = opened;
  conversation.show(opened);
  return {
    conversation,
    screen: opened,
    editor,
    ...kept,
    colours: paint,
    shown: opened.isPlain ? Promise.resolve() : shown,
    complete: (given) => void (names = given),
    stop: () => stopped.abort(),
  };
}

/** A broken settings file is reported later, with the others. */
async function isPlain({ plain }: ChatOptions, env: NodeJS.ProcessEnv): Promise<boolean> {
  if (plain === true) return true;
  const { loadSettings } = await import("../settings/settings.ts");
  const loading = loadSettings({ configFolder: configFolder(env), project: [], env });
  const { screenReader } = await loading.then(
    ({ merged }) => merged,
    (): Settings => ({}),
  );
  return screenReader === true;
}

function keptInput(
  project: string,
  env: NodeJS.ProcessEnv,
  pid: number,
): Pick<ChatTerminal, "history" | "drafts"> {
  const folder = dataFolder(env);
  const newId = (): string => randomUUID();
  const now = (): number => systemClock.now();
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

function filesOf(directory: string, signal: AbortSignal): FileCompletions {
  return new FileCompletions({
    clock: systemClock,
    signal,
    async *walk(stop) {
      const { walkFiles } = await import("../tools/walk-files.ts");
      yield* walkFiles(directory, stop);
    },
  });
}

/** Images are read by code that is loaded when the first one comes. */
function imagesOf(directory: string, { env, platform }: NodeJS.Process): ImagePort {
  return {
    async file(path, signal) {
      const [{ readImageFile }, { imageTypeOf: typeOf }] = await Promise.all([
        import("../screen/editor/image-file.ts"),
        import("../tools/file-kind.ts"),
      ]);
      return readImageFile(path, { directory, home: homedir(), typeOf }, signal);
    },
    async clipboard(signal) {
      const [{ clipboardImage, runProgram: run }, { imageTypeOf: typeOf }] = await Promise.all([
        import("../screen/editor/clipboard-image.ts"),
        import("../tools/file-kind.ts"),
      ]);
      return clipboardImage({ env, platform, run, typeOf }, signal);
    },
  };
}
