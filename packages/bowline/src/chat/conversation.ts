/**
 * A conversation on a terminal: joins the agent, its session and the screen. Each method hands over
 * to one of them.
 */
import type { AgentEvent } from "@bowline/core";
import type { Session } from "@bowline/core/session";
import type { ToolRule } from "../project/tool-rules.ts";
import type { Colours } from "../screen/colours.ts";
import { draftOf, type Draft } from "../screen/editor/draft.ts";
import type { Editor } from "../screen/editor/editor.ts";
import type { Input } from "../screen/input.ts";
import type { Live, Screen } from "../screen/screen.ts";
import { Approvals } from "./approvals.ts";
import type { NoticeLevel } from "./block.ts";
import type { Chat, QueueControl, World } from "./chat.ts";
import { stateWords } from "./draw-live.ts";
import { Drawing } from "./drawing.ts";
import { Endings } from "./endings.ts";
import { Keyboard } from "./keyboard.ts";
import { present } from "./present.ts";
import type { Question } from "./question.ts";
import { reduce } from "./reduce.ts";
import type { Runtime } from "./runtime.ts";
import { initialState, type Action, type ChatState } from "./state.ts";
import { Ticker } from "./ticker.ts";
import { Typed } from "./typed.ts";
import type { View } from "./view.ts";
import { Work } from "./work.ts";

export interface ConversationOptions {
  readonly colours: Colours;
  readonly editor: Editor;
  readonly now: () => number;
  readonly control: (sequence: string) => void;
}

export class Conversation implements Chat {
  readonly #options: ConversationOptions;
  readonly #approvals: Approvals;
  readonly #work: Work;
  readonly #keyboard: Keyboard;
  readonly #typed: Typed;
  readonly #drawing: Drawing = new Drawing(() => this.#screen);
  readonly #ticker: Ticker = new Ticker(() => this.#screen?.invalidate());
  #state: ChatState = initialState();
  #screen: Screen | undefined;
  #world: World | undefined;
  #runtime: Runtime | undefined;
  /** A question of the start, such as whether the folder is trusted. */
  #question: Question | undefined;
  #only: readonly ToolRule[] | undefined;
  #left: (() => void) | undefined;
  readonly endings: Endings = new Endings();
  /** Resolves when the person leaves. */
  readonly left: Promise<void> = new Promise((resolve) => (this.#left = resolve));

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#approvals = new Approvals(this, options.now);
    this.#work = new Work({
      editor: options.editor,
      now: options.now,
      runtime: () => this.#runtime,
      dispatch: (action) => this.dispatch(action),
      notice: (text, level) => this.notice(text, level),
      ready: async (signal) => this.#world?.ready(signal),
      submitted: (...sent) => this.world.submitted(...sent),
      checks: (draft) => this.#world?.checks(draft) === true,
      changed: () => {
        if (!this.isBusy) this.#only = undefined;
        this.#tick();
      },
      isPlain: () => this.screen.isPlain,
    });
    this.#typed = new Typed({
      editor: options.editor,
      work: this.#work,
      isPlain: () => this.screen.isPlain,
      notice: (text) => this.notice(text),
      command: (line) => void this.#command(line, true),
      shell: (line) => void import("./run-shell.ts").then(({ runShell }) => runShell(line, this)),
    });
    this.#keyboard = new Keyboard({
      editor: options.editor,
      now: options.now,
      question: () => this.#question ?? this.#approvals.open,
      chat: this,
      edit: this.#work.edit,
      dropAside: () => this.#typed.dropAside(),
      submit: (draft, moment) => this.#typed.enter(draft, moment),
      command: (line) => void this.#command(line, false),
    });
  }

  get state(): ChatState {
    return this.#state;
  }
  get colours(): Colours {
    return this.#options.colours;
  }
  get screen(): Screen {
    return present(this.#screen);
  }
  get world(): World {
    return present(this.#world);
  }
  get runtime(): Runtime {
    return present(this.#runtime);
  }
  /** The only calls that the command of the current run may lead to. Undefined: all. */
  get only(): readonly ToolRule[] | undefined {
    return this.#only;
  }
  get queue(): QueueControl {
    return this.#work;
  }
  get isBusy(): boolean {
    return this.#work.isBusy;
  }
  get hasRuntime(): boolean {
    return this.#runtime !== undefined;
  }

  /** Must be called before anything is shown. */
  show(screen: Screen): void {
    this.#screen = screen;
  }

  /** Begins to work: the model is known, and messages that wait are sent. */
  begin(world: World, runtime: Runtime): void {
    this.#world = world;
    this.#use(runtime);
    this.dispatch({ type: "ready" });
    this.#work.sendEarly();
  }

  /** Tells a newcomer what to do, until something is typed. */
  greet(): void {
    const { editor } = this.#options;
    if (!editor.isEmpty || this.isBusy || this.#state.hint !== undefined) return;
    this.dispatch({ type: "hint", text: "Type a message. /help lists the commands and keys." });
  }

  #use(runtime: Runtime): void {
    this.#runtime = runtime;
    const { id, provider, contextWindow } = runtime.agent.state.model;
    this.dispatch({ type: "model", model: `${provider}/${id}`, contextWindow });
  }

  dispatch(action: Action): void {
    const { state, blocks } = reduce(this.#state, action, this.#options.now());
    this.#state = state;
    this.#drawing.draw(blocks);
    this.#screen?.invalidate();
  }

  /** Draws blocks from now on, and those that came before. */
  use(view: View): void {
    this.#drawing.use(view);
  }

  notice(text: string, level: NoticeLevel = "info"): void {
    this.dispatch({ type: "block", block: { type: "notice", level, text } });
  }

  control(sequence: string): void {
    this.#options.control(sequence);
  }

  /** Puts a draft before the text that is being typed. */
  setDraft(draft: Draft | string): void {
    this.#typed.set(toDraft(draft));
    this.#screen?.invalidate();
  }

  /** Receives the agent's events, after the session has them. */
  event(event: AgentEvent): void {
    if (event.type === "message_start" && event.message.role === "user")
      this.#work.started(event.message);
    if (event.type === "agent_start" && this.#work.isInterrupted)
      this.#runtime?.agent.abort("interrupted");
    this.dispatch({ type: "event", event });
    if (event.type === "approval_request") this.#approvals.ask(event);
    if (event.type === "approval_answer") this.#approvals.settled(event.approvalId);
  }

  /** Draws the live area. */
  live(columns: number, maxRows: number): Live {
    const { editor, colours } = this.#options;
    const question = this.#question ?? this.#approvals.open;
    const [state, now] = [this.#state, this.#options.now()];
    return this.#drawing.live({ state, editor, question, colours, now }, columns, maxRows);
  }

  /** The state in words, for a screen that only appends lines. */
  stateWords(): string {
    return stateWords(this.#state, this.#drawing.isAnswering);
  }

  input(input: Input): void {
    this.#keyboard.input(input);
  }

  /** Shows a question until its promise settles. Text goes to the draft meanwhile. */
  async ask<T>(question: Question & { readonly answer: Promise<T> }): Promise<T> {
    this.#question = question;
    this.#tick();
    try {
      return await question.answer;
    } finally {
      this.#question = undefined;
      this.#tick();
    }
  }

  get typedAt(): number {
    return this.#keyboard.typedAt;
  }

  /** Takes the draft as the reason of a denial. */
  takeDraft(): string {
    return this.#typed.take();
  }

  async #command(line: string, isTyped: boolean): Promise<void> {
    const { runCommandLine } = await import("./commands/index.ts");
    await runCommandLine(line, this, isTyped);
    this.#screen?.invalidate();
  }

  leave(): void {
    if (this.isBusy)
      return this.dispatch({ type: "hint", text: "Something still works: Esc interrupts it." });
    this.#left?.();
  }

  setPlan(isOn: boolean): void {
    if (isOn === this.#state.isPlan) return;
    this.#work.notePlan(isOn);
    this.dispatch({ type: "plan", isOn });
  }

  interrupt(): void {
    this.#work.interrupt();
  }

  send(draft: Draft | string, only?: readonly ToolRule[]): void {
    if (!this.isBusy) this.#only = only;
    this.#work.send(toDraft(draft), "steering");
  }

  goOn(): void {
    void this.#work.run(() => this.runtime.goOn());
  }

  work(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    return this.#work.perform(work);
  }

  async change(open: () => Promise<Session | undefined>): Promise<void> {
    const { changeSession } = await import("./change-session.ts");
    const runtime = await changeSession(this, open);
    this.#use(runtime);
    this.#work.showQueue(); // a message that is edited stays
  }

  /** Leaves at once: the terminal has gone, or the process was told to end. */
  quit(): void {
    this.#left?.();
  }

  /** The session, once there is one. */
  get session(): Session | undefined {
    return this.#runtime?.session;
  }

  /** Ends the run, so that its end is shown and stored, then releases everything. */
  async close(): Promise<void> {
    this.#left?.();
    this.#work.interrupt();
    try {
      await this.#runtime?.close();
      await this.#world?.close();
    } finally {
      await this.endings.end();
      this.#ticker.stop();
      await this.#screen?.close();
    }
  }

  /** Moves the clocks on the screen while something works or is asked. */
  #tick(): void {
    this.#ticker.set(this.isBusy || this.#question !== undefined);
  }
}

function toDraft(given: Draft | string): Draft {
  return typeof given === "string" ? draftOf([{ type: "text", text: given }]) : given;
}
