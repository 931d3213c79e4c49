/**
 * The hooks of a command. Those of one event run at the same time, and the strictest answer counts. A
 * hook can refuse and ask, and cannot allow.
 */
import type { AgentTool, AgentToolResult } from "@bowline/core";
import type { HookSource } from "../project/hook-files.ts";
import type { Approver } from "../record/run-setup.ts";
import { matches, type SessionSource } from "../settings/hook-names.ts";
import type { HookCommand, HookEvent } from "../settings/keys.ts";
import type { HookAnswer } from "./hook-answer.ts";
import {
  callInput,
  promptInput,
  resultInput,
  sessionInput,
  stopInput,
  type EventInput,
  type HookCall,
} from "./hook-input.ts";
import type { HookNews } from "./news.ts";
import { runHook } from "./run-hook.ts";

export interface HooksOptions {
  readonly sources: readonly HookSource[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The project's root, in which hooks run. */
  readonly root: string;
  /** The working directory of the tools. */
  readonly directory: string;
  /** The id of the session. Empty before there is one. */
  readonly sessionId: () => string;
  /** `default`, `plan`, or `bypassPermissions` where what the rules ask about runs. */
  readonly mode: () => "default" | "plan" | "bypassPermissions";
  readonly tell: (news: HookNews) => void;
}

/** The answers of an event's hooks together. */
interface Joined {
  /** Why something is refused. Absent: it is not. */
  readonly block?: string;
  readonly ask?: string;
  /** Text for the model. Empty: none. */
  readonly context: string;
}

interface Found {
  readonly hook: HookCommand;
  readonly path: string;
}

export class Hooks {
  readonly #options: HooksOptions;
  /** Text for the model from before a call, by the call's id, until its result. */
  readonly #contexts = new Map<string, string>();

  constructor(options: HooksOptions) {
    this.#options = options;
  }

  has(event: HookEvent): boolean {
    return this.#options.sources.some(({ hooks }) =>
      (hooks[event] ?? []).some((group) => group.hooks.length > 0),
    );
  }

  /** Returns why a call is refused, or why a person must be asked about it. */
  async beforeCall(
    call: HookCall,
    signal?: AbortSignal,
    sessionId?: string,
  ): Promise<Pick<Joined, "block" | "ask">> {
    const { directory } = this.#options;
    const input = callInput(call, directory);
    const joined = await this.#run("PreToolUse", call.tool, input, signal, sessionId);
    const { block, ask, context } = joined;
    if (block !== undefined) return { block: `A hook refused the call: ${block}` };
    if (context !== "") this.#contexts.set(call.toolCallId, context);
    return ask === undefined ? {} : { ask: `A hook wants a person to decide: ${ask}` };
  }

  /** Runs the hooks before an approver decides. It is asked even about what the hooks let pass. */
  approver(approve: Approver): Approver {
    if (!this.has("PreToolUse")) return approve;
    return async (context, signal, asked) => {
      const { toolCall, args } = context;
      if (context.isOutput === true) return approve(context, signal, asked);
      const call = { tool: toolCall.name, toolCallId: toolCall.id, args };
      const { block, ask } = await this.beforeCall(call, signal);
      if (signal?.aborted === true) return { block: true, reason: "Not run: it was interrupted." };
      if (block !== undefined) return { block: true, reason: block };
      const verdict = await approve(context, signal, ask ?? asked);
      if (verdict?.block === true) this.#contexts.delete(toolCall.id);
      return verdict;
    };
  }

  /** Returns tools whose results end with what hooks have to say about them. */
  tools(tools: readonly AgentTool[], sessionId?: string): AgentTool[] {
    if (!this.has("PostToolUse") && !this.has("PreToolUse")) return [...tools];
    return tools.map((tool) => ({
      ...tool,
      execute: async (toolCallId, params, signal, onUpdate, run) => {
        const before = this.#contexts.get(toolCallId);
        this.#contexts.delete(toolCallId);
        const result = await tool.execute(toolCallId, params, signal, onUpdate, run);
        const call = { tool: tool.name, toolCallId, args: params };
        const after = await this.#afterCall(call, result, signal, sessionId);
        const texts = [before, after].filter((text) => text !== undefined && text !== "");
        if (texts.length === 0) return result;
        const added = texts.map((text) => ({ type: "text" as const, text: `[hook] ${text}` }));
        return { ...result, content: [...(result.content ?? []), ...added] };
      },
    }));
  }

  /** Returns why a message is not sent, or text to send with it. */
  async submitted(prompt: string, signal?: AbortSignal): Promise<Joined> {
    return this.#run("UserPromptSubmit", "", promptInput(prompt), signal);
  }

  /** Returns what the model has to do before the run may end. Undefined: it may end. */
  async stopping(isActive: boolean, signal?: AbortSignal): Promise<string | undefined> {
    return (await this.#run("Stop", "", stopInput(isActive), signal)).block;
  }

  /** Returns text for the system prompt of a session. Empty: none. */
  async sessionStarted(source: SessionSource, signal?: AbortSignal): Promise<string> {
    return (await this.#run("SessionStart", source, sessionInput(source), signal)).context;
  }

  async #afterCall(
    call: HookCall,
    result: AgentToolResult,
    signal: AbortSignal | undefined,
    sessionId: string | undefined,
  ): Promise<string> {
    // As in Claude Code, a call that failed has no such event.
    if (result.isError === true || signal?.aborted === true) return "";
    const input = { ...callInput(call, this.#options.directory), ...resultInput(result) };
    const joined = await this.#run("PostToolUse", call.tool, input, signal, sessionId);
    return [joined.block, joined.context]
      .filter((text) => text !== undefined && text !== "")
      .join("\n");
  }

  /** `subject` is what matchers are compared with. */
  async #run(
    event: HookEvent,
    subject: string,
    input: EventInput,
    signal: AbortSignal = new AbortController().signal,
    sessionId: string = this.#options.sessionId(),
  ): Promise<Joined> {
    const { root, directory, env, mode } = this.#options;
    const found = this.#find(event, subject);
    if (found.length === 0 || signal.aborted) return { context: "" };
    const whole = {
      session_id: sessionId,
      cwd: directory,
      permission_mode: mode(),
      hook_event_name: event,
      ...input,
    };
    const answers = await Promise.all(
      found.map(async ({ hook, path }) => {
        const answer = await runHook(event, hook, whole, { root, env }, signal);
        this.#tell(event, hook, path, answer);
        return answer;
      }),
    );
    const joined = (of: (answer: HookAnswer) => string | undefined): string =>
      answers.flatMap((answer) => of(answer) ?? []).join("\n");
    const [block, ask] = [joined((one) => one.block), joined((one) => one.ask)];
    return {
      ...(block !== "" && { block }),
      ...(ask !== "" && { ask }),
      context: joined((one) => one.context),
    };
  }

  /** The same command of several files runs once. */
  #find(event: HookEvent, subject: string): readonly Found[] {
    const found = new Map<string, Found>();
    for (const { path, hooks } of this.#options.sources)
      for (const group of hooks[event] ?? [])
        if (matches(group.matcher, event, subject))
          for (const hook of group.hooks)
            if (!found.has(hook.command)) found.set(hook.command, { hook, path });
    return [...found.values()];
  }

  #tell(
    event: HookEvent,
    { command }: HookCommand,
    path: string,
    { failure, block, message }: HookAnswer,
  ): void {
    const { tell } = this.#options;
    const news = (status: HookNews["status"], text: string): void =>
      tell({ type: "hook", event, command, path, status, message: text });
    if (failure !== undefined) news("failed", failure);
    // A refused call is shown with its result.
    else if (block !== undefined && (event === "UserPromptSubmit" || event === "Stop"))
      news("blocked", block);
    if (message !== undefined) news("message", message);
  }
}
