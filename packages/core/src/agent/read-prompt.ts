import type { Clock } from "../clock.ts";
import { BowlineError } from "../errors.ts";
import { asRecord, isRecord } from "../json-value.ts";
import type { ImageContent } from "../llm/message.ts";
import type { PromptOptions } from "./agent-options.ts";
import type { AgentMessage } from "./contract/agent-message.ts";

/** Roles of other libraries' messages for what is a field here. */
const unsent: ReadonlySet<string> = new Set(["system", "developer"]);

/**
 * The messages that a prompt comes to, and its output schema. Throws `invalid_argument` for what is
 * no prompt.
 */
export function readPrompt(
  input: string | AgentMessage | AgentMessage[],
  imagesOrOptions: readonly ImageContent[] | PromptOptions,
  clock: Clock,
): { readonly prompts: AgentMessage[]; readonly output: unknown } {
  const options = Array.isArray(imagesOrOptions) ? { images: imagesOrOptions } : imagesOrOptions;
  const { images = [], output } = asRecord(options) as PromptOptions;
  const prompts =
    typeof input === "string"
      ? [
          {
            role: "user" as const,
            content:
              images.length === 0 ? input : [{ type: "text" as const, text: input }, ...images],
            timestamp: clock.now(),
          },
        ]
      : [input].flat();
  const isSound =
    prompts.length > 0 && prompts.every((message?: Partial<AgentMessage>) => message?.role);
  if (!isSound || !isRecord(options))
    throw new BowlineError(
      "invalid_argument",
      "prompt() takes a text, or messages with a role; then images, or options.",
    );
  for (const { role } of prompts)
    if (unsent.has(role))
      throw new BowlineError(
        "invalid_argument",
        `A message of the role "${role}" is never sent: give its text as systemPrompt.`,
      );
  return { prompts, output };
}
