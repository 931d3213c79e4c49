/** A plan from a seed. Each family of faults is in some worlds only, so that no fault hides behind another. */
import { Random } from "./random.ts";
import type {
  ActionPlan,
  AgentPlan,
  AnswerPlan,
  HookName,
  HookPlan,
  ListenerPlan,
  Plan,
  Settings,
  StartPlan,
  ToolPlan,
} from "./plan.ts";
import { drawAnswer } from "./draw-answer.ts";
import { exclusions } from "./exclusions.ts";
import { delays, drawTool, toolNames } from "./draw-tool.ts";

const hookNames: readonly HookName[] = [
  ...(["beforeToolCall", "beforeToolCall", "beforeToolCall", "afterToolCall", "afterToolCall"] as const),
  ...(["transformContext", "convertToLlm", "getApiKey", "shouldStopAfterTurn"] as const),
];
const loopHookNames: readonly HookName[] = [...hookNames, "getSteeringMessages", "getFollowUpMessages"];

export function drawPlan(seed: number): Plan {
  const random = new Random(seed);
  const agents = random.chance(0.12) ? [drawAgent(random), drawAgent(random)] : [drawAgent(random)];
  const plan = random.chance(0.06) ? strict({ seed, agents }, random) : { seed, agents };
  return {
    ...plan,
    agents: plan.agents.map((agent) => withNested(agent, (one, isNested) => avoidAll(one, plan, isNested))),
  };
}

function avoidAll(agent: AgentPlan, plan: Plan, isNested: boolean): AgentPlan {
  return exclusions.reduce((drawn, exclusion) => exclusion.avoid?.(drawn, plan, isNested) ?? drawn, agent);
}

/** Changes an agent, and those that are its tools. */
function withNested(
  agent: AgentPlan,
  change: (agent: AgentPlan, isNested: boolean) => AgentPlan,
  isNested = false,
): AgentPlan {
  const tools = agent.tools.map((tool): ToolPlan =>
    tool.nested === undefined ? tool : { ...tool, nested: withNested(tool.nested, change, true) },
  );
  return change({ ...agent, tools }, isNested);
}

/** A request that ends with an answer, as after a pause, is refused by most servers of both wires. */
function strict(plan: Plan, random: Random): Plan {
  const unpaused = plan.agents.map((agent) =>
    withNested(agent, (one) => ({ ...one, answers: one.answers.map(withoutPause) })),
  );
  return { ...plan, agents: unpaused, wire: random.pick(["openai-chat", "anthropic-messages"] as const) };
}

function withoutPause(answer: AnswerPlan): AnswerPlan {
  const { paused: _, ...rest } = answer;
  return rest;
}

/** An agent that is a tool: it is prompted once, by its call. */
function drawNested(random: Random): AgentPlan {
  return { ...drawAgent(random, 1), face: "agent", starts: [], actions: [] };
}

function drawAgent(random: Random, depth = 0): AgentPlan {
  const face = random.chance(0.25) ? "loop" : "agent";
  const tools = toolNames.slice(0, 1 + random.below(toolNames.length)).map((name): ToolPlan => {
    const tool = drawTool(random, name);
    return depth === 0 && random.chance(0.06) ? { ...tool, nested: drawNested(random) } : tool;
  });
  const called = random.chance(0.85) ? tools.map(({ name }) => name) : [];
  const faults = { streams: random.chance(0.35), tools: called };
  return {
    face,
    settings: drawSettings(random),
    ...(random.chance(0.5) && { sharesBudget: true }),
    tools,
    answers: random.some(6, () => drawAnswer(random, faults)),
    starts: [
      { kind: "prompt", ...(face === "agent" && random.chance(0.12) && { output: true }) },
      ...random.some(2, () => drawStart(random, face)),
    ],
    actions: random.chance(0.6) ? random.some(8, () => drawAction(random)) : [],
    hooks: random.chance(0.45) ? random.some(5, () => drawHook(random, face)) : [],
    listeners: face === "agent" && random.chance(0.3) ? random.some(2, () => drawListener(random)) : [],
    ...(face === "loop" && random.chance(0.3) && { reader: drawReader(random) }),
  };
}

function drawSettings(random: Random): Settings {
  const mode = ["one-at-a-time", "all"] as const;
  return {
    ...(random.chance(0.3) && { toolExecution: random.pick(["sequential", "parallel"] as const) }),
    ...(random.chance(0.7) && { abortGraceMs: random.pick([0, 1, 10, 200]) }),
    ...(random.chance(0.3) && { hookTimeoutMs: random.pick([5, 100, 1000]) }),
    ...(random.chance(0.2) && { toolTimeoutMs: random.pick([1, 10, 100]) }),
    ...(random.chance(0.3) && { steeringMode: random.pick(mode) }),
    ...(random.chance(0.3) && { followUpMode: random.pick(mode) }),
    ...(random.chance(0.15) && { maxParallelTools: 1 + random.below(2) }),
    ...(random.chance(0.15) && { skipToolsOnSteering: true }),
    ...(random.chance(0.15) && { budget: drawBudget(random) }),
  };
}

function drawBudget(random: Random): NonNullable<Settings["budget"]> {
  return {
    ...(random.chance(0.5) && { maxTurns: random.below(4) }),
    ...(random.chance(0.3) && { maxTokens: random.pick([0, 5, 20]) }),
    ...(random.chance(0.3) && { maxCost: random.pick([0.001, 0.02]) }),
    ...(random.chance(0.4) && { maxTimeMs: random.pick([0, 1, 10, 100]) }),
  };
}

function drawStart(random: Random, face: AgentPlan["face"]): StartPlan {
  return {
    kind: random.pick(["prompt", "prompt", "continue", "retry", "reset"] as const),
    ...(random.chance(0.3) && { wait: random.pick(delays) }),
    ...(random.chance(0.2) && { messages: 1 + random.below(3) }),
    ...(face === "agent" && random.chance(0.1) && { output: true }),
    ...(face === "loop" && random.chance(0.1) && { aborted: true }),
  };
}

function drawAction(random: Random): ActionPlan {
  const does = random.pick([
    ...(["abort", "abort", "abort", "steer", "steer", "followUp", "followUp"] as const),
    ...(["prompt", "waitForIdle", "reset", "clear"] as const),
  ]);
  const on = random.pick(["time", "event", "event", "request", "execution", "hook"] as const);
  const at = on === "time" ? random.pick(delays) : random.below(on === "event" ? 60 : 4);
  return { does, on, at, ...(random.chance(0.5) && { hops: random.below(8) }) };
}

function drawHook(random: Random, face: AgentPlan["face"]): HookPlan {
  const hook = random.pick(face === "loop" ? loopHookNames : hookNames);
  const ofCalls = hook === "beforeToolCall" ? (["edits", "spoils", "asks", "asks"] as const) : [];
  const does = random.pick(["throws", "rejects", "never", "acts", "acts", undefined, ...ofCalls] as const);
  return {
    hook,
    call: random.below(3),
    ...(does !== undefined && { does }),
    ...(does === "asks" && random.chance(0.8) && { answer: random.pick(["allow", "allow", "deny"] as const) }),
    ...(random.chance(0.5) && { wait: random.pick(delays) }),
    ...(random.chance(0.3) && { hops: random.below(4) }),
  };
}

function drawListener(random: Random): ListenerPlan {
  return {
    from: random.below(50),
    ...(random.chance(0.5) && { every: 1 + random.below(6) }),
    does: random.pick(["throws", "rejects", "never", "waits", "waits", "leaves"] as const),
    ...(random.chance(0.7) && { wait: random.pick(delays) }),
  };
}

function drawReader(random: Random): NonNullable<AgentPlan["reader"]> {
  return {
    ...(random.chance(0.5) && { wait: random.pick(delays) }),
    ...(random.chance(0.5) && { leaves: random.below(30) }),
    ...(random.chance(0.5) && { batches: true }),
  };
}
