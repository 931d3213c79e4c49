/** Steps that run commands or change files. */
import { resolveOne, resolveText } from "./phrase.ts";
import { ask, look, Setback, toFailure, toLines, useText } from "./step.ts";
import type { Call, Step } from "./step.ts";
import { enumerate, fence } from "./wording.ts";

export function runCommand(command: string): Step {
  return function* () {
    const call: Call = { name: "bash", arguments: { command } };
    const [result] = yield* ask([call]);
    if (result?.state === "failed") throw new Setback(`\`${command}\` failed:\n\n${fence(result.text)}`);
    const output = useText(call, result);
    if (output.trim() === "[no output]") return { text: `\`${command}\` ran and printed nothing.` };
    return { text: `\`${command}\` printed:\n\n${fence(output)}`, value: output.trimEnd() };
  };
}

export function writeFile(content: string, refs: readonly string[]): Step {
  return function* (context) {
    const [path, value] = [resolveOne(context, refs), resolveText(context, content)];
    const call: Call = { name: "write", arguments: { path, content: value } };
    return { text: `${useText(call, (yield* ask([call]))[0]).trim()}.`, paths: [path], value };
  };
}

/** Replaces all occurrences. If there are none, it says what may have been meant, and changes nothing by guess. */
export function replaceText(from: string, to: string, refs: readonly string[]): Step {
  return function* (context) {
    const [path, oldText, newText] = [resolveOne(context, refs), resolveText(context, from), resolveText(context, to)];
    const call: Call = { name: "edit", arguments: { path, oldText, newText, replaceAll: true } };
    const [result] = yield* ask([call]);
    if (result?.state === "ok") return { text: `${result.text.trim()}.`, paths: [path] };
    if (result?.state === "denied") throw new Setback(toFailure(call, result));
    const query = { pattern: oldText, literal: true, ignoreCase: true };
    const toSearch = (place: string): Call => ({ name: "grep", arguments: { ...query, path: place } });
    const [found] = yield* look({ ...context, notes: [] }, [path], toSearch);
    const lines = toLines(found?.result);
    const spelt = lines.length === 0 ? "" : ` Written differently it is there: ${enumerate(lines, 3)}.`;
    throw new Setback(toFailure(call, result) + (found?.path === path ? spelt : ` Did you mean ${found?.path}?`));
  };
}
