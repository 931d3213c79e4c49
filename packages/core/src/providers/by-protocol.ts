/**
 * The stream function of the main entry: the wire is chosen by the model's protocol and loaded on
 * first use.
 */
import { BowlineError } from "../errors.ts";
import { unsupported, type Message } from "../llm/message.ts";
import type { Model, StreamFn } from "../llm/model.ts";
import { assertSchema } from "../schema.ts";
import { vendors } from "./vendor-list.ts";

/**
 * Without an `apiKey` it takes that of the vendor's environment variable, for the vendor's own
 * address only. Throws `invalid_argument` for a protocol it does not know and for a tool whose
 * schema is none; the loop makes a failed message of it.
 */
export const streamByProtocol: StreamFn = async (model, context, given) => {
  for (const { name, parameters } of context.tools ?? [])
    assertSchema(parameters, `tool "${name}"`);
  // What was kept by other libraries often is of another shape.
  for (const [index, message] of context.messages.entries()) {
    const fault = faultOf(message);
    if (fault !== undefined)
      throw refusal(
        `The content of messages[${index}] (${message.role}) must be a list of parts, such as [{ type: "text", text: "…" }].${fault && ` ${fault}`}`,
      );
  }
  const apiKey = given.apiKey ?? environmentKey(model);
  if (/[^\x20-\x7e]/.test(apiKey?.trim() ?? ""))
    throw refusal("The apiKey has a character that no header can carry: was it copied whole?");
  const options = { ...given, ...(apiKey && { apiKey }) };
  switch (model.api) {
    case "openai-chat":
      return (await import("./openai-chat/compatible.ts")).streamOpenaiCompatible(
        model,
        context,
        options,
      );
    case "anthropic-messages":
      return (await import("./anthropic-messages/index.ts")).streamAnthropicMessages(
        model,
        context,
        options,
      );
    case "openai-responses":
      return (await import("./openai-responses/index.ts")).streamOpenaiResponses(
        model,
        context,
        options,
      );
    case "google-generate":
      return (await import("./google-generate/index.ts")).streamGoogleGenerate(
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
        `No wire protocol is called ${JSON.stringify(model.api)}: use openai-chat, anthropic-messages, openai-responses or google-generate, or pass a streamFn.`,
      );
  }
};

function refusal(why: string): BowlineError {
  return new BowlineError("invalid_argument", why);
}

/**
 * Why the content is not what its role has: a part that no wire knows would be left out of the
 * request in silence. Undefined for content that is sound, or of a role of the caller's own; empty
 * where there is nothing to add.
 */
function faultOf({ role, content }: Message): string | undefined {
  const hasParts = role === "user" || role === "toolResult";
  if ((!hasParts && role !== "assistant") || (role === "user" && typeof content === "string"))
    return undefined;
  if (!Array.isArray(content)) return "";
  return hasParts ? content.map(unsupported).find((why) => why !== undefined) : undefined;
}

/**
 * A key is not sent to an address that is not its vendor's, such as a proxy under the vendor's
 * name.
 */
function environmentKey({ provider, baseUrl }: Model): string | undefined {
  const vendor = vendors.find((row) => row.id === provider && row.baseUrl === baseUrl);
  if (!vendor?.keyVariable) return undefined;
  try {
    const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
    return process?.env?.[vendor.keyVariable];
  } catch {
    return undefined; // Deno refuses without its permission
  }
}
