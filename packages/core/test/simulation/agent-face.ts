/** The stateful agent in a simulation. */
import {
  createAgentTool,
  createBudget,
  type Agent,
  type AgentMessage,
  type AgentOptions,
  type AgentTool,
} from "../../src/agent/index.ts";
import { isBowlineError } from "../../src/errors.ts";
import type { UserMessage } from "../../src/llm/message.ts";
import { parameters } from "./arguments.ts";
import type { Face, Parts } from "./face.ts";
import { createHooks, createListener } from "./hooks.ts";
import { createStreamFn } from "./model.ts";
import type { AgentPlan } from "./plan.ts";
import { createRecorder } from "./steps.ts";
import { createTools } from "./tools.ts";
import type { Watch } from "./watch.ts";
import { createWatchedAgent, listenLast } from "./watched-agent.ts";

type World = Pick<Parts, "timeline" | "model" | "report">;

function createAgent(plan: AgentPlan, watch: Watch, world: World): Agent {
  const { timeline, model } = world;
  const { budget, ...settings } = plan.settings;
  const options: AgentOptions = {
    initialState: { model, tools: toolsOf(plan, watch, world) },
    streamFn: createStreamFn(plan.answers, watch, timeline),
    clock: watch.clock,
    createId: watch.createId,
    context: watch.context,
    apiKey: watch.key,
    ...settings,
    ...(budget !== undefined && {
      budget: plan.sharesBudget === true ? createBudget(budget) : budget,
    }),
    ...createHooks(plan, watch, timeline, () => []),
    ...(plan.steps !== undefined && { effects: createRecorder(plan.steps, watch, timeline) }),
  };
  const agent = createWatchedAgent(options, watch);
  for (const listener of plan.listeners) {
    const leave = agent.subscribe(createListener(listener, watch, timeline, () => leave()));
  }
  listenLast(agent, watch);
  return agent;
}

/** The plan's tools. A tool that is an agent is run by `createAgentTool`. */
export function toolsOf(plan: AgentPlan, watch: Watch, world: World): AgentTool[] {
  return createTools(plan.tools, watch, world.timeline, (nested) =>
    createAgentTool({
      name: "nested",
      description: "An agent.",
      createAgent: () => createAgent(nested, watch.child(nested), world),
    }),
  );
}

export function createAgentFace({ plan, watch, ...world }: Parts): Face {
  const { report } = world;
  const agent = createAgent(plan, watch, world);
  watch.answer = (approvalId, value) => agent.answer(approvalId, value);
  let waiting = 0;

  function checkIdle(): void {
    const { isStreaming, streamingMessage, pendingToolCalls } = agent.state;
    const isIdle = !isStreaming && streamingMessage === undefined && pendingToolCalls.size === 0;
    if (!isIdle || agent.signal !== undefined)
      report("2 state", `${watch.tag} is not idle after its run`);
    try {
      void agent.waitForIdle();
    } catch {
      report("2 state", `${watch.tag}: waitForIdle() is refused outside every listener`);
    }
  }

  async function refused(what: string, call: () => unknown): Promise<void> {
    try {
      await call();
    } catch (error) {
      if (isBowlineError(error) && error.code === "invalid_state") return;
    }
    report("2 state", `${watch.tag}: ${what} was not refused with invalid_state`);
  }

  async function goOn(): Promise<void> {
    const last = agent.state.messages.at(-1);
    const mayGoOn = canGoOn(last) || watch.queue.waiting > 0;
    if (mayGoOn) await agent.continue();
    else await refused("continue()", () => agent.continue());
  }

  return {
    async start({ kind, output = false }, messages) {
      if (agent.hasQueuedMessages() !== watch.queue.waiting > 0)
        report("3 queue", `${watch.tag}: not as it was left`);
      switch (kind) {
        case "prompt":
          await agent.prompt(textOf(messages) ?? messages, output ? { output: parameters } : {});
          break;
        case "retry":
          agent.state.messages = withoutFailed(agent.state.messages);
          await goOn();
          break;
        case "continue":
          await goOn();
          break;
        case "reset":
          agent.reset();
          watch.queue.clear();
          break;
      }
      checkIdle();
    },
    act(does, text) {
      switch (does) {
        case "abort":
          return agent.abort();
        case "steer":
          watch.queue.add("steering", text);
          return agent.steer(userMessage(text));
        case "followUp":
          watch.queue.add("followUp", text);
          return agent.followUp(userMessage(text));
        case "clear":
          watch.queue.clear();
          return agent.clearAllQueues();
        case "prompt":
          return void (
            agent.state.isStreaming && refused("prompt() in a run", () => agent.prompt(text))
          );
        case "reset":
          return void (agent.state.isStreaming && refused("reset() in a run", () => agent.reset()));
        case "waitForIdle":
          waiting++;
          // `waitForIdle` throws in a listener, because the run waits for the listener.
          return void Promise.try(() => agent.waitForIdle())
            .catch(() => {})
            .then(() => waiting--);
      }
    },
    async windUp(message) {
      agent.steeringMode = "all";
      agent.followUpMode = "all";
      agent.budget = createBudget();
      const { reason } = await agent.prompt(message);
      if (reason !== "done") report("2 state", `${watch.tag}: a last prompt ended ${reason}`);
      checkIdle();
      if (waiting > 0) report("2 hangs", `${watch.tag}: waitForIdle() does not resolve`);
    },
  };
}

/** The messages without failed answers at their end, as a caller drops them before a retry. */
export function withoutFailed(messages: readonly AgentMessage[]): AgentMessage[] {
  const end = messages.findLastIndex(
    (message) => message.role !== "assistant" || message.error === undefined,
  );
  return messages.slice(0, end + 1);
}

/** The text of a prompt of one text message, the most common prompt. */
function textOf([first, ...rest]: readonly AgentMessage[]): string | undefined {
  return rest.length === 0 && first?.role === "user" && typeof first.content === "string"
    ? first.content
    : undefined;
}

/** Whether a run may continue: from any message but an answer, or from a failed answer. */
export function canGoOn(last: AgentMessage | undefined): boolean {
  return (
    last !== undefined &&
    (last.role !== "assistant" || last.stopReason === "error" || last.stopReason === "aborted")
  );
}

export function userMessage(content: string): UserMessage {
  return { role: "user", content, timestamp: 1 };
}
