/** Gives the loop an agent's settings, with the effects and the time of the engine. */
import {
  createOutputRun,
  type Agent,
  type AgentLoopConfig,
  type Effects,
  type OutputRun,
  type RunInput,
} from "@bowline/core/agent";
import { BowlineError, type Clock } from "@bowline/core";

/** The limit of the loop in an agent. */
const MAX_TURNS = 50;

export interface LoopParts {
  readonly agent: Agent;
  readonly runId: string;
  readonly effects: Effects;
  readonly signal: AbortSignal;
  readonly output: unknown;
  /** The time within steps. Default: the system's. */
  readonly clock: Clock | undefined;
}

export function loopInput({
  agent,
  runId,
  effects,
  signal,
  output,
  clock = stepClock,
}: LoopParts): OutputRun {
  const { streamFn, state } = agent;
  if (streamFn === undefined)
    throw new BowlineError("invalid_argument", "The agent has no stream function. Pass streamFn.");
  const createId = idsOf(runId);
  const input: RunInput = {
    context: state,
    config: () => configOf(agent, clock, createId),
    effects,
    streamFn,
    signal,
    turnLimit: MAX_TURNS,
  };
  if (output !== undefined) return createOutputRun(output, input);
  return { input, finish: (result) => Promise.resolve(result) };
}

/** Throws for an agent that was used, or that records elsewhere. */
export function checkAgent(agent: Agent): void {
  const fault =
    agent.state.messages.length > 0
      ? "The agent already has messages. Return a new agent from createAgent."
      : agent.effects !== undefined && "The agent has effects. Leave out the option effects.";
  if (fault) throw new BowlineError("invalid_argument", fault);
}

function configOf(agent: Agent, clock: Clock, createId: () => string): AgentLoopConfig {
  const { model, thinkingLevel } = agent.state;
  return Object.assign({}, agent, {
    model,
    toolContext: agent.context,
    clock,
    createId,
    ...(thinkingLevel !== "off" && { reasoning: thinkingLevel }),
  });
}

/** The loop asks for the run's id first. All later ids are made within steps. */
function idsOf(runId: string): () => string {
  let isFirst = true;
  return () => {
    if (!isFirst) return crypto.randomUUID();
    isFirst = false;
    return runId;
  };
}

/** The system's time, without `yield`, which would be a wait between two results. */
const stepClock: Clock = {
  now: () => Date.now(),
  monotonic: () => Math.round(performance.now()),
  setTimer: (ms, fire) => {
    const timer = setTimeout(fire, Math.min(ms, 2_147_483_647));
    return () => clearTimeout(timer);
  },
};
