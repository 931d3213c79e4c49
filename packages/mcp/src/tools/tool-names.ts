/** The names that models see: `server__tool`, as every wire takes them, and each one once. */
import { createHash } from "node:crypto";

/** A tool by the names that people gave. */
export interface NamedTool {
  readonly server: string;
  readonly tool: string;
}

/** The longest name that every wire takes. */
const MAX_LENGTH = 64;

/**
 * Returns the name of each tool, in their order. Other characters than A-Z, a-z, 0-9, _ and - become
 * `_`. A name that is too long, or that several tools would have, gets the beginning of a hash of
 * both names instead of its end. So no server can take over the name of another's tool: both change.
 * Undefined: a tool whose name is taken even so.
 */
export function nameTools(tools: readonly NamedTool[]): (string | undefined)[] {
  const plain = tools.map(({ server, tool }) =>
    `${server}__${tool}`.replaceAll(/[^A-Za-z0-9_-]/g, "_"),
  );
  const counts = countOf(plain);
  const names = tools.map((tool, at) => {
    const name = plain[at] ?? "";
    const isOwn = name.length <= MAX_LENGTH && counts.get(name) === 1;
    return isOwn ? name : hashed(name, tool);
  });
  const final = countOf(names);
  return names.map((name) => (final.get(name) === 1 ? name : undefined));
}

function hashed(name: string, { server, tool }: NamedTool): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([server, tool]))
    .digest("hex");
  return `${name.slice(0, MAX_LENGTH - 9)}_${hash.slice(0, 8)}`;
}

function countOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
