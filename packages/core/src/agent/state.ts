/** What an agent holds between runs, and what a run is doing. A fold over the run's events keeps the read-only part. */
import type { ThinkingLevel, Model } from "../llm/model.ts";
import type { AgentEvent, AgentMessage } from "./event.ts";
import type { AgentTool } from "./tool.ts";

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
  /** Ids of the calls that were started and have not ended. */
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

export type InitialState = Partial<Pick<AgentState, "systemPrompt" | "model" | "thinkingLevel" | "tools" | "messages">>;

export class MutableAgentState implements AgentState {
  systemPrompt: string;
  model: Model;
  thinkingLevel: ThinkingLevel;
  isStreaming = false;
  streamingMessage: AgentMessage | undefined;
  readonly pendingToolCalls: Set<string> = new Set();
  errorMessage: string | undefined;
  #tools: AgentTool[];
  #messages: AgentMessage[];

  constructor({ systemPrompt = "", model = noModel, thinkingLevel = "off", tools = [], messages = [] }: InitialState) {
    this.systemPrompt = systemPrompt;
    this.model = model;
    this.thinkingLevel = thinkingLevel;
    this.#tools = [...tools];
    this.#messages = [...messages];
  }

  get tools(): AgentTool[] {
    return this.#tools;
  }
  set tools(tools: AgentTool[]) {
    this.#tools = [...tools];
  }

  get messages(): AgentMessage[] {
    return this.#messages;
  }
  set messages(messages: AgentMessage[]) {
    this.#messages = [...messages];
  }

  /** Folds one event in, before any listener sees it. The loop itself appends to `messages`. */
  apply(event: AgentEvent): void {
    switch (event.type) {
      case "agent_start":
        this.errorMessage = undefined;
        break;
      case "message_start":
        this.streamingMessage = event.message.role === "assistant" ? event.message : undefined;
        break;
      case "message_update":
        this.streamingMessage = event.message; // another object after a retraction
        break;
      case "message_end":
        this.streamingMessage = undefined;
        break;
      case "tool_execution_start":
        this.pendingToolCalls.add(event.toolCallId);
        break;
      case "tool_execution_end":
        this.pendingToolCalls.delete(event.toolCallId);
        break;
      case "turn_end":
        this.errorMessage = event.message.errorMessage;
        break;
      case "agent_end":
        this.errorMessage = event.error?.message;
        break;
      case "turn_start":
      case "tool_execution_update":
      case "request_retry":
      case "model_failover":
        break;
    }
  }
}
