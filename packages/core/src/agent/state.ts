/**
 * What an agent holds between runs, and what a run is doing. A fold over the run's events keeps the
 * read-only part.
 */
import type { Optional } from "../json-value.ts";
import type { ThinkingLevel, Model } from "../llm/model.ts";
import type { AgentMessage } from "./contract/agent-message.ts";
import type { AgentEvent } from "./contract/event.ts";
import type { AgentTool } from "./contract/tool.ts";

export interface AgentState {
  systemPrompt: string;
  model: Model;
  thinkingLevel: ThinkingLevel;
  /** Assigning copies the array; changing the array changes the state. */
  tools: AgentTool[];
  /** Assigning copies the array; changing the array changes the state. */
  messages: AgentMessage[];
  /** True until the run has settled, awaited `agent_end` listeners included. */
  readonly isStreaming: boolean;
  /** The message that is being received. */
  readonly streamingMessage?: AgentMessage | undefined;
  /**
   * Ids of the calls that were started and have not ended; another set when they have changed, for
   * pages that compare.
   */
  readonly pendingToolCalls: ReadonlySet<string>;
  /** Why the last run failed; cleared when the next begins. */
  readonly errorMessage?: string | undefined;
}

/** Stands in until a model is set; no server knows it. */
const noModel: Model = {
  id: "unknown",
  name: "unknown",
  api: "unknown",
  provider: "unknown",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
};

export interface InitialState<TContext = unknown> extends Optional<
  Pick<AgentState, "systemPrompt" | "model" | "thinkingLevel" | "messages">
> {
  /** Of those that take the agent's context. */
  tools?: AgentTool<unknown, unknown, TContext>[] | undefined;
}

const shared = {
  // Thousands of calls may start at once: they are copied when they are looked at.
  pendingToolCalls: {
    enumerable: true,
    get(this: MutableAgentState) {
      return (this.lists.pending ??= new Set(this.lists.calls));
    },
  },
  ...Object.fromEntries(
    (["tools", "messages"] as const).map((name) => [
      name,
      {
        enumerable: true,
        get(this: MutableAgentState) {
          return this.lists[name];
        },
        set(this: MutableAgentState, assigned: never[]) {
          this.lists[name] = [...assigned];
        },
      },
    ]),
  ),
};

/**
 * The state as its owner sees it. Accessors in a literal would make each a slow dictionary; these
 * are shared by all, and enumerable as a literal's are.
 */
export class MutableAgentState implements AgentState {
  systemPrompt: string;
  model: Model;
  thinkingLevel: ThinkingLevel;
  declare tools: AgentTool[];
  declare messages: AgentMessage[];
  isStreaming = false;
  streamingMessage: AgentMessage | undefined;
  errorMessage: string | undefined;
  declare readonly pendingToolCalls: ReadonlySet<string>;
  /**
   * Not enumerable, and no private field: such cannot be read through a proxy, or an object that
   * inherits.
   */
  declare readonly lists: Pick<AgentState, "tools" | "messages"> & {
    readonly calls: Set<string>;
    pending?: ReadonlySet<string> | undefined;
  };

  constructor({
    systemPrompt = "",
    model = noModel,
    thinkingLevel = "off",
    tools = [],
    messages = [],
  }: InitialState) {
    this.systemPrompt = systemPrompt;
    this.model = model;
    this.thinkingLevel = thinkingLevel;
    Object.defineProperty(this, "lists", {
      value: { tools: [...tools], messages: [...messages], calls: new Set() },
    });
    Object.defineProperties(this, shared);
  }
}

/** Folds one event in, before any listener sees it. The loop itself appends to `messages`. */
export function applyToState(state: MutableAgentState, event: AgentEvent): void {
  switch (event.type) {
    case "agent_start":
      state.errorMessage = undefined;
      break;
    case "message_start":
    case "message_update": // another object after a retraction
      if (event.message.role === "assistant") state.streamingMessage = event.message;
      break;
    case "message_end":
      state.streamingMessage = undefined;
      break;
    case "tool_execution_start":
    case "tool_execution_end":
      state.lists.calls["result" in event ? "delete" : "add"](event.toolCallId);
      state.lists.pending = undefined;
      break;
    case "turn_end":
      state.errorMessage = event.message.errorMessage;
      break;
    case "agent_end":
      // An abort that the last answer has told in its words has been told.
      if (event.reason !== "aborted" || !state.errorMessage)
        state.errorMessage = event.error?.message;
      break;
    case "turn_start":
    case "tool_execution_update":
    case "request_retry":
    case "model_failover":
    case "approval_request":
    case "approval_answer":
    case "compaction_start":
    case "compaction_end":
      break;
  }
}
