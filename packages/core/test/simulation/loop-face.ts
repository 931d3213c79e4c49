/**
 * `agentLoop` and `agentLoopContinue` in a simulation, where the caller holds the context and the
 * queues.
 */
import {
  createBudget,
  agentLoop,
  agentLoopContinue,
  type AgentEvent,
  type AgentMessage,
} from "../../src/agent/index.ts";
import type { AgentContext, AgentLoopConfig } from "../../src/agent/index.ts";
import { isBowlineError } from "../../src/errors.ts";
import type { EventStream } from "../../src/llm/stream.ts";
import { canGoOn, toolsOf, userMessage, withoutFailed } from "./agent-face.ts";
import type { Face, Parts } from "./face.ts";
import { createStreamFn } from "./model.ts";
import { createHooks } from "./hooks.ts";

type Stream = EventStream<AgentEvent, AgentMessage[]>;
type Queue = "steering" | "followUp";

export function createLoopFace({ plan, watch, ...world }: Parts): Face {
  const { timeline, model, report } = world;
  const { steeringMode, followUpMode, budget, ...settings } = plan.settings;
  const streamFn = createStreamFn(plan.answers, watch, timeline);
  const context: AgentContext = {
    systemPrompt: "",
    messages: [],
    tools: toolsOf(plan, watch, world),
  };
  const queues: Record<Queue, AgentMessage[]> = { steering: [], followUp: [] };
  let modes = { steering: steeringMode, followUp: followUpMode };
  const take = (kind: Queue): AgentMessage[] => {
    const taken = queues[kind].splice(0, modes[kind] === "all" ? Infinity : 1);
    watch.queue.take(taken);
    return taken;
  };
  const config: AgentLoopConfig = {
    model,
    convertToLlm: (messages) => messages,
    clock: watch.clock,
    createId: watch.createId,
    toolContext: watch.context,
    apiKey: watch.key,
    ...settings,
    ...(budget !== undefined && {
      budget: plan.sharesBudget === true ? createBudget(budget) : budget,
    }),
    hasSteeringMessages: () => queues.steering.length > 0,
    returnMessages: (messages, kind) => {
      watch.count("queue given back");
      watch.queue.giveBack(messages);
      queues[kind].unshift(...messages);
    },
    ...createHooks(plan, watch, timeline, take),
  };
  let controller = new AbortController();

  async function run(isAborted: boolean, start: () => Stream): Promise<void> {
    controller = new AbortController();
    watch.signals.add(controller.signal);
    watch.begins(context.messages);
    if (isAborted) abort();
    const before = context.messages.length;
    const stream = start();
    const settled = stream.result().then((messages) => {
      watch.released(plan.settings.abortGraceMs);
      // `agentLoop` worked on a copy.
      if (context.messages.length === before) context.messages.push(...messages);
    });
    const [isWhole] = await Promise.all([read(stream), settled]);
    watch.settles(undefined, context.messages, isWhole);
  }

  /** Whether the stream was read to its end. */
  async function read(stream: Stream): Promise<boolean> {
    const {
      wait,
      leaves = Infinity,
      batches = false,
    } = watch.circumstances.isCalm ? {} : (plan.reader ?? {});
    let heard = 0;
    for await (const batch of batches ? stream.batches() : stream) {
      for (const event of [batch].flat()) watch.event(event);
      if (wait !== undefined) await timeline.sleep(wait);
      if (++heard >= leaves) break;
    }
    if (heard >= leaves) watch.aborts()();
    return watch.run?.order.isOver ?? true;
  }

  function abort(): void {
    const aborted = watch.aborts();
    controller.abort();
    aborted();
  }

  async function goOn(isAborted: boolean): Promise<void> {
    const last = context.messages.at(-1);
    if (canGoOn(last)) {
      return run(isAborted, () => agentLoopContinue(context, config, controller.signal, streamFn));
    }
    try {
      agentLoopContinue(context, config, controller.signal, streamFn);
    } catch (error) {
      if (isBowlineError(error) && error.code === "invalid_state") return;
    }
    report("2 state", `${watch.tag}: agentLoopContinue was not refused with invalid_state`);
  }

  return {
    async start({ kind, aborted = false }, messages) {
      switch (kind) {
        case "prompt":
          return run(aborted, () =>
            agentLoop(messages, context, config, controller.signal, streamFn),
          );
        case "retry":
          context.messages = withoutFailed(context.messages);
          return goOn(aborted);
        case "continue":
          return goOn(aborted);
        case "reset":
          context.messages = [];
          return undefined;
      }
    },
    act(does, text) {
      switch (does) {
        case "abort":
          return abort();
        case "steer":
          watch.queue.add("steering", text);
          return void queues.steering.push(userMessage(text));
        case "followUp":
          watch.queue.add("followUp", text);
          return void queues.followUp.push(userMessage(text));
        case "clear":
          watch.queue.clear();
          queues.steering = [];
          queues.followUp = [];
          return undefined;
        case "prompt":
        case "reset":
        case "waitForIdle":
          return undefined; // only for the agent
      }
    },
    async windUp(message) {
      modes = { steering: "all", followUp: "all" };
      delete config.budget;
      await run(false, () => agentLoop([message], context, config, controller.signal, streamFn));
    },
  };
}
