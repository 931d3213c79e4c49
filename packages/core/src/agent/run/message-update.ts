import type { AssistantMessageEvent } from "../../llm/event.ts";
import type { AssistantMessage } from "../../llm/message.ts";
import type { AgentEvent } from "../contract/event.ts";

/**
 * A `message_update` event. A getter exposes the live message, which is cheap to attach to
 * thousands of events.
 */
export class MessageUpdate implements Extract<AgentEvent, { type: "message_update" }> {
  readonly type = "message_update";
  declare readonly runId: string;
  declare readonly seq: number;
  declare readonly parentRunId?: string;
  declare readonly parentToolCallId?: string;
  declare readonly parentToolName?: string;
  declare readonly assistantMessageEvent: AssistantMessageEvent;
  readonly #message: AssistantMessage;

  constructor(runId: string, seq: number, event: AssistantMessageEvent, message: AssistantMessage) {
    this.runId = runId;
    this.seq = seq;
    this.assistantMessageEvent = event;
    this.#message = message;
  }

  get message(): AssistantMessage {
    return this.#message;
  }
}
