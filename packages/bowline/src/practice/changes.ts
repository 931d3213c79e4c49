/** Steps that change files: one change each, without retries, and only with the user's own text. */
import { capture } from "./commands.ts";
import { readPages } from "./contents.ts";
import { isQuoted, restore, unquote } from "./phrase.ts";
import { isReference, quoteForShell, resolve, resolveText, Setback, useText } from "./step.ts";
import type { Answer, Call, Play, Step, Subject } from "./step.ts";
import { plural, refuse } from "./wording.ts";

export function writeFile(content: string, refs: readonly string[]): Step {
  requireText(content);
  return function* (subject): Play<Answer> {
    const path = onePath(subject, refs);
    return yield* change("write", { path, content: toContent(subject, content) });
  };
}

/** Creates a file, or refuses if it exists. Without content the new file is empty. */
export function createFile(content: string | undefined, refs: readonly string[]): Step {
  return function* (subject): Play<Answer> {
    const path = onePath(subject, refs);
    const text = toContent(subject, content);
    const call: Call = { name: "read", arguments: { path, limit: 1 } };
    const [result] = yield [call];
    const isFree = result?.state === "failed" && result.text.startsWith("No such");
    const isTaken =
      result?.state === "failed" && / is (?:a folder|not a text file)/.test(result.text);
    if (!isFree && !isTaken) useText(call, result);
    if (!isFree)
      throw new Setback(`${path} exists already. To replace all of it: write "text" to ${path}`);
    const { text: said, ...rest } = yield* change("write", { path, content: text });
    return { text: text === "" ? `${said} It is empty.` : said, ...rest };
  };
}

/** Edits only the end of the file, so that the rest stays the same byte for byte. */
export function appendLine(content: string, refs: readonly string[]): Step {
  requireText(content);
  return function* (subject): Play<Answer> {
    const lines = toContent(subject, content).replace(/\r?\n$/, "");
    const [page] = yield* readPages(subject, [onePath(subject, refs)], () => ({}));
    const { path = "", whole } = page ?? {};
    if (whole === undefined) throw new Setback(`${path} is too large for me to append to.`);
    if (whole.trim() === "") throw new Setback(`${path} is empty. Say: write "text" to ${path}`);
    const text = whole.replace(/\r?\n$/, "");
    const newLine = text.includes("\r\n") ? "\r\n" : "\n";
    const oldText = uniqueEnd(text);
    yield* change("edit", { path, oldText, newText: `${oldText}${newLine}${lines}` });
    return {
      text: `Appended ${plural(lines.split("\n").length, "line")} to ${path}.`,
      paths: [path],
    };
  };
}

/** Returns the shortest run of last lines that occurs only once in the file. */
function uniqueEnd(text: string): string {
  for (let from = text.lastIndexOf("\n"); from > 0; from = text.lastIndexOf("\n", from - 1)) {
    const end = text.slice(from + 1);
    if (end !== "" && text.indexOf(end) === from + 1) return end;
  }
  return text;
}

/** Unquoted words are used as the texts only if they are unambiguous. */
export function replaceText(
  words: readonly [oldText: string, newText: string],
  refs: readonly string[],
  needsQuotes: boolean,
): Step {
  if (words.some((text) => !isQuoted(text) && (needsQuotes || /\s/.test(text))))
    throw new Setback(
      refuse(
        "Put both texts in quotes, and name one pair at a time.",
        `Say: replace "old text" with "new text" in ${refs.join(" and ")}`,
      ),
    );
  return function* (subject): Play<Answer> {
    const path = onePath(subject, refs);
    const [from = "", to = ""] = words.map((text) => resolveText(subject, text));
    return yield* change("edit", { path, oldText: from, newText: to, replaceAll: true });
  };
}

export function copyOrMove(program: "cp" | "mv", source: string, refs: readonly string[]): Step {
  return function* (subject): Play<Answer> {
    const from = onePath(subject, [unquote(source)]);
    const to = onePath(subject, refs);
    const target = quoteForShell(to);
    const taken = `if [ -e ${target} ]; then echo ${quoteForShell(`${to} exists already`)}; exit 1; fi`;
    const options = program === "cp" ? "-R --" : "--";
    yield* capture(
      `${taken}; ${program} ${options} ${quoteForShell(from)} ${target}`,
      `I could not ${program === "cp" ? "copy" : "rename"} ${from}`,
    );
    return { text: `${program === "cp" ? "Copied" : "Renamed"} ${from} to ${to}.`, paths: [to] };
  };
}

export function makeFolder(refs: readonly string[]): Step {
  return function* (subject): Play<Answer> {
    const path = onePath(subject, refs);
    yield* capture(`mkdir -- ${quoteForShell(path)}`, `I could not make the folder ${path}`);
    return { text: `Made the folder ${path}.`, paths: [path] };
  };
}

export function refuseDelete(refs: readonly string[]): Step {
  const names = refs.map(quoteForShell).join(" ");
  throw new Setback(`I delete nothing by myself. If you mean it, say: run \`rm ${names}\``);
}

function* change(name: "write" | "edit", args: Call["arguments"]): Play<Answer> {
  const call: Call = { name, arguments: args };
  return { text: `${useText(call, (yield [call])[0]).trim()}.`, paths: [String(args["path"])] };
}

function onePath(subject: Subject, refs: readonly string[]): string {
  const [path = "", ...others] = resolve(subject, refs);
  if (others.length > 0) throw new Setback("I can change one file at a time. Please name one.");
  return path;
}

/** Returns a quoted text, or the previous step's value; empty if no text was requested. */
function toContent(subject: Subject, text = ""): string {
  return resolveText(subject, text);
}

/** Throws {@link Setback} for a text without quotes: it may only describe the text to write. */
function requireText(text: string): void {
  if (isQuoted(text) || isReference(text)) return;
  throw new Setback(
    refuse(
      "I write nothing of my own.",
      `If this is the text itself, put it in quotes: "${restore(text)}"`,
    ),
  );
}
