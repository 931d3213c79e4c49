/**
 * Tool names of this wire: 64 characters, of which the first is a letter or an underscore.
 */
// Q118
import type { Tool } from "../../llm/message.ts";
import { toWireName, toWireNames, type NameLimits } from "../tool-names.ts";

export const nameLimits: NameLimits = { idLength: 64, nameLength: 64 };

/** A name for the wire. One that is for the wire already stays as it is. */
export function toGoogleName(name: string): string {
  return toWireName(begin(name), nameLimits.nameLength);
}

/** The names of declared tools, in order. Throws `invalid_argument` when two would be one. */
export function toGoogleNames(tools: readonly Tool[]): string[] {
  return toWireNames(
    tools.map((tool) => ({ ...tool, name: begin(tool.name) })),
    nameLimits.nameLength,
  );
}

/** The declared tool whose wire name this is, or the name as it stands. */
export function fromGoogleName(name: string, declared: readonly string[]): string {
  return declared.find((candidate) => toGoogleName(candidate) === name) ?? name;
}

/** Other characters that may not be the first become an underscore in any case. */
function begin(name: string): string {
  return /^[0-9-]/.test(name) ? `_${name}` : name;
}
