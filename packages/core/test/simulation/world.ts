/** One simulation: agents that carry out their plans on one timeline, each watched. */
import type { AgentMessage } from "../../src/agent/index.ts";
import type { Context } from "../../src/llm/message.ts";
import type { Model, StreamOptions } from "../../src/llm/model.ts";
import { anthropicMessages } from "../../src/providers/anthropic-messages/index.ts";
import { openaiChat } from "../../src/providers/openai-chat/index.ts";
import { checkChatRequest, checkMessagesRequest } from "../../src/testing/index.ts";
import { asRead } from "../support.ts";
import { createAgentFace, userMessage } from "./agent-face.ts";
import type { Face } from "./face.ts";
import { createLoopFace } from "./loop-face.ts";
import type { ActionPlan, Plan, StartPlan } from "./plan.ts";
import type { Report } from "./report.ts";
import { hops, type Timeline } from "./timeline.ts";
import { Watch } from "./watch.ts";

const tags = ["<A>", "<B>"];

export interface World {
  readonly watches: readonly Watch[];
  /** Whether every agent has carried out its plan. */
  readonly isOver: boolean;
  /** Aborts what stalls, as a person would. Returns false if nothing stalls. */
  giveUp(): boolean;
  /** The last checks, when nothing happens any more. */
  end(listenersOf: (signal: AbortSignal) => number): void;
}

/** The callbacks through which a simulation reports. */
export interface Ears {
  readonly report: Report;
  readonly note: (line: () => string) => void;
  /** Counts events. */
  readonly count: (what: string) => void;
}

export function createWorld(plan: Plan, timeline: Timeline, ears: Ears): World {
  const { report } = ears;
  const lives = plan.agents.map((agent, index) => {
    const [tag = "", stranger] = index === 0 ? tags : tags.toReversed();
    const watch = new Watch({
      tag,
      plan: agent,
      timeline,
      ...ears,
      checkWire: (model, context, options) => checkWire(plan.wire, model, context, options, ears),
      stranger: plan.agents.length > 1 ? stranger : undefined,
    });
    const model: Model = {
      id: `model of ${tag}`,
      name: tag,
      api: plan.wire ?? "simulated",
      provider: `provider of ${tag}`,
      baseUrl: "http://model.test/v1",
      reasoning: true,
      input: ["text"],
    };
    const parts = {
      plan: agent,
      watch,
      timeline,
      model,
      report,
    };
    return {
      watch,
      agent,
      face: agent.face === "agent" ? createAgentFace(parts) : createLoopFace(parts),
    };
  });
  let running = lives.length;
  for (const { watch, agent, face } of lives) {
    schedule(agent.actions, face, watch, timeline);
    void live(agent.starts, face, watch, timeline)
      .catch((error: unknown) =>
        report("0 world", error instanceof Error ? (error.stack ?? error.message) : "unknown"),
      )
      .finally(() => running--);
  }
  return {
    watches: lives.map(({ watch }) => watch),
    get isOver() {
      return running === 0;
    },
    giveUp() {
      const stalled = lives.filter(({ watch }) => watch.isStalled);
      for (const { watch, face } of stalled) {
        watch.isStalled = false;
        face.act("abort", "");
      }
      return stalled.length > 0;
    },
    end(listenersOf) {
      for (const { watch } of lives) watch.ends(listenersOf);
    },
  };
}

async function live(
  starts: readonly StartPlan[],
  face: Face,
  watch: Watch,
  timeline: Timeline,
): Promise<void> {
  for (const [index, start] of starts.entries()) {
    if (start.wait !== undefined) await timeline.sleep(start.wait);
    watch.note(() => `starts: ${start.kind}`);
    await face.start(start, promptsOf(start, `${watch.tag} prompt ${index}`));
  }
  watch.circumstances.calmDown();
  watch.note(() => "starts: the last prompt");
  await face.windUp(userMessage(`${watch.tag} the last prompt`));
}

function promptsOf({ messages = 1 }: StartPlan, text: string): AgentMessage[] {
  const own = {
    role: "note",
    content: "seen by the application only",
    timestamp: 1,
  } as unknown as AgentMessage;
  return Array.from({ length: messages }, (_, index) =>
    index === 1 ? own : userMessage(`${text}.${index}`),
  );
}

function schedule(
  actions: readonly ActionPlan[],
  face: Face,
  watch: Watch,
  timeline: Timeline,
): void {
  const act = ({ does, hops: count = 0 }: ActionPlan, index: number): void => {
    const perform = (): void => {
      if (!watch.circumstances.isCalm) face.act(does, `${watch.tag} ${does} ${index}`);
    };
    if (count === 0) perform();
    else void hops(count).then(perform);
  };
  for (const [index, action] of actions.entries()) {
    if (action.on === "time") timeline.after(action.at, () => act(action, index));
  }
  watch.onMoment((on, at) => {
    for (const [index, action] of actions.entries())
      if (action.on === on && action.at === at) act(action, index);
  });
}

const strictWires = {
  "openai-chat": { protocol: openaiChat, check: checkChatRequest },
  "anthropic-messages": { protocol: anthropicMessages, check: checkMessagesRequest },
};

function checkWire(
  name: Plan["wire"],
  model: Model,
  context: Context,
  options: StreamOptions,
  { report, count }: Ears,
): void {
  if (name === undefined) return;
  count("request on a strict wire");
  const { protocol, check } = strictWires[name];
  const { body } = protocol.encode(model, context, options);
  const problems = check(asRead(body));
  if (problems.length > 0) report("0 wire", problems.join("; "));
}
