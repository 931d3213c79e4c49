/** The two ways to use an agent in a simulation: the Agent class and the low-level loop. */
import type { AgentMessage } from "../../src/agent/index.ts";
import type { UserMessage } from "../../src/llm/message.ts";
import type { Model } from "../../src/llm/model.ts";
import type { ActionPlan, AgentPlan, StartPlan } from "./plan.ts";
import type { Report } from "./report.ts";
import type { Timeline } from "./timeline.ts";
import type { Watch } from "./watch.ts";

/** The parts of a face. */
export interface Parts {
  readonly plan: AgentPlan;
  readonly watch: Watch;
  readonly timeline: Timeline;
  readonly model: Model;
  readonly report: Report;
}

export interface Face {
  /** Uses the agent once; resolves when it has settled. */
  start(plan: StartPlan, messages: AgentMessage[]): Promise<void>;
  /** `text` is that of the message, for actions that have one. */
  act(does: ActionPlan["does"], text: string): void;
  /** Sends a last prompt, after which nothing is queued. */
  windUp(message: UserMessage): Promise<void>;
}
