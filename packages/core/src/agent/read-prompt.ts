import type { Clock } from "../clock.ts";
import { BowlineError } from "../errors.ts";
import { asRecord, isRecord } from "../json-value.ts";
import type { ImageContent } from "../llm/message.ts";
import type { PromptOptions } from "./agent-options.ts";
import type { AgentMessage } from "./contract/agent-message.ts";

/** Roles that other libraries use for the system prompt. */
const unsent: ReadonlySet<string> = new Set(["system", "developer"]);

/**
 * Returns the messages and the output schema of a prompt. Throws `invalid_argument` for an invalid
 * prompt.
 */
export function readPrompt(
  input: string | AgentMessage | AgentMessage[],
  imagesOrOptions: readonly ImageContent[] | PromptOptions,
  clock: Clock,
): { readonly prompts: AgentMessage[]; readonly output: unknown } {
  const options = Array.isArray(imagesOrOptions) ? { images: imagesOrOptions } : imagesOrOptions;
  const { images = [], files = [], output } = asRecord(options) as PromptOptions;
  const parts = [...images, ...files];
  const prompts =
    typeof input === "string"
      ? [
          {
            role: "user" as const,
            content:
              parts.length === 0 ? input : [{ type: "text" as const, text: input }, ...parts],
            timestamp: clock.now(),
          },
        ]
      : [input].flat();
  const isSound =
    prompts.length > 0 && prompts.every((message?: Partial<AgentMessage>) => message?.role);
  if (!isSound || !isRecord(options))
    throw new BowlineError(
      "invalid_argument",
      "prompt() takes a string or messages with a role, then images or options.",
    );
  for (const { role } of prompts)
    if (unsent.has(role))
      throw new BowlineError(
        "invalid_argument",
        `Messages with the role "${role}" are not supported. Pass the text as systemPrompt.`,
      );
  return { prompts, output };
}
