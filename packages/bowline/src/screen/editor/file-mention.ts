/** Files of the project that are named in a message: `@src/a.ts` or `@"a file.md"`. */

/** Returns the mention of a path. */
export function mentionOf(path: string): string {
  return /[\s"\\]/.test(path) ? `@"${path.replace(/["\\]/g, String.raw`\$&`)}"` : `@${path}`;
}

/** Returns the paths that a text mentions, each once, in their order. */
export function mentionsIn(text: string): string[] {
  const found = text.matchAll(/(?<=^|\s)@(?:"((?:[^"\\\n]|\\.)+)"|([^\s"]+))/g);
  return [
    ...new Set([...found].map(([, quoted, bare = ""]) => quoted?.replace(/\\(.)/g, "$1") ?? bare)),
  ];
}
