/** Hooks and listeners that behave as a plan says. Only those in the plan exist. */
import {
  requireApproval,
  type AfterToolCallResult,
  type AgentListener,
  type AgentLoopConfig,
  type AgentMessage,
  type BeforeToolCallContext,
  type BeforeToolCallResult,
} from "../../src/agent/index.ts";
import type { Message } from "../../src/llm/message.ts";
import { EDITED } from "./arguments.ts";
import type { AgentPlan, HookName, HookPlan, ListenerPlan } from "./plan.ts";
import { hops, type Timeline } from "./timeline.ts";
import type { Watch } from "./watch.ts";

type Hooks = Partial<Pick<AgentLoopConfig, HookName>>;

const APPROVAL_TIMEOUT_MS = 20;

/** Hooks without a time limit, because they may wait for a person or a model. */
const unlimited: readonly HookName[] = ["beforeToolCall", "afterToolCall", "transformContext"];

/** `take` returns the queued messages of the low-level loop, which has its own queues. */
export function createHooks(
  plan: AgentPlan,
  watch: Watch,
  timeline: Timeline,
  take: (kind: "steering" | "followUp") => AgentMessage[],
): Hooks {
  const calls = new Map<HookName, number>();
  const ask = requireApproval({ timeoutMs: APPROVAL_TIMEOUT_MS });

  /** The plan for this call of the hook, if any. */
  function next(hook: HookName): HookPlan | undefined {
    const call = calls.get(hook) ?? 0;
    calls.set(hook, call + 1);
    const found = watch.circumstances.isCalm
      ? undefined
      : plan.hooks.find((other) => other.hook === hook && other.call === call);
    if (found !== undefined) watch.hooked(() => `${hook} ${found.does ?? "waits"}`);
    return found;
  }

  /** The result of the hook, synchronous if it does not wait. */
  function run<T>(hook: HookName, usual: () => T, acts: () => T): T | Promise<T> {
    const does = next(hook);
    if (does === undefined) return usual();
    if (isFailure(does) && hook !== "afterToolCall") watch.circumstances.hasFailed = true;
    return perform(does, usual, acts);
  }

  function perform<T>(does: HookPlan, usual: () => T, acts: () => T): T | Promise<T> {
    if (does.does === "throws") throw new Error(`${does.hook} threw`);
    if (does.does === "never")
      return unlimited.includes(does.hook) ? watch.stall<T>() : new Promise(() => {});
    const result = does.does === undefined ? usual : acts;
    if (does.does !== "rejects" && does.wait === undefined && does.hops === undefined)
      return result();
    if (does.does === "rejects" || does.early !== true) return settle(does, result);
    const taken = result();
    return settle(does, () => taken);
  }

  async function settle<T>(
    { hook, does, wait, hops: count = 0 }: HookPlan,
    result: () => T,
  ): Promise<T> {
    await hops(count);
    if (wait !== undefined) await timeline.sleep(wait);
    if (does === "rejects") throw new Error(`${hook} rejected`);
    return result();
  }

  function beforeToolCall(
    context: BeforeToolCallContext,
    signal?: AbortSignal,
  ): ReturnType<NonNullable<AgentLoopConfig["beforeToolCall"]>> {
    const { toolCall, idempotencyKey } = context;
    const does = next("beforeToolCall");
    if (does === undefined) return undefined;
    const call = watch.lastCall;
    if (does.does === "edits") call?.edited.add(toolCall.id);
    else if (does.does !== undefined) call?.kept.add(toolCall.id);
    if (does.does !== "asks")
      return perform(
        does,
        () => undefined,
        () => verdict(does.does),
      );
    if (does.answer !== undefined) {
      timeline.after(does.wait ?? 0, () => {
        const isHeard = watch.answer(idempotencyKey, { decision: does.answer });
        if (isHeard && does.answer === "allow") call?.kept.delete(toolCall.id);
      });
    }
    return ask(context, signal);
  }

  const note: Message = { role: "user", content: `${watch.tag} noted by a hook`, timestamp: 1 };
  const replaced: AfterToolCallResult = {
    details: { replaced: true },
    isError: false,
    terminate: false,
  };
  const all: Required<Hooks> = {
    transformContext: (messages) =>
      run<AgentMessage[]>(
        "transformContext",
        () => messages,
        () => [note, ...messages],
      ),
    convertToLlm: (messages) =>
      run(
        "convertToLlm",
        () => llmOnly(messages),
        () => [...llmOnly(messages)],
      ),
    getApiKey: () =>
      run(
        "getApiKey",
        () => watch.key,
        () => "",
      ),
    beforeToolCall,
    afterToolCall: () =>
      run<AfterToolCallResult | undefined>(
        "afterToolCall",
        () => undefined,
        () => replaced,
      ),
    shouldStopAfterTurn: () =>
      run(
        "shouldStopAfterTurn",
        () => false,
        () => watch.stopAsked(),
      ),
    getSteeringMessages: () =>
      run(
        "getSteeringMessages",
        () => take("steering"),
        () => take("steering"),
      ),
    getFollowUpMessages: () =>
      run(
        "getFollowUpMessages",
        () => take("followUp"),
        () => take("followUp"),
      ),
  };
  const named = new Set<string>(plan.hooks.map(({ hook }) => hook));
  const ofLoop = ["convertToLlm", "getSteeringMessages", "getFollowUpMessages"];
  const isThere = (hook: string): boolean =>
    named.has(hook) || (plan.face === "loop" && ofLoop.includes(hook));
  return Object.fromEntries(Object.entries(all).filter(([hook]) => isThere(hook)));
}

function isFailure({ does }: HookPlan): boolean {
  return does === "throws" || does === "rejects" || does === "never";
}

function verdict(does: HookPlan["does"]): BeforeToolCallResult {
  if (does === "edits") return { args: { n: EDITED } };
  return does === "spoils" ? { args: { n: -EDITED } } : { block: true, reason: "blocked" };
}

function llmOnly(messages: readonly AgentMessage[]): Message[] {
  return messages.filter(({ role }) => ["user", "assistant", "toolResult"].includes(role));
}

/** `leave` unsubscribes the listener. */
export function createListener(
  plan: ListenerPlan,
  watch: Watch,
  timeline: Timeline,
  leave: () => void,
): AgentListener {
  let heard = -1;
  const fail = (): never => {
    watch.circumstances.hasFailed = true;
    throw new Error(`a listener ${plan.does}`);
  };
  return () => {
    heard++;
    const since = heard - plan.from;
    const isDue =
      since === 0 || (since > 0 && plan.every !== undefined && since % plan.every === 0);
    if (!isDue || watch.circumstances.isCalm) return undefined;
    watch.note(() => `a listener ${plan.does}`);
    switch (plan.does) {
      case "throws":
        return fail();
      case "rejects":
        return timeline.sleep(plan.wait ?? 0).then(fail);
      case "never":
        watch.circumstances.hasFailed = true;
        return new Promise(() => {});
      case "waits":
        return timeline.sleep(plan.wait ?? 0);
      case "leaves":
        return leave();
    }
  };
}
