/** Steps that run a command: the user's, or a fixed one. */
import { isQuoted, restore, unquote } from "./phrase.ts";
import { quoteForShell, resolve, Setback, useText } from "./step.ts";
import type { Answer, Call, Play, Step } from "./step.ts";
import { enumerate, fence } from "./wording.ts";

const FAILURE = /(?:^|\n)\[(?:exit code [1-9]\d*|timed out after .+|killed by .+)\]\s*$/;
/** English words that show that a text is not a command: "run the tests" names no program. */
const ENGLISH =
  /(?:^|\s)(?:the|a|an|my|our|your|this|that|these|those|all|some|it|them|and|then|again|until|please)(?=\s|$)/i;

export function runCommand(words: string): Step {
  if (!isQuoted(words) && (restore(words).includes("`") || ENGLISH.test(words)))
    throw new Setback("Please put all of the command in backticks: run `npm test`");
  return function* (): Play<Answer> {
    const command = unquote(words);
    const output = yield* capture(command, `\`${command}\` failed`);
    return { text: `\`${command}\` printed:\n\n${fence(output)}`, value: output };
  };
}

/** Returns the output of a command. Throws {@link Setback} if it failed. */
export function* capture(command: string, failure: string): Play<string> {
  const call: Call = { name: "bash", arguments: { command } };
  const output = useText(call, (yield [call])[0]);
  if (FAILURE.test(output)) throw new Setback(`${failure}:\n\n${fence(output)}`);
  return output;
}

export function* currentTime(): Play<Answer> {
  const value = (yield* capture("date", "I could not ask for the time")).trim();
  return { text: `It is ${value}.`, value };
}

export function* currentFolder(): Play<Answer> {
  const value = (yield* capture("pwd", "I could not ask for the folder")).trim();
  return { text: `This is ${value}.`, value };
}

/** The maximum number of files to name. After a checkout, all files may have the same time. */
const MOST = 20;
/** Reads file times, which no tool lists. The options of stat differ on Linux and macOS. */
const STAT = `sh -c 'stat -c "%Y %n" "$@" 2>/dev/null || stat -f "%m %N" "$@"' -`;

export function newestFile(refs: readonly string[], isOldest: boolean): Step {
  return function* (subject): Play<Answer> {
    const places = resolve(subject, refs);
    const where = places.map(quoteForShell).join(" ");
    const skipped = String.raw`\( -name .git -o -name node_modules \) -prune`;
    const sort = `sort -${isOldest ? "n" : "rn"} | head -n ${MOST}`;
    const command = `find ${where} ${skipped} -o -type f -exec ${STAT} {} + | ${sort}`;
    const output = yield* capture(command, "I could not look at the times");
    // If find could not read a folder, the answer would be incomplete.
    const [unread] = /^find: .*/m.exec(output) ?? [];
    if (unread !== undefined) throw new Setback(`I could not look at the times: ${unread}`);
    const found = [...output.matchAll(/^(\d+) (?:\.\/)?(.+)$/gm)];
    const inside = `in ${enumerate(places)}`;
    if (found.length === 0)
      throw new Setback(
        /^(?:\[no output\])?\s*$/.test(output) ? `There are no files ${inside}.` : output.trim(),
      );
    const seconds = found[0]?.[1];
    const paths = found.filter(([, time]) => time === seconds).map(([, , path = ""]) => path);
    const time = new Date(Number(seconds) * 1000).toISOString().replace(/\..*/, "Z");
    const were = `${paths.length < MOST ? "" : "and perhaps more "}${paths.length > 1 ? "were" : "was"}`;
    const text = `${enumerate(paths)} ${were} changed ${isOldest ? "first" : "last"} of the files ${inside}, at ${time}.`;
    return { text, paths, value: paths.join("\n") };
  };
}
