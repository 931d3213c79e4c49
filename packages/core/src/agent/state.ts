/**
 * The state of an agent and of its current run. The read-only fields are updated from the run's
 * events.
 */
import type { Optional } from "../json-value.ts";
import type { ThinkingLevel, Model } from "../llm/model.ts";
import type { AgentMessage } from "./contract/agent-message.ts";
import type { AgentEvent } from "./contract/event.ts";
import type { AgentTool } from "./contract/tool.ts";

export interface AgentState {
  /** Sent before the messages. Default: none. */
  systemPrompt: string;
  /** The model to call. A run without a model ends with an error. */
  model: Model;
  /** How much the model should think. Default `off`. */
  thinkingLevel: ThinkingLevel;
  /** Assigning copies the array; changing the array changes the state. Default: none. */
  tools: AgentTool[];
  /** Assigning copies the array; changing the array changes the state. Default: none. */
  messages: AgentMessage[];
  /** True during a run, until awaited `agent_end` listeners are done. */
  readonly isStreaming: boolean;
  /** The message that is being streamed. */
  readonly streamingMessage?: AgentMessage | undefined;
  /**
   * Ids of the tool calls that are running. Each change makes a new set, so that pages can compare
   * by identity.
   */
  readonly pendingToolCalls: ReadonlySet<string>;
  /** Error message of the last run. Cleared when the next run begins. */
  readonly errorMessage?: string | undefined;
}

/** Placeholder until a model is set. */
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
  /** Tools that accept the agent's context. Default: none. */
  tools?: AgentTool<unknown, unknown, TContext>[] | undefined;
}

const shared = {
  // Copied on first read, because thousands of calls may start at once.
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
 * The state as the agent sees it. All states share the same accessors, which are enumerable as in
 * an object literal. Accessors in a literal would put each state into V8's slow dictionary mode.
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
   * Not enumerable. Not a private field either, because a proxy or an inheriting object cannot read
   * those.
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

/**
 * Applies an event to the state, before any listener gets the event. The loop itself appends to
 * `messages`.
 */
export function applyToState(state: MutableAgentState, event: AgentEvent): void {
  switch (event.type) {
    case "agent_start":
      state.errorMessage = undefined;
      break;
    case "message_start":
    case "message_update": // a retraction replaces the message object
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
      // Keep the last answer's own message about the abort.
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
