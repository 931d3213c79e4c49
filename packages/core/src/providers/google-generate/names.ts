/** Tool names on this wire: up to 64 characters, starting with a letter or an underscore. */
// Q118
import type { Tool } from "../../llm/message.ts";
import type { WireLimits } from "../replay.ts";
import { toWireName, toWireNames } from "../tool-names.ts";

// Gemini refuses GIF, which other servers accept.
export const nameLimits: WireLimits = {
  idLength: 64,
  nameLength: 64,
  files:
    /^(?:(?:https?|gs|data):(?:image\/(?:jpeg|png|webp)|application\/pdf|audio\/(?:wav|mp3|mpeg|aiff|aac|ogg|flac)|video\/(?:mp4|mpeg|mov|quicktime|avi|x-flv|mpg|webm|wmv|3gpp))|(?:https?|gs):(?:text\/.+|application\/json))$/,
};

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
