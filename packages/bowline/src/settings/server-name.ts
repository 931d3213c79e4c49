/** The names of MCP servers. They begin the names of tools, to which the rules of a person apply. */

const MAX_NAME = 40;

/**
 * Returns what the names of a server's tools begin with, before `__`. Undefined for a name that is
 * refused: with `__` in it, or with `_` at an end, a rule for one server would also cover another's
 * tools.
 */
export function toolPrefix(server: string): string | undefined {
  const prefix = server.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  const isPlain = /^[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*$/.test(prefix);
  return isPlain && prefix.length <= MAX_NAME ? prefix : undefined;
}

/** Completes a sentence that begins with the server's name. */
export const NAME_RULE: string = `is not used: a server's name has at most ${MAX_NAME} letters, digits, - and single _ between them`;
