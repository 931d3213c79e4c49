/** Whether a model's wire takes an image or a file, asked before a message is sent. */
import { errorText } from "../errors.ts";
import { unsupported, type FileContent, type ImageContent } from "../llm/message.ts";
import type { Model } from "../llm/model.ts";
import { nameLimits as anthropic } from "./anthropic-messages/messages.ts";
import { cleanFile, isTextType } from "./clean-file.ts";
import { nameLimits as google } from "./google-generate/names.ts";
import { nameLimits as chat } from "./openai-chat/messages.ts";
import { nameLimits as responses } from "./openai-responses/input.ts";

const wires: ReadonlyMap<string, RegExp> = new Map([
  ["openai-chat", chat.files],
  ["openai-responses", responses.files],
  ["anthropic-messages", anthropic.files],
  ["google-generate", google.files],
]);

/** Also with the `data:` prefix, which is removed when the part is sent. */
const base64 = /^(?:data:[^,]*;base64,)?[A-Za-z0-9+/]+={0,2}$/;

/**
 * Returns why a model is not sent an image or a file: its wire refuses it, or a note would replace
 * it. Returns undefined if it is sent, and for a wire of your own.
 */
export function whyNotSent(model: Model, part: ImageContent | FileContent): string | undefined {
  const takes = wires.get(model.api);
  if (takes === undefined) return undefined;
  const fault = unsupported(part);
  if (fault !== undefined) return fault;
  if (part.data !== undefined && !base64.test(part.data)) return "Its data is not base64.";
  try {
    const sent = cleanFile(part, model, takes);
    const isText = part.type === "file" && isTextType(part.mimeType);
    return sent.type === "text" && !isText ? sent.text.slice(1, -1) : undefined;
  } catch (error) {
    return errorText(error);
  }
}
