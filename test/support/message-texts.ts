/** Transcripts, short enough to compare. */
import type { AgentMessage } from "@bowline/core";

const textOf = ({ role, content }: AgentMessage): string =>
  `${role}: ${typeof content === "string" ? content : content.map((part) => ("text" in part ? part.text : part.type)).join("")}`;

/** Messages as `role: text`, for comparing. */
export const texts = (messages: readonly AgentMessage[]): string[] => messages.map(textOf);
