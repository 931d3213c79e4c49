/** The acceptor of each wire. Acceptors share no code with the decoders that they judge. */
import { acceptAnthropicMessages } from "./anthropic-messages.ts";
import { acceptGoogleGenerate } from "./google-generate.ts";
import { acceptOpenaiChat } from "./openai-chat.ts";
import { acceptOpenaiResponses } from "./openai-responses.ts";
import type { Verdict } from "./verdict.ts";

export const wires = [
  "openai-chat",
  "anthropic-messages",
  "openai-responses",
  "google-generate",
] as const;

export type Wire = (typeof wires)[number];

const acceptors: { readonly [wire in Wire]: (body: Uint8Array) => Verdict } = {
  "openai-chat": acceptOpenaiChat,
  "anthropic-messages": acceptAnthropicMessages,
  "openai-responses": acceptOpenaiResponses,
  "google-generate": acceptGoogleGenerate,
};

export function accept(wire: Wire, body: Uint8Array): Verdict {
  return acceptors[wire](body);
}
