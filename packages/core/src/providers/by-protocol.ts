/**
 * The default stream function. It chooses the wire by the model's protocol and loads it on first
 * use.
 */
import { BowlineError } from "../errors.ts";
import { unsupported, type Message } from "../llm/message.ts";
import type { Model, StreamFn } from "../llm/model.ts";
import { assertSchema } from "../schema.ts";
import { vendors } from "./vendor-list.ts";

/**
 * Calls the model over the wire of its protocol. Without an `apiKey` it uses the vendor's
 * environment variable, but only if the model has the vendor's own address. Rejects with
 * `invalid_argument` for an unknown protocol, an invalid tool schema or content of an unknown
 * shape; the loop turns this into a failed message.
 */
export const streamByProtocol: StreamFn = async (model, context, given) => {
  for (const { name, parameters } of context.tools ?? [])
    assertSchema(parameters, `tool "${name}"`);
  // Transcripts stored by other libraries often have another shape.
  for (const [index, message] of context.messages.entries()) {
    const fault = faultOf(message);
    if (fault !== undefined)
      throw refusal(
        `The content of messages[${index}] (${message.role}) must be a list of parts, such as [{ type: "text", text: "…" }].${fault && ` ${fault}`}`,
      );
  }
  const apiKey = given.apiKey ?? environmentKey(model);
  if (/[^\x20-\x7e]/.test(apiKey?.trim() ?? ""))
    throw refusal(
      "The apiKey has a character that HTTP headers cannot carry. Check that it was copied correctly.",
    );
  const options = { ...given, ...(apiKey && { apiKey }) };
  switch (model.api) {
    case "openai-chat":
      return (await import("./openai-chat/compatible.ts")).streamOpenaiCompatible(
        model,
        context,
        options,
      );
    case "anthropic-messages":
      return (await import("./anthropic-messages/wire.ts")).streamAnthropicMessages(
        model,
        context,
        options,
      );
    case "openai-responses":
      return (await import("./openai-responses/wire.ts")).streamOpenaiResponses(
        model,
        context,
        options,
      );
    case "google-generate":
      return (await import("./google-generate/wire.ts")).streamGoogleGenerate(
        model,
        context,
        options,
      );
    case "unknown":
      throw refusal(
        'No model is set: pass one as `model`, such as getModel("openai", "gpt-5-mini").',
      );
    default:
      throw refusal(
        `Unknown wire protocol ${JSON.stringify(model.api)}: use openai-chat, anthropic-messages, openai-responses or google-generate, or pass a streamFn.`,
      );
  }
};

function refusal(why: string): BowlineError {
  return new BowlineError("invalid_argument", why);
}

/**
 * Returns what is wrong with a message's content, or undefined if it is valid or the role is the
 * caller's own. Returns "" if there is nothing to add. Without this check, a part that no wire
 * knows would be dropped silently.
 */
function faultOf({ role, content }: Message): string | undefined {
  const hasParts = role === "user" || role === "toolResult";
  if ((!hasParts && role !== "assistant") || (role === "user" && typeof content === "string"))
    return undefined;
  if (!Array.isArray(content)) return "";
  return hasParts ? content.map(unsupported).find((why) => why !== undefined) : undefined;
}

/**
 * Returns the vendor's key from the environment. Returns undefined if the address is not the
 * vendor's own, such as that of a proxy, so that the key is not sent there.
 */
function environmentKey({ provider, baseUrl }: Model): string | undefined {
  const vendor = vendors.find((row) => row.id === provider && row.baseUrl === baseUrl);
  if (!vendor?.keyVariable) return undefined;
  try {
    const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
    return process?.env?.[vendor.keyVariable];
  } catch {
    return undefined; // Deno throws without permission
  }
}
