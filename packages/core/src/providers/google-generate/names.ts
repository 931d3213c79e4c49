/** Tool names on this wire: up to 64 characters, starting with a letter or an underscore. */
// Q118
import type { Tool } from "../../llm/message.ts";
import { toWireName, toWireNames, type NameLimits } from "../tool-names.ts";

export const nameLimits: NameLimits = { idLength: 64, nameLength: 64 };

/** Returns a tool name that the wire accepts. A valid name is returned unchanged. */
export function toGoogleName(name: string): string {
  return toWireName(begin(name), nameLimits.nameLength);
}

/**
 * Returns the wire names of declared tools, in order. Throws `invalid_argument` if two tools get
 * the same name.
 */
export function toGoogleNames(tools: readonly Tool[]): string[] {
  return toWireNames(
    tools.map((tool) => ({ ...tool, name: begin(tool.name) })),
    nameLimits.nameLength,
  );
}

/** Returns the declared tool with this wire name, or the name itself if there is none. */
export function fromGoogleName(name: string, declared: readonly string[]): string {
  return declared.find((candidate) => toGoogleName(candidate) === name) ?? name;
}

/**
 * Prefixes names that start with a digit or a hyphen. Other invalid characters become underscores
 * later.
 */
function begin(name: string): string {
  return /^[0-9-]/.test(name) ? `_${name}` : name;
}
