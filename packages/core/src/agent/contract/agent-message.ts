/** The messages of a transcript. */
import type { Message } from "../../llm/message.ts";

/**
 * Extend this interface by declaration merging to add your own message types. `convertToLlm`
 * decides what the model sees of them.
 */
export interface CustomAgentMessages {}

/** A message that a model understands, or a custom message of the application. */
// oxlint-disable-next-line typescript/no-redundant-type-constituents -- empty until an application merges its own
export type AgentMessage = Message | CustomAgentMessages[keyof CustomAgentMessages];
