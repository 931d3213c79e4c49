/** Steps that run commands or change files. */
import { toPage, toRead } from "./contents.ts";
import { resolveOne, resolveText } from "./phrase.ts";
import { ask, need, Setback, toFailure, toLines, toLookup, useText } from "./step.ts";
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
  return function* (memory) {
    const [path, value] = [resolveOne(memory, refs), resolveText(memory, content)];
    const said = yield* need({ name: "write", arguments: { path, content: value } });
    return { text: `${said.trim()}.`, paths: [path], value };
  };
}

/** Edits the end of the file rather than writing it anew, so that nothing is lost that was not read. */
export function appendText(content: string, refs: readonly string[]): Step {
  return function* (memory) {
    const [path, value] = [resolveOne(memory, refs), resolveText(memory, content)];
    const read = toRead(path);
    const [result] = yield* ask([read]);
    const isNew = result?.state === "failed" && /no such|not found|not exist/i.test(result.text);
    let { lines, total } = isNew ? { lines: [], total: 0 } : toPage(read, result);
    if (lines.length < total) {
      const tail = toRead(path, Math.max(1, total - 20), total);
      ({ lines, total } = toPage(tail, (yield* ask([tail]))[0]));
    }
    const oldText = lines.slice(-20).join("\n");
    const call: Call =
      total === 0
        ? { name: "write", arguments: { path, content: `${value}\n` } }
        : { name: "edit", arguments: { path, oldText, newText: `${oldText}\n${value.replace(/\n$/, "")}` } };
    const said = yield* need(call);
    return { text: total === 0 ? `${said.trim()}.` : `Added to the end of ${path}. ${said.trim()}.`, paths: [path], value };
  };
}

/** Replaces all occurrences. If that fails nothing is changed by guess: what may have been meant is named. */
export function replaceText(from: string, to: string, refs: readonly string[]): Step {
  return function* (memory) {
    const [path, oldText, newText] = [resolveOne(memory, refs), resolveText(memory, from), resolveText(memory, to)];
    const call: Call = { name: "edit", arguments: { path, oldText, newText, replaceAll: true } };
    const [result] = yield* ask([call]);
    if (result?.state === "ok") return { text: `${result.text.trim()}.`, paths: [path] };
    if (result?.state === "denied") throw new Setback(toFailure(call, result));
    const search: Call = { name: "grep", arguments: { pattern: oldText, path, literal: true, ignoreCase: true } };
    const [lines, places] = (yield* ask([search, toLookup(path)])).map(toLines);
    const others = (places ?? []).filter((place) => place !== path);
    const hint = lines?.length
      ? ` Written differently it is there: ${enumerate(lines, 3)}.`
      : others.length > 0 && others.length === places?.length
        ? ` Did you mean ${others.slice(0, 5).join(" or ")}?`
        : "";
    throw new Setback(toFailure(call, result) + hint);
  };
}
