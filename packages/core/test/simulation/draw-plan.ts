/**
 * Draws a plan from a seed. Each family of faults occurs in some simulations only, so that no fault
 * hides another.
 */
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
  StepPlan,
  ToolPlan,
} from "./plan.ts";
import { drawAnswer } from "./draw-answer.ts";
import { delays, drawTool, toolNames } from "./draw-tool.ts";

const hookNames: readonly HookName[] = [
  ...([
    "beforeToolCall",
    "beforeToolCall",
    "beforeToolCall",
    "afterToolCall",
    "afterToolCall",
  ] as const),
  ...(["transformContext", "convertToLlm", "getApiKey", "shouldStopAfterTurn"] as const),
];
const loopHookNames: readonly HookName[] = [
  ...hookNames,
  "getSteeringMessages",
  "getFollowUpMessages",
];

export function drawPlan(seed: number): Plan {
  const random = new Random(seed);
  const agents = random.chance(0.12) ? [drawAgent(random), drawAgent(random)] : [drawAgent(random)];
  return random.chance(0.06) ? strict({ seed, agents }, random) : { seed, agents };
}

/** Adds a wire, and removes pauses because most servers of both wires refuse a request that ends with an answer. */
function strict(plan: Plan, random: Random): Plan {
  return {
    ...plan,
    agents: plan.agents.map(unpaused),
    wire: random.pick(["openai-chat", "anthropic-messages"] as const),
  };
}

function unpaused(agent: AgentPlan): AgentPlan {
  const tools = agent.tools.map(({ nested, ...tool }) =>
    nested === undefined ? tool : { ...tool, nested: unpaused(nested) },
  );
  const answers = agent.answers.map((answer): AnswerPlan => ({ ...answer, paused: false }));
  return { ...agent, tools, answers };
}

/** An agent that is a tool: each call prompts it once. */
function drawNested(random: Random): AgentPlan {
  const agent = drawAgent(random, 1);
  const question = {
    ...drawHook(random, "agent"),
    hook: "beforeToolCall",
    call: 0,
    does: "asks",
  } as const;
  const hooks = random.chance(0.3) ? [question, ...agent.hooks] : agent.hooks;
  return { ...agent, face: "agent", starts: [], actions: [], hooks };
}

function drawAgent(random: Random, depth = 0): AgentPlan {
  const face = random.chance(0.25) ? "loop" : "agent";
  const tools = toolNames.slice(0, 1 + random.below(toolNames.length)).map((name): ToolPlan => {
    const tool = drawTool(random, name);
    return depth === 0 && random.chance(0.1) ? { ...tool, nested: drawNested(random) } : tool;
  });
  const called = random.chance(0.85) ? tools.map(({ name }) => name) : [];
  const slow =
    face === "loop" && random.chance(0.2) ? drawSlowQueue(random) : { hooks: [], actions: [] };
  const faults = { streams: random.chance(0.35), tools: called };
  return {
    face,
    settings: drawSettings(random),
    ...(random.chance(0.5) && { sharesBudget: true }),
    ...(random.chance(0.1) && { yields: true }),
    tools,
    answers: random.some(6, () => drawAnswer(random, faults)),
    starts: [
      { kind: "prompt", ...(face === "agent" && random.chance(0.12) && { output: true }) },
      ...random.some(2, () => drawStart(random, face)),
    ],
    actions: [
      ...slow.actions,
      ...(random.chance(0.6) ? random.some(8, () => drawAction(random)) : []),
    ],
    hooks: [
      ...slow.hooks,
      ...(random.chance(0.45) ? random.some(5, () => drawHook(random, face)) : []),
    ],
    listeners:
      face === "agent" && random.chance(0.3) ? random.some(2, () => drawListener(random)) : [],
    ...(face === "agent" &&
      random.chance(0.15) && { steps: random.some(3, () => drawStep(random)) }),
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
  const does = random.pick([
    "throws",
    "rejects",
    "never",
    "acts",
    "acts",
    undefined,
    ...ofCalls,
  ] as const);
  return {
    hook,
    call: random.below(3),
    ...(does !== undefined && { does }),
    ...(does === "asks" &&
      random.chance(0.8) && { answer: random.pick(["allow", "allow", "deny"] as const) }),
    ...(random.chance(0.5) && { wait: random.pick(delays) }),
    ...(random.chance(0.3) && { hops: random.below(4) }),
  };
}

/** A non-empty queue of the caller whose hook may answer too late. */
function drawSlowQueue(random: Random): Pick<AgentPlan, "hooks" | "actions"> {
  const isSteering = random.chance(0.5);
  const does = isSteering ? "steer" : "followUp";
  const hook = isSteering ? "getSteeringMessages" : "getFollowUpMessages";
  const early = random.chance(0.5);
  return {
    hooks: [
      {
        hook,
        call: random.below(2),
        wait: random.pick([2, 10, 200, 5000]),
        ...(early && { early }),
      },
    ],
    actions: [
      { does, on: "event", at: random.below(4) },
      { does: "abort", on: "time", at: random.pick([1, 2, 10, 100]) },
    ],
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

function drawStep(random: Random): StepPlan {
  return {
    at: random.below(6),
    ...(random.chance(0.5) && { isBehind: true }),
    does: random.pick(["waits", "waits", "rejects", "never"] as const),
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
