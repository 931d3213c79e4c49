/** A conversation with a scripted model on a terminal, without a process. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { messageText, systemClock, type AgentTool } from "@bowline/core";
import { createMemoryStore, createSession, openSession } from "@bowline/core/session";
import type { Session, Store } from "@bowline/core/session";
import {
  createScriptedModel,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedStep,
} from "@bowline/core/testing";
import { attachFiles, mentionedIn } from "../../src/chat/attach-files.ts";
import { commandNames } from "../../src/chat/commands/index.ts";
import { Conversation } from "../../src/chat/conversation.ts";
import { drawPast } from "../../src/chat/draw-past.ts";
import { createGate } from "../../src/chat/gate.ts";
import { createServerWait, startServers } from "../../src/chat/server-wait.ts";
import type { World } from "../../src/chat/chat.ts";
import { Runtime } from "../../src/chat/runtime.ts";
import { View } from "../../src/chat/view.ts";
import { createPermissions, type PermissionSource } from "../../src/policy/permissions.ts";
import { loadProject } from "../../src/project/project.ts";
import { colours } from "../../src/screen/colours.ts";
import { commandCompletions } from "../../src/screen/editor/command-completions.ts";
import { Editor } from "../../src/screen/editor/editor.ts";
import { History } from "../../src/screen/editor/history.ts";
import { openScreen } from "../../src/screen/screen.ts";
import { createTools } from "../../src/tools/index.ts";
import { TestTerminal } from "../screen/test-terminal.ts";

export interface TalkOptions extends ScriptedModelOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly store?: Store;
  readonly session?: Session;
  readonly isPlain?: boolean;
  readonly tools?: (directory: string) => readonly AgentTool[];
  /** False: the model is not found yet. */
  readonly isReady?: boolean;
  /** In tokens. Default 100,000. */
  readonly contextWindow?: number;
  /** False: the conversation is not saved. */
  readonly isSaved?: boolean;
  /** Checks each message, as hooks do. Default: none are checked. */
  readonly check?: (text: string) => Promise<void>;
  /** Rules of the user. Default none. */
  readonly permissions?: PermissionSource["permissions"];
}

const LIMIT_MS = 60_000;

export const KEY = {
  enter: "\r",
  escape: "\u001b",
  ctrlC: "\u0003",
  ctrlD: "\u0004",
  ctrlO: "\u000f",
  up: "\u001b[A",
  down: "\u001b[B",
  altEnter: "\u001b\r",
  altUp: "\u001b[1;3A",
  altDown: "\u001b[1;3B",
  ctrlX: "\u0018",
  ctrlU: "\u0015",
  shiftTab: "\u001b[Z",
  tab: "\t",
} as const;

export class Talk implements AsyncDisposable {
  readonly terminal: TestTerminal;
  readonly directory: string;
  readonly store: Store;
  readonly model: ScriptedModel;
  readonly editor: Editor;
  readonly conversation: Conversation;
  readonly controls: string[] = [];
  hasLeft = false;
  #later = 0;

  private constructor(directory: string, steps: readonly ScriptedStep[], options: TalkOptions) {
    const { columns = 80, rows = 24 } = options;
    this.directory = directory;
    this.terminal = new TestTerminal(columns, rows);
    this.store = options.store ?? createMemoryStore();
    this.model = createScriptedModel(steps, options);
    const paint = colours({ isTTY: false, write: () => true }, {});
    this.editor = new Editor({
      history: new History({ project: directory, clock: systemClock }),
      completions: [commandCompletions(() => commandNames(this.conversation))],
    });
    this.conversation = new Conversation({
      colours: paint,
      editor: this.editor,
      now: () => this.now(),
      control: (sequence) => this.controls.push(sequence),
    });
    const screen = openScreen(
      {
        input: this.terminal.input,
        output: this.terminal,
        env: { TERM: "xterm" },
        live: (width, height) => this.conversation.live(width, height),
        onInput: (input) => this.conversation.input(input),
        state: () => this.conversation.stateWords(),
        signals: this.terminal,
        clock: this.terminal.clock,
      },
      options.isPlain,
    );
    this.conversation.show(screen);
    this.conversation.use(
      new View({ colours: paint, columns: () => this.terminal.columns, linkStyle: "text" }),
    );
    void this.conversation.left.then(() => (this.hasLeft = true));
  }

  static async begin(steps: readonly ScriptedStep[], options: TalkOptions = {}): Promise<Talk> {
    const directory = await mkdtemp(join(tmpdir(), "bowline-talk-"));
    const talk = new Talk(directory, steps, options);
    if (options.isReady !== false) await talk.ready(options);
    return talk;
  }

  async ready(options: TalkOptions = {}): Promise<void> {
    const { session, tools, contextWindow = 100_000, isSaved = true } = options;
    const { conversation, directory, store, model } = this;
    const env = { PATH: process.env.PATH ?? "", HOME: directory, BOWLINE_HOME: directory };
    const permissions = createPermissions({
      root: directory,
      searchesHide: true,
      sources: [{ path: "bowline.json", scope: "user", permissions: options.permissions ?? {} }],
    });
    const gate = createGate({
      permissions: () => permissions,
      isPlan: () => conversation.state.isPlan,
      only: () => conversation.only,
      sessionKey: () => "",
      yes: false,
    });
    const project = await loadProject({ directory, env, home: directory, now: new Date(0) });
    const servers = startServers(conversation, project, env);
    await conversation.endings.add(() => servers.close());
    const world: World = {
      directory,
      env,
      store,
      project,
      permissions,
      servers,
      ready: createServerWait(conversation, servers),
      async submitted(message, draft, signal) {
        await options.check?.(messageText(message));
        const notice = conversation.notice.bind(conversation);
        return attachFiles(message, draft, { directory, permissions, notice }, signal);
      },
      checks: (draft) => options.check !== undefined || mentionedIn(draft).length > 0,
      options: { task: "", yes: false, keep: "new", plan: false, maxTurns: 50, retryMs: 60_000 },
      connect: async () => ({
        model: { ...model.model, contextWindow },
        keyFrom: { isSet: false },
        why: "scripted",
        close: async () => {},
      }),
      wanted: async () => ({}),
      close: async () => {},
      open: (connection, opened) =>
        Runtime.open({
          connection,
          tools: tools?.(directory) ?? createTools({ root: directory, env }),
          thinking: "off",
          systemPrompt: "You are a test.",
          budget: {},
          retryMs: 60_000,
          beforeToolCall: gate,
          streamFn: model.streamFn,
          onEvent: (event) => conversation.event(event),
          reopen: (id) => openSession(store, id),
          onSaving: (failure) => conversation.notice(failure?.message ?? "saved again"),
          createSession: async () =>
            isSaved ? createSession(store, { metadata: { cwd: directory } }) : undefined,
          ...(opened !== undefined && { session: opened }),
        }),
    };
    const runtime = await world.open(await world.connect({}), session);
    if (session !== undefined) await drawPast(conversation, session, runtime);
    conversation.begin(world, runtime);
  }

  now(): number {
    return Date.now() + this.#later;
  }

  /** Lets time pass for questions, which count pauses. */
  pause(ms = 1000): void {
    this.#later += ms;
  }

  type(text: string): void {
    this.terminal.input.write(text);
  }

  /** Types a message and sends it. */
  send(text: string): void {
    this.type(text);
    this.type(KEY.enter);
  }

  /** All that the terminal shows, with its scrollback. */
  async shown(): Promise<string> {
    await this.terminal.pass();
    return this.terminal.lines().join("\n");
  }

  /** Resolves with what is shown when it matches. */
  async until(pattern: RegExp | ((shown: string) => boolean)): Promise<string> {
    const isMet = typeof pattern === "function" ? pattern : (text: string) => pattern.test(text);
    const end = Date.now() + LIMIT_MS;
    for (;;) {
      const shown = await this.shown();
      if (isMet(shown)) return shown;
      if (Date.now() > end) throw new Error(`${String(pattern)} was not shown in:\n${shown}`);
      await sleep(5);
    }
  }

  idle(): Promise<string> {
    return this.until(() => !this.conversation.isBusy && this.conversation.state.phase === "idle");
  }

  /** Opens the session again, as another process would. */
  async reopened(): Promise<Session> {
    const id = this.conversation.session?.id ?? "";
    await this.conversation.close();
    return openSession(this.store, id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.conversation.close();
    await rm(this.directory, { recursive: true, force: true });
  }
}
