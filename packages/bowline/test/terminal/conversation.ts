/** A conversation in a window: the command from source, a scripted vendor, an empty folder. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import assert from "node:assert/strict";
import { compileCache } from "../../../../test/support/compile-cache.ts";
import { commandLine } from "../command-line.ts";
import { LIMIT_MS, type Tmux, type Window } from "./tmux.ts";
import { MODEL, openVendor, type Play, type Vendor } from "./vendor.ts";

export interface ConversationOptions {
  /** Arguments after `chat`. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
  /** Starts the command from an interactive shell, with job control. */
  readonly isInShell?: boolean;
  /** Delays the terminal by this time in each direction. */
  readonly delayMs?: number;
  /** An earlier conversation, whose folder, data and vendor are used again. */
  readonly after?: Conversation;
  /** Called with the folder before the command starts. */
  readonly prepare?: (folder: string) => Promise<void>;
}

export interface Conversation extends AsyncDisposable {
  readonly window: Window;
  readonly vendor: Vendor;
  /** The folder in which the agent works. */
  readonly folder: string;
  readonly data: string;
  /** Types a message and sends it. */
  say(text: string): Promise<void>;
  /** Waits until no run goes on, and returns the screen. */
  idle(): Promise<string>;
  /** Waits for the next request after the first `count`, and returns it. */
  request(count: number): Promise<Vendor["asked"][number]>;
}

/** Parts of the live area that are on the screen only during a run. */
const working = /Esc (?:interrupts|gives up)|interrupting…|thinking · \d|^compacting /m;

export async function converse(
  tmux: Tmux,
  play: Play,
  options: ConversationOptions = {},
): Promise<Conversation> {
  const { after, prepare } = options;
  const top = await mkdtemp(join(tmpdir(), "bowline-chat-"));
  const folder = after?.folder ?? join(top, "work");
  const data = after?.data ?? join(top, "data");
  if (after === undefined) await mkdir(folder);
  await prepare?.(folder);
  const vendor = after?.vendor ?? (await openVendor(play));
  const window = await openWindow(tmux, vendor, top, folder, data, options).catch(async (error) => {
    if (after === undefined) await vendor[Symbol.asyncDispose]();
    throw error;
  });
  return {
    window,
    vendor,
    folder,
    data,
    say: async (text) => {
      await window.type(text);
      await window.press("Enter");
    },
    idle: () => window.untilNot(working),
    request: async (count) => {
      const deadline = performance.now() + LIMIT_MS;
      while (vendor.asked.length <= count) {
        if (performance.now() > deadline)
          throw new Error(`No request ${count + 1}; the screen:\n${await window.screen()}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      return vendor.asked[count] as Vendor["asked"][number];
    },
    async [Symbol.asyncDispose]() {
      await window[Symbol.asyncDispose]();
      if (after === undefined) await vendor[Symbol.asyncDispose]();
      // The command may still be writing its last entries.
      await rm(top, { recursive: true, force: true, maxRetries: 20, retryDelay: 25 });
      assert.deepEqual(vendor.problems, []);
    },
  };
}

/** A promise for a pause in an answer that lasts until the client goes. */
export const forever: Promise<never> = new Promise(() => {});

async function openWindow(
  tmux: Tmux,
  { baseUrl }: Vendor,
  home: string,
  cwd: string,
  data: string,
  { args = [], env = {}, delayMs, isInShell = false, columns, rows }: ConversationOptions,
): Promise<Window> {
  const command = [...commandLine, "chat", "--base-url", baseUrl, "--model", MODEL, ...args];
  const far = [process.execPath, join(import.meta.dirname, "far.mjs"), String(delayMs)];
  const shell = ["bash", "--norc", "--noprofile", "-i"];
  const window = await tmux.open({
    command: isInShell ? shell : [...(delayMs === undefined ? [] : far), ...command],
    cwd,
    env: {
      ...compileCache,
      HOME: home,
      BOWLINE_HOME: data,
      BOWLINE_DISCOVERY: "off",
      PS1: "shell> ",
      CHAT: command.join(" "),
      ...env,
    },
    ...(columns !== undefined && { columns }),
    ...(rows !== undefined && { rows }),
  });
  try {
    if (isInShell) {
      await window.until("shell>");
      await window.type("$CHAT");
      await window.press("Enter");
    }
    await window.until(MODEL);
    return window;
  } catch (error) {
    await window[Symbol.asyncDispose]();
    throw error;
  }
}
