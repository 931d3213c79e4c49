/** Short forms of transcripts for comparison. */
import type { AgentMessage } from "@bowline/core";

const textOf = ({ role, content }: AgentMessage): string =>
  `${role}: ${typeof content === "string" ? content : content.map((part) => ("text" in part ? part.text : part.type)).join("")}`;

/** Returns messages as `role: text`. */
export const texts = (messages: readonly AgentMessage[]): string[] => messages.map(textOf);
