/** The declaration of a vendor's own tool on its wire. */
import { BowlineError } from "../errors.ts";
import type { Tool } from "../llm/message.ts";

/**
 * Returns the entry of a vendor's own tool in the request, or undefined for a function. Throws
 * `invalid_argument` if the tool belongs to another wire than `api`.
 */
export function ownEntry(
  { name, providerTool }: Tool,
  api: string,
): Readonly<Record<string, unknown>> | undefined {
  if (!providerTool || providerTool.api === api) return providerTool?.entry;
  throw new BowlineError(
    "invalid_argument",
    `The tool "${name}" is for ${providerTool.api}, but the model is called over ${api}. Remove the tool or change the model.`,
  );
}
