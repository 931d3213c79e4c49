/** An answer as it is sent back: to its own model, and to models of other wires. */
import type { AssistantMessageEvent } from "../../../src/llm/event.ts";
import type { AssistantContent, AssistantMessage } from "../../../src/llm/message.ts";
import type { Model } from "../../../src/llm/model.ts";
import { anthropicMessages } from "../../../src/providers/anthropic-messages/index.ts";
import { googleGenerate } from "../../../src/providers/google-generate/index.ts";
import { openaiChat } from "../../../src/providers/openai-chat/index.ts";
import { openaiResponses } from "../../../src/providers/openai-responses/index.ts";
import type { Protocol } from "../../../src/providers/protocol.ts";
import { asRead } from "../../support.ts";

type Json = Record<string, unknown>;

export const wires: readonly Protocol[] = [
  anthropicMessages,
  openaiResponses,
  googleGenerate,
  openaiChat,
];

/** The statuses of the tools, in order. */
export function progress(events: readonly AssistantMessageEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "provider_tool" ? [`${event.id} ${event.toolName} ${event.status}`] : [],
  );
}

/** The transcript of the request that follows the answers. */
export function resentTo(
  protocol: Protocol,
  answers: AssistantMessage | readonly AssistantMessage[],
  isOwn: boolean,
): Json[] {
  const own: readonly AssistantMessage[] = [answers].flat();
  const message = own[0] as AssistantMessage;
  const model: Model = {
    id: isOwn ? message.model : "other",
    name: "m",
    api: protocol.api,
    provider: message.provider,
    baseUrl: "",
    reasoning: true,
    input: ["text", "image"],
  };
  const user = (content: string): { role: "user"; content: string; timestamp: 0 } => ({
    role: "user",
    content,
    timestamp: 0,
  });
  // A paused answer is sent back as it is, to be continued.
  const more = own.at(-1)?.paused === true ? [] : [user("Go on.")];
  const messages = [user("Hello?"), ...own, ...more];
  const { body } = protocol.encode(model, { messages }, { cacheRetention: "none" });
  return (asRead(body) as Json)[protocol.transcript] as Json[];
}

/** What the own wire sends back: blocks, items or parts. */
export function resent(...answers: readonly AssistantMessage[]): unknown[] {
  const protocol = wires.find(({ api }) => api === answers[0]?.api) as Protocol;
  const sent = resentTo(protocol, answers, true);
  if (protocol.api === "openai-responses") return sent.filter(({ role }) => role !== "user");
  return sent
    .filter(({ role }) => role !== "user")
    .flatMap(({ content, parts = content }) => parts as unknown[]);
}

/** The texts that models of all wires get, for another model than its own. */
export function resentAsText(message: AssistantMessage): string[] {
  return wires.map((protocol) =>
    resentTo(protocol, message, false)
      .filter(({ role }) => role === "assistant" || role === "model")
      .map(textOf)
      .join(""),
  );
}

function textOf({ content, parts = content }: Json): string {
  if (typeof parts === "string") return parts;
  return ((parts ?? []) as { text: string }[]).map(({ text }) => text).join("");
}

export const types = (content: readonly AssistantContent[]): string[] =>
  content.map(({ type }) => type);
