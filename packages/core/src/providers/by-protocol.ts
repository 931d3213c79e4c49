/** The stream function of the main entry: the wire is chosen by the model's protocol and loaded on first use. */
import { BowlineError } from "../errors.ts";
import type { StreamFn } from "../llm/model.ts";

/** Throws `invalid_argument` for a protocol it does not know; the loop makes a failed message of it. */
export const streamByProtocol: StreamFn = async (model, context, options) => {
  switch (model.api) {
    case "openai-chat":
      return (await import("./openai-chat/index.ts")).streamOpenaiChat(model, context, options);
    case "anthropic-messages":
      return (await import("./anthropic-messages/index.ts")).streamAnthropicMessages(model, context, options);
    case "openai-responses":
      return (await import("./openai-responses/index.ts")).streamOpenaiResponses(model, context, options);
    case "google-generate":
      return (await import("./google-generate/index.ts")).streamGoogleGenerate(model, context, options);
    case "unknown":
      throw new BowlineError(
        "invalid_argument",
        'No model is set: pass initialState.model, such as getModel("openai", "gpt-5-mini").',
      );
    default:
      throw new BowlineError(
        "invalid_argument",
        `No wire protocol is called ${JSON.stringify(model.api)}: use openai-chat, anthropic-messages, openai-responses or google-generate, or pass a streamFn.`,
      );
  }
};
