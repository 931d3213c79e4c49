/** Steps that run commands or change files: one call, and never a second try. */
import { isQuoted, restore, unquote } from "./phrase.ts";
import { resolve, resolveText, Setback, useText } from "./step.ts";
import type { Answer, Call, Play, Step } from "./step.ts";
import { fence } from "./wording.ts";

const FAILURE = /(?:^|\n)\[(?:exit code [1-9]\d*|timed out after .+|killed by .+)\]\s*$/;

export function runCommand(words: string): Step {
  return function* (): Play<Answer> {
    // A shell would take what is meant for me as its own: "and" as an argument, backticks round a
    // part as a command.
    const isMixed = restore(words).includes("`") || /\s(?:and|then)\s/i.test(words);
    if (isMixed && !isQuoted(words))
      throw new Setback("Please put all of the command in backticks: run `npm test`");
    const command = unquote(words);
    const call: Call = { name: "bash", arguments: { command } };
    const output = useText(call, (yield [call])[0]);
    const text = `${FAILURE.test(output) ? "failed" : "printed"}:\n\n${fence(output)}`;
    if (FAILURE.test(output)) throw new Setback(`\`${command}\` ${text}`);
    return { text: `\`${command}\` ${text}`, value: output };
  };
}

/** Writes or edits one file; in the texts "it" is what the step before found. */
export function changeFile(
  name: "write" | "edit",
  texts: Record<string, string>,
  refs: readonly string[],
): Step {
  return function* (subject): Play<Answer> {
    const [path = "", ...others] = resolve(subject, refs);
    if (others.length > 0) throw new Setback("I can change one file at a time. Please name one.");
    const values = Object.entries(texts).map(
      ([key, text]) => [key, resolveText(subject, text)] as const,
    );
    const all = name === "edit" ? { replaceAll: true } : {};
    const call: Call = { name, arguments: { path, ...Object.fromEntries(values), ...all } };
    return { text: `${useText(call, (yield [call])[0]).trim()}.`, paths: [path] };
  };
}
