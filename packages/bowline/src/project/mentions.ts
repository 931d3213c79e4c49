/** Finds `@path` in Markdown, outside of code. */

/**
 * Returns the paths in order, each once. A mention follows a space, a bracket or the start of a
 * line, so that an address such as `a@b.org` is none.
 */
export function mentionsIn(markdown: string): string[] {
  const mentions = new Set<string>();
  let fence: string | undefined;
  for (const line of markdown.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      const isEnd = mark?.startsWith(fence) === true && line.trim() === mark;
      if (isEnd) fence = undefined;
      continue;
    }
    if (mark !== undefined) {
      fence = mark;
      continue;
    }
    for (const path of pathsIn(withoutCode(line))) mentions.add(path);
  }
  return [...mentions];
}

function pathsIn(line: string): string[] {
  return [...line.matchAll(/(?<=^|[\s([{"'])@(?:"((?:[^"\\]|\\.)+)"|([^\s"'`]+))/g)].flatMap(
    ([, quoted, plain = ""]) =>
      quoted?.replaceAll(/\\(["\\])/g, "$1") ?? (plain.replace(/[.,;:!?)\]}]+$/, "") || []),
  );
}

/** Replaces code spans by spaces. */
function withoutCode(line: string): string {
  let text = "";
  for (let at = 0; at < line.length;) {
    const mark = /^`+/.exec(line.slice(at))?.[0];
    if (mark === undefined) {
      text += line[at++];
      continue;
    }
    const end = closing(line, at + mark.length, mark.length);
    if (end === undefined) {
      text += mark;
      at += mark.length;
    } else {
      text += " ";
      at = end;
    }
  }
  return text;
}

/** Returns the index after the run of backticks that closes a span. */
function closing(line: string, from: number, length: number): number | undefined {
  for (const { 0: run, index } of line.slice(from).matchAll(/`+/g))
    if (run.length === length) return from + index + length;
  return undefined;
}
