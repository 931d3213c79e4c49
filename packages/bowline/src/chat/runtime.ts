/**
 * One conversation with a model: its agent, its session and its queue. A new conversation, a
 * resumed one and a fork are each a runtime of their own.
 */
import type {
  AgentEvent,
  BowlineError,
  CompactionEvent,
  Model,
  RunResult,
  UserMessage,
} from "@bowline/core";
import { attachSession, type AgentSession, type Session } from "@bowline/core/session";
import type { Discovered } from "../models/discover.ts";
import { createChatAgent, type ChatAgent, type ChatAgentOptions } from "./chat-agent.ts";
import { undoCompaction, type UndoOptions, type UndoResult } from "./undo-compaction.ts";

export interface RuntimeOptions extends Omit<
  ChatAgentOptions,
  "model" | "apiKey" | "fetch" | "onCompaction"
> {
  readonly connection: Discovered;
  /** An existing session. Without one, `createSession` makes it for the first message. */
  readonly session?: Session;
  /** Returns undefined if the conversation is not to be saved, or cannot be. */
  readonly createSession: (model: Model) => Promise<Session | undefined>;
  /** Opens a session of this conversation again. */
  readonly reopen: (id: string) => Promise<Session>;
  /**
   * Called at once when an entry cannot be written, and without an error when the session is saved
   * again.
   */
  readonly onSaving: (failure?: BowlineError) => void;
  /**
   * Returns what the model has to do before a run may end that is done. `isActive`: this was the case
   * already. Default: runs end by themselves.
   */
  readonly stopping?: (isActive: boolean, signal: AbortSignal) => Promise<string | undefined>;
  /** Receives each event after the session has it. */
  readonly onEvent: (event: AgentEvent) => void;
}

export class Runtime {
  readonly #options: RuntimeOptions;
  readonly #chat: ChatAgent;
  #connection: Discovered;
  #session: Session | undefined;
  #attached: AgentSession | undefined;
  /** Whether the first message has created the session, or could not. */
  #isBegun = false;
  #hasAsked = false;
  /** True when the failure to save was shown. */
  #hasToldOfFailure = false;
  #unsubscribe = (): void => {};

  private constructor(options: RuntimeOptions) {
    const { connection, session } = options;
    const { model, apiKey, fetch } = connection;
    this.#options = options;
    this.#connection = connection;
    this.#session = session;
    this.#chat = createChatAgent({
      ...options,
      model,
      onCompaction: (event) => this.#compacted(event),
      ...(apiKey !== undefined && { apiKey }),
      ...(fetch !== undefined && { fetch }),
    });
  }

  static async open(options: RuntimeOptions): Promise<Runtime> {
    const runtime = new Runtime(options);
    if (options.session !== undefined) await runtime.#attach(options.session);
    return runtime;
  }

  get agent(): ChatAgent["agent"] {
    return this.#chat.agent;
  }

  get connection(): Discovered {
    return this.#connection;
  }

  /** Absent before the first message. */
  get session(): Session | undefined {
    return this.#session;
  }

  /** The run that an earlier process did not finish. */
  get hasInterrupted(): boolean {
    return this.#attached?.interrupted !== undefined;
  }

  /** Runs from a message until the model has nothing more to do. */
  async prompt(message: UserMessage): Promise<RunResult> {
    await this.#begin();
    return this.agent.prompt([message]);
  }

  /** Goes on with an interrupted run, or with the last one that ended without an answer. */
  async goOn(): Promise<RunResult> {
    await this.#begin();
    const resumed = await this.#attached?.resume();
    return resumed ?? this.agent.continue();
  }

  /** Asks the hooks whether a run that is done may end: see {@link RuntimeOptions.stopping}. */
  async stopping(isActive: boolean, signal: AbortSignal): Promise<string | undefined> {
    return this.#options.stopping?.(isActive, signal);
  }

  /** Adds a message that the next request contains. No run begins. */
  add(message: UserMessage): void {
    if (this.agent.state.isStreaming) this.agent.steer(message);
    else this.agent.state.messages.push(message);
  }

  /** Whether this process has asked the model, whose settings a summary needs. */
  get hasAsked(): boolean {
    return this.#hasAsked;
  }

  compact(words: string, signal: AbortSignal): Promise<boolean> {
    return this.#chat.compact(words, signal);
  }

  /** Undoes the last compaction. Must not be called during a run. */
  uncompact(options: UndoOptions): Promise<UndoResult> {
    return undoCompaction(this.#chat, this.#attached, options);
  }

  /** Shows and stores a compaction that no run contains. */
  async #compacted(event: CompactionEvent): Promise<void> {
    if (event.type === "compaction_end") await this.#attached?.addCompaction(event);
    this.#options.onEvent({ ...event, runId: "", seq: 0 });
  }

  async use(connection: Discovered): Promise<void> {
    const { agent } = this;
    const before = this.#connection;
    this.#connection = connection;
    const { model, apiKey, fetch } = connection;
    agent.state.model = model;
    agent.apiKey = apiKey;
    agent.fetch = fetch;
    const { id, provider } = model;
    await this.#session?.append({ type: "model_change", provider, model: id });
    await before.close();
  }

  /** Waits for the run to settle after an interrupt, then releases session and model. */
  async close(): Promise<void> {
    this.agent.abort("the conversation was closed");
    await this.agent.waitForIdle().catch(() => {});
    this.#unsubscribe();
    // Queued messages were given back to the draft, or stay in the session for the next process.
    try {
      await this.#session?.close();
    } finally {
      await this.#connection.close();
    }
  }

  async #begin(): Promise<void> {
    this.#hasAsked = true;
    if (this.#isBegun) return this.#saveAgain();
    this.#isBegun = true;
    if (this.#session !== undefined) return;
    const session = await this.#options.createSession(this.agent.state.model);
    if (session === undefined) {
      this.#listen();
      return;
    }
    this.#session = session;
    await this.#attach(session);
  }

  /**
   * After an entry could not be written, as on a full disk, opens the session again: the messages
   * are then those that were saved. Rejects while that fails, so that nothing unsaved is sent.
   */
  async #saveAgain(): Promise<void> {
    const session = this.#session;
    if (session === undefined || this.#attached?.failure === undefined) return;
    this.#attached.detach();
    this.#unsubscribe();
    await session.close().catch(() => {}); // its error is the one that was told
    const again = await this.#options.reopen(session.id);
    this.#session = again;
    this.agent.state.messages = [];
    await this.#attach(again);
    this.#hasToldOfFailure = false;
    this.#options.onSaving();
  }

  #noteFailure(): void {
    const failure = this.#attached?.failure;
    if (failure === undefined || this.#hasToldOfFailure) return;
    this.#hasToldOfFailure = true;
    this.#options.onSaving(failure);
  }

  async #attach(session: Session): Promise<void> {
    const own = [...this.agent.state.messages];
    this.agent.state.messages = [];
    this.#attached = await attachSession(this.agent, session, {
      saveStreamedText: true,
    });
    // Lines of the shell that were run before the first message.
    this.agent.state.messages.push(...own);
    this.#listen();
  }

  /** Listens after the session, so that what is shown is stored. */
  #listen(): void {
    this.#unsubscribe = this.agent.subscribe((event) => {
      this.#noteFailure();
      this.#options.onEvent(event);
    });
  }
}
