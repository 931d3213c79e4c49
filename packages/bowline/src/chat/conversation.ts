/**
 * A conversation on a terminal: joins the agent, its session and the screen. It keeps the state and
 * gives every key and every event its effect.
 */
import type { AgentEvent, RunResult } from "@bowline/core";
import { isBowlineError } from "@bowline/core";
import type { Session } from "@bowline/core/session";
import type { Colours } from "../screen/colours.ts";
import { draftOf, wholeText, type Draft, type DraftPart } from "../screen/editor/draft.ts";
import type { Editor } from "../screen/editor/editor.ts";
import type { Input } from "../screen/input.ts";
import type { Live, Screen } from "../screen/screen.ts";
import { fitParts } from "../screen/status-row.ts";
import { printable } from "../terminal.ts";
import { Approvals } from "./approvals.ts";
import type { NoticeLevel } from "./block.ts";
import type { Chat, World } from "./chat.ts";
import { actionOf } from "./keys.ts";
import { activityLines, queueLines } from "./live-view.ts";
import { reduce } from "./reduce.ts";
import type { Runtime } from "./runtime.ts";
import { parseShellLine } from "./shell-line.ts";
import { initialState, type Action, type ChatState, type Queued } from "./state.ts";
import { statusParts } from "./status.ts";
import { joinDrafts } from "./join-drafts.ts";
import { userMessage, type PlanNote } from "./user-message.ts";
import type { View } from "./view.ts";
import type { Block } from "./block.ts";

export interface ConversationOptions {
  readonly colours: Colours;
  readonly editor: Editor;
  readonly now: () => number;
  readonly control: (sequence: string) => void;
}

/** How often clocks on the screen move while something works, in milliseconds. */
const TICK_MS = 200;
/** Rows of a streaming answer that are shown before they are finished. */
const MIN_TAIL_ROWS = 2;

export class Conversation implements Chat {
  readonly #options: ConversationOptions;
  readonly #approvals: Approvals;
  #state: ChatState = initialState();
  #screen: Screen | undefined;
  #world: World | undefined;
  #runtime: Runtime | undefined;
  /** Absent until it is loaded, after the first frame. */
  #view: View | undefined;
  /** Blocks that wait for the view. */
  #undrawn: readonly Block[] = [];
  /** The run, shell line or compaction that works now. */
  #working: AbortController | undefined;
  /** Messages that were typed before a run could take them. */
  #early: Draft[] = [];
  #planNote: PlanNote | undefined;
  /** A question of the start, such as whether the folder is trusted. */
  #question: Question | undefined;
  #typedAt = 0;
  #isLeaving = false;
  #ticker: ReturnType<typeof setInterval> | undefined;
  #left: (() => void) | undefined;
  /** Resolves when the person leaves. */
  readonly left: Promise<void> = new Promise((resolve) => (this.#left = resolve));

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#approvals = new Approvals(this, options.now);
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
  get isBusy(): boolean {
    return this.#working !== undefined;
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
    this.#sendEarly();
  }

  #use(runtime: Runtime): void {
    this.#runtime = runtime;
    const { id, provider, contextWindow } = runtime.agent.state.model;
    this.dispatch({ type: "model", model: `${provider}/${id}`, contextWindow });
  }

  dispatch(action: Action): void {
    const { state, blocks } = reduce(this.#state, action, this.#options.now());
    this.#state = state;
    this.#draw(blocks);
    this.#screen?.invalidate();
  }

  /** Draws blocks from now on, and those that came before. */
  use(view: View): void {
    this.#view = view;
    this.#draw(this.#undrawn);
    this.#undrawn = [];
  }

  #draw(blocks: readonly Block[]): void {
    const view = this.#view;
    if (view === undefined) {
      this.#undrawn = [...this.#undrawn, ...blocks];
      return;
    }
    const lines = blocks.flatMap((block) => view.lines(block));
    if (lines.length > 0) this.#screen?.print(lines);
  }

  notice(text: string, level: NoticeLevel = "info"): void {
    this.dispatch({ type: "block", block: { type: "notice", level, text } });
  }

  print(lines: readonly string[]): void {
    this.#screen?.print(lines);
    this.#screen?.invalidate();
  }

  control(sequence: string): void {
    this.#options.control(sequence);
  }

  setDraft(draft: Draft | string): void {
    this.#options.editor.set(draft);
    this.#screen?.invalidate();
  }

  /** Receives the agent's events, after the session has them. */
  event(event: AgentEvent): void {
    if (event.type === "message_start" && event.message.role === "user") {
      const id = this.#runtime?.queue.taken(event.message);
      if (id !== undefined) this.dispatch({ type: "unqueued", ids: [id] });
    }
    if (event.type === "agent_start" && this.#working?.signal.aborted === true)
      this.#runtime?.agent.abort("interrupted");
    this.dispatch({ type: "event", event });
    if (event.type === "approval_request") this.#approvals.ask(event);
    if (event.type === "approval_answer") this.#approvals.settled(event.approvalId);
  }

  /** Draws the live area. */
  live(columns: number, maxRows: number): Live {
    const now = this.#options.now();
    const { editor, colours } = this.#options;
    const hasDraft = !editor.isEmpty;
    const state = this.#state;
    const dialog =
      this.#question?.draw(columns, now, colours) ??
      this.#approvals.dialog?.draw(columns, hasDraft, now, colours) ??
      [];
    const hint = state.hint === undefined ? [] : [colours.yellow(state.hint)];
    const queue = queueLines(state.queue, columns, dialog.length === 0, colours);
    const below = [...dialog, ...queue, ...hint];
    const draft = editor.draw(columns, Math.max(3, Math.floor(maxRows / 2)));
    const status = fitParts(statusParts(state, now), columns);
    const activity = activityLines(state, columns, now, colours);
    const used = activity.length + below.length + draft.lines.length + 1;
    const tail = this.#view?.tail(Math.max(MIN_TAIL_ROWS, maxRows - used)) ?? [];
    const above = [...tail, ...activity, ...below];
    const lines = [...above, ...draft.lines, colours.dim(status)];
    if (draft.cursor === undefined) return { lines };
    const { row, column } = draft.cursor;
    return { lines, cursor: { row: row + above.length, column } };
  }

  input(input: Input): void {
    const now = this.#options.now();
    const action = actionOf(input);
    if (action !== "clear_or_leave") this.#isLeaving = false;
    if (this.#state.hint !== undefined) this.dispatch({ type: "hint", text: undefined });
    if (action === "suspend") return this.screen.suspend();
    if (!this.#ask(input, now) && !this.#act(action)) this.#edit(input, now);
    this.#screen?.invalidate();
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
    return this.#typedAt;
  }

  /** Gives a key to the open question. Returns true if the key had its effect there. */
  #ask(input: Input, now: number): boolean {
    const hasDraft = !this.#options.editor.isEmpty;
    const open = this.#question ?? this.#approvals.dialog;
    if (open === undefined) return false;
    const result =
      this.#question === undefined
        ? this.#approvals.input(input, now, hasDraft)
        : this.#question.input(input, now, hasDraft);
    if (result.type !== "pass") return true;
    if (result.typed !== "") this.#edit({ type: "text", text: result.typed }, now);
    return false;
  }

  /** Returns false if the key belongs to the editor. */
  #act(action: ReturnType<typeof actionOf>): boolean {
    const { editor } = this.#options;
    switch (action) {
      case undefined:
      case "suspend":
        return false;
      case "interrupt":
        if (editor.isMenuOpen || !this.isBusy) return false;
        this.interrupt();
        return true;
      case "clear_or_leave":
        if (editor.isMenuOpen) return false;
        this.#clearOrLeave();
        return true;
      case "leave":
        if (!editor.isEmpty) return false;
        this.leave();
        return true;
      case "plan":
        this.setPlan(!this.#state.isPlan);
        return true;
      case "take_back":
        return this.#takeBack();
      case "unfold":
        return false; // the editor shows a folded paste first
    }
  }

  #edit(input: Input, now: number): void {
    if (input.type !== "key" || input.name.length === 1) this.#typedAt = now;
    const result = this.#options.editor.input(input);
    if (result === undefined) return;
    switch (result.type) {
      case "submit":
        return this.#submit(result.draft, "steering");
      case "queue":
        return this.#submit(result.draft, "followUp");
      case "view":
        void this.#page(result.title, result.text);
        return;
      case "unused":
        if (actionOf(result.input) === "unfold") void this.#command("/unfold");
        return;
    }
  }

  async #page(title: string, text: string): Promise<void> {
    const { page } = await import("../screen/pager.ts");
    await page(this.screen, title, printable(text).split("\n"));
  }

  async #command(line: string): Promise<void> {
    const { runCommandLine } = await import("./commands/index.ts");
    await runCommandLine(line, this);
    this.#screen?.invalidate();
  }

  /** Takes the draft as the reason of a denial. */
  takeDraft(): string {
    const { editor } = this.#options;
    const text = wholeText(editor.draft());
    editor.clear();
    return text;
  }

  #clearOrLeave(): void {
    const { editor } = this.#options;
    if (this.isBusy) return this.interrupt();
    if (!editor.isEmpty) {
      editor.clear();
      return this.dispatch({
        type: "hint",
        text: "The draft is in the history: Up brings it back.",
      });
    }
    if (this.#isLeaving) return this.leave();
    this.#isLeaving = true;
    this.dispatch({ type: "hint", text: "Ctrl-C again leaves." });
  }

  leave(): void {
    if (this.isBusy)
      return this.dispatch({ type: "hint", text: "Something still works: Esc interrupts it." });
    this.#left?.();
  }

  setPlan(isOn: boolean): void {
    if (isOn === this.#state.isPlan) return;
    this.#planNote = isOn ? "on" : "off";
    this.dispatch({ type: "plan", isOn });
  }

  /** Stops what works, and gives queued messages back to the draft. None of them is sent. */
  interrupt(): void {
    this.#giveBack();
    this.dispatch({ type: "interrupting" });
    this.#working?.abort();
    this.#runtime?.agent.abort("interrupted");
  }

  #giveBack(): void {
    const items = this.#runtime?.queue.takeAll() ?? [];
    const drafts = [...items.map(({ draft }) => draft), ...this.#early];
    this.#early = [];
    if (drafts.length === 0) return;
    this.dispatch({ type: "unqueued", ids: this.#state.queue.map(({ id }) => id) });
    const { editor } = this.#options;
    editor.set(joinDrafts([...drafts, editor.draft()]));
  }

  #takeBack(): boolean {
    const item = this.#runtime?.queue.takeLast();
    if (item === undefined) return false;
    const { editor } = this.#options;
    this.dispatch({ type: "unqueued", ids: [item.id] });
    editor.set(joinDrafts([item.draft, editor.draft()]));
    return true;
  }

  send(text: string): void {
    this.#send(draftOf([{ type: "text", text }]), "steering");
  }

  #submit(draft: Draft, moment: Queued["moment"]): void {
    const text = wholeText(draft);
    if (text.trim() === "" && draft.images.length === 0) return;
    if (text.startsWith("/")) return void this.#command(text);
    const line = parseShellLine(text);
    if (line === undefined) return this.#send(draft, moment);
    void import("./run-shell.ts").then(({ runShell }) => runShell(line, this));
  }

  #send(draft: Draft, moment: Queued["moment"]): void {
    const runtime = this.#runtime;
    if (runtime === undefined || (this.isBusy && !runtime.agent.state.isStreaming)) {
      this.#early.push(draft);
      return this.dispatch({ type: "hint", text: "The message is sent as soon as it can be." });
    }
    const message = this.#message(draft);
    if (!this.isBusy) return void this.#run(() => runtime.prompt(message), draft);
    const { id } = runtime.enqueue(moment, message, draft);
    this.dispatch({ type: "queued", item: { id, moment, text: draft.text } });
    if (this.screen.isPlain)
      this.notice(
        moment === "steering" ? "Queued for after this step." : "Queued for after the turn.",
      );
  }

  #message(draft: Draft): ReturnType<typeof userMessage> {
    const note = this.#planNote;
    this.#planNote = undefined;
    return userMessage(draft, this.#options.now(), note);
  }

  goOn(): void {
    void this.#run(() => this.runtime.goOn());
  }

  async #run(work: () => Promise<RunResult>, draft?: Draft): Promise<void> {
    await this.work(async () => {
      try {
        await work();
      } catch (error) {
        if (draft !== undefined && this.#options.editor.isEmpty) this.#options.editor.set(draft);
        throw error;
      }
      this.#giveBack();
    });
  }

  async work(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const working = new AbortController();
    this.#working = working;
    this.#tick();
    try {
      await work(working.signal);
    } catch (error) {
      if (!working.signal.aborted || !isAbort(error)) this.notice(messageOf(error), "error");
    } finally {
      this.#working = undefined;
      this.#tick();
      this.#screen?.invalidate();
    }
    this.#sendEarly();
  }

  #sendEarly(): void {
    const [first, ...rest] = this.#early;
    if (first === undefined) return;
    this.#early = rest;
    this.#submit(first, "steering");
    for (const draft of this.#early.splice(0)) this.#submit(draft, "followUp");
  }

  async change(open: () => Promise<Session | undefined>): Promise<void> {
    const { changeSession } = await import("./change-session.ts");
    const runtime = await changeSession(this, open);
    this.#use(runtime);
  }

  /** Leaves at once: the terminal has gone, or the process was told to end. */
  quit(): void {
    this.#left?.();
  }

  /** The session, once there is one. */
  get session(): Session | undefined {
    return this.#runtime?.session;
  }

  /** Brings back a draft that an earlier process left. What was typed meanwhile stays. */
  restoreDraft(parts: readonly DraftPart[], editor: Editor): void {
    editor.set(joinDrafts([draftOf(parts), editor.draft()]));
    this.notice("The draft of an earlier conversation is back.");
  }

  /** Ends the run, so that its end is shown and stored, then releases everything. */
  async close(): Promise<void> {
    this.#left?.();
    this.#giveBack();
    this.#working?.abort();
    try {
      await this.#runtime?.close();
    } finally {
      clearInterval(this.#ticker);
      await this.#screen?.close();
    }
  }

  /** The state in words, for a screen that only appends lines. */
  stateWords(): string {
    const { phase, asked, compacting, answer } = this.#state;
    if (phase === "starting") return "Finding a model.";
    if (asked.length > 0) return "";
    if (compacting !== undefined) return "Compacting the conversation.";
    if (phase === "interrupting") return "Interrupting.";
    if (answer?.retry !== undefined) return "Waiting to retry.";
    return phase === "working" ? "Working. Ctrl-C interrupts." : "Ready.";
  }

  /** Moves the clocks on the screen while something works or is asked. */
  #tick(): void {
    const isNeeded = this.isBusy || this.#question !== undefined;
    if (!isNeeded) clearInterval(this.#ticker);
    if (isNeeded === (this.#ticker !== undefined)) return;
    this.#ticker = isNeeded ? setInterval(() => this.#screen?.invalidate(), TICK_MS) : undefined;
  }
}

/** A question that the live area shows above the draft. */
export interface Question {
  input(
    input: Input,
    now: number,
    hasDraft: boolean,
  ): { readonly type: "used" } | { readonly type: "pass"; readonly typed: string };
  draw(columns: number, now: number, colours: Colours): string[];
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("The conversation has not begun.");
  return value;
}

function isAbort(error: unknown): boolean {
  return (
    (isBowlineError(error) && error.code === "aborted") ||
    (error instanceof Error && error.name === "AbortError")
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
