/** An agent that reports its runs and aborts to its watch, whoever starts them. */
import {
  Agent,
  createOutputRun,
  type AgentOptions,
  type RunResult,
} from "../../src/agent/index.ts";
import type { Watch } from "./watch.ts";

/** The agent of the main entry, which supports outputs. */
class OutputAgent extends Agent {
  static override readonly outputRun = createOutputRun;
}

export function createWatchedAgent(options: AgentOptions, watch: Watch): Agent {
  const agent = new OutputAgent(options);
  agent.subscribe((event, signal) => {
    watch.signals.add(signal);
    watch.event(event);
  });
  const prompt = agent.prompt.bind(agent) as (...args: unknown[]) => Promise<RunResult>;
  const goOn = agent.continue.bind(agent) as (...args: unknown[]) => Promise<RunResult>;
  const abort = agent.abort.bind(agent);
  // Not enumerable, because enumerable properties are settings of the agent.
  Object.defineProperties(agent, {
    prompt: { value: (...args: unknown[]) => watched(() => prompt(...args), isForOutput(args[1])) },
    continue: { value: (...args: unknown[]) => watched(() => goOn(...args)) },
    abort: {
      value: () => {
        const aborted = watch.aborts();
        abort();
        aborted();
      },
    },
  });
  return agent;

  async function watched(start: () => Promise<RunResult>, forOutput = false): Promise<RunResult> {
    if (watch.run !== undefined) return start(); // to be refused
    watch.begins(agent.state.messages, forOutput);
    const result = await start().catch((error: unknown) => {
      watch.refused();
      throw error;
    });
    watch.released(agent.abortGraceMs);
    watch.settles(result, agent.state.messages);
    return result;
  }
}

function isForOutput(options: unknown): boolean {
  return typeof options === "object" && options !== null && "output" in options;
}

/** Receives every event after all other listeners: none twice, late or never. */
export function listenLast(agent: Agent, watch: Watch): void {
  let next = 0;
  agent.subscribe((event) => {
    if (event.parentRunId !== agent.parentRunId) return;
    if (event.type === "agent_start") next = 0;
    watch.heardLast(event.seq === next++, event);
  });
}
