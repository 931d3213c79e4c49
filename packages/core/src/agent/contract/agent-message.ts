/** The messages of a transcript. */
import type { Message } from "../../llm/message.ts";

/**
 * Extend this by declaration merging to carry messages of your own; `convertToLlm` says what a
 * model sees of them.
 */
export interface CustomAgentMessages {}

/** A message a model understands, or one of the application's own. */
// oxlint-disable-next-line typescript/no-redundant-type-constituents -- empty until an application merges its own
export type AgentMessage = Message | CustomAgentMessages[keyof CustomAgentMessages];
