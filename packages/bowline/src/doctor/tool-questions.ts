/**
 * The tools declared to the examined model, and the questions that ask for them.
 */
import type { AssistantMessage, Message, Tool, ToolCall } from "@bowline/core";

const text = (description: string): object => ({ type: "string", description });

export const tools: Tool[] = [
  {
    name: "weather",
    description: "The weather in one city",
    parameters: { type: "object", properties: { city: text("the city") }, required: ["city"] },
  },
  { name: "now", description: "The time now", parameters: { type: "object", properties: {} } },
  {
    name: "book_trip",
    description: "Books one trip",
    parameters: {
      type: "object",
      properties: {
        trip: {
          type: "object",
          properties: {
            from: text("the city to leave from"),
            to: text("the city to go to"),
            travellers: {
              type: "array",
              items: {
                type: "object",
                properties: { name: text("the name"), age: { type: "integer" } },
                required: ["name", "age"],
              },
            },
          },
          required: ["from", "to", "travellers"],
        },
      },
      required: ["trip"],
    },
  },
];

export const toolNames: readonly string[] = tools.map(({ name }) => name);

export const questions = {
  one: "What is the weather in Oslo? Use the weather tool.",
  several:
    "What is the weather in Oslo, and in Rome? Call the weather tool for both cities at once.",
  none: "What time is it? Use the now tool.",
  nested:
    "Book a trip from Oslo to Rome for Ada, who is 36, and Bob, who is 41. Use the book_trip tool.",
} as const;

export function callsOf(message: AssistantMessage): ToolCall[] {
  return message.content.filter((part) => part.type === "toolCall");
}

/** Creates results for all calls of a message. */
export function resultsFor(message: AssistantMessage): Message[] {
  return callsOf(message).map(({ id, name }) => ({
    role: "toolResult",
    toolCallId: id,
    toolName: name,
    content: [{ type: "text", text: "4 degrees, snow" }],
    isError: false,
    timestamp: message.timestamp,
  }));
}

/** Creates a call for servers whose model made none. */
export function inventedCall(model: string, timestamp: number): AssistantMessage {
  return {
    role: "assistant",
    content: [{ type: "toolCall", id: "call_1", name: "weather", arguments: { city: "Oslo" } }],
    api: "openai-chat",
    provider: "custom",
    model,
    usage: {},
    stopReason: "toolUse",
    timestamp,
  };
}
