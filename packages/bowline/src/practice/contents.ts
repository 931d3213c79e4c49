/** Steps that look into files. */
import { toGlob } from "./files.ts";
import type { Scope } from "./files.ts";
import { resolve, resolveText } from "./phrase.ts";
import { toPurpose } from "./purpose.ts";
import { ask, askEach, toLines, useText } from "./step.ts";
import type { Call, Play, Result, Step } from "./step.ts";
import { bullets, enumerate, fence, plural } from "./wording.ts";

/** Lines from-to, counted from 1, or the last so many. */
export interface Range {
  readonly from?: number;
  readonly to?: number;
  readonly last?: number;
}

export interface Page {
  readonly text: string;
  readonly lines: readonly string[];
  /** The number of the first line shown. */
  readonly first: number;
  /** The lines of the whole file. */
  readonly total: number;
}

export function toRead(path: string, from = 1, to?: number): Call {
  const offset = from > 1 ? { offset: from } : {};
  return { name: "read", arguments: { path, ...offset, ...(to === undefined ? {} : { limit: to - from + 1 }) } };
}

export function toPage(call: Call, result: Result | undefined): Page {
  const said = useText(call, result);
  const [notice = "", end] = /\n?\[lines \d+-\d+ of (\d+)\b[^\n]*\]$/.exec(said) ?? [];
  const text = said.trim() === "[empty file]" ? "" : said.slice(0, said.length - notice.length);
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
  const first = Number(call.arguments["offset"] ?? 1);
  return { text, lines, first, total: Number(end ?? first - 1 + lines.length) };
}

export function readFiles(refs: readonly string[], { from, to, last }: Range = {}): Step {
  return function* (memory) {
    const found = yield* askEach(resolve(memory, refs), (path) => toRead(path, from, to));
    const pages = found.map(({ path, result, note }) => ({ path, note, ...toPage(toRead(path, from, to), result) }));
    // Where a long file ends is known only now.
    const long = pages.filter(({ lines, total }) => last !== undefined && lines.length < total);
    const calls = long.map(({ path, total }) => toRead(path, Math.max(1, total - (last ?? 1) + 1), total));
    const tails = yield* ask(calls);
    for (const [index, call] of calls.entries()) Object.assign(long[index] ?? {}, toPage(call, tails[index]));
    const texts = pages.map(({ path, note, lines, first, total }) => {
      const shown = last === undefined ? lines : lines.slice(-last);
      const start = first + lines.length - shown.length;
      const part = shown.length === 1 ? `line ${start}` : `lines ${start} to ${start + shown.length - 1}`;
      const label = shown.length === total ? `${path} (${plural(total, "line")})` : `${path}, ${part} of ${total}`;
      return { body: shown.join("\n"), said: note + (total === 0 ? `${path} is empty.` : `${label}:\n\n${fence(shown.join("\n"))}`) };
    });
    const [page, ...others] = pages;
    const isWhole = page?.lines.length === page?.total;
    // A part may be passed on as "it" only if a part was asked for.
    const value = isWhole && last === undefined ? page?.text : from || last ? texts[0]?.body : undefined;
    const passed = others.length > 0 || value === undefined ? {} : { value };
    return { text: texts.map(({ said }) => said).join("\n\n"), paths: pages.map(({ path }) => path), ...passed };
  };
}

export function countLines(refs: readonly string[]): Step {
  return function* (memory) {
    const found = yield* askEach(resolve(memory, refs), (path) => toRead(path));
    const counts = found.map(({ path, result, note }) => ({ path, note, total: toPage(toRead(path), result).total }));
    const sum = counts.reduce((all, { total }) => all + total, 0);
    const text = enumerate(counts.map(({ path, note, total }) => `${note}${path} has ${plural(total, "line")}`));
    const together = counts.length > 1 ? `; ${sum} together` : "";
    return { text: `${text}${together}.`, paths: counts.map(({ path }) => path), value: `${sum}` };
  };
}

export interface Search {
  /** As it was worded; "it" stands for what the step before found. */
  readonly text: string;
  readonly scope: Scope;
  /** `word`: whole words only. `definition`: only behind a keyword that defines it. */
  readonly mode?: "word" | "definition" | undefined;
  /** Answer with the numbers only. */
  readonly isCount?: boolean;
}

const KEYWORD = String.raw`\b(function\*?|const|let|var|class|interface|type|enum|def|fn|func|struct) +`;

/** Where a text occurs and how often. If it does not, upper and lower case are ignored. */
export function searchText({ text, scope, mode, isCount = false }: Search): Step {
  return function* (memory) {
    const plain = resolveText(memory, text);
    const escaped = plain.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    const word = `${mode === "definition" ? KEYWORD : String.raw`\b`}${escaped}\b`;
    const names = scope.names === undefined ? {} : { glob: scope.names };
    const toCall = (query: Call["arguments"], path: string): Call => {
      return { name: "grep", arguments: { ...query, ...(path === "." ? {} : { path }), ...names } };
    };
    const exact = mode === undefined ? { pattern: plain, literal: true } : { pattern: word };
    const found = yield* askEach(resolve(memory, scope.places), (path) => toCall(exact, path));
    let lines = found.flatMap(({ path, result }) => useText(toCall(exact, path), result).split("\n"));
    let hits = lines.flatMap(toHit);
    const isLoose = hits.length === 0;
    if (isLoose) {
      const loose = { pattern: plain, literal: true, ignoreCase: true };
      lines = (yield* ask(found.map(({ path }) => toCall(loose, path)))).flatMap(toLines);
      hits = lines.flatMap(toHit);
    }
    const where = enumerate(found.map(({ path }) => (path === "." ? "this folder" : path)));
    const note = found.map((item) => item.note).join("");
    if (hits.length === 0) return { text: `${note}\`${plain}\` does not occur in ${where}, in whatever case.`, paths: [], value: "0" };
    const occurrence = new RegExp(mode === "word" && !isLoose ? String.raw`\b${escaped}\b` : escaped, isLoose ? "gi" : "g");
    const times = hits.reduce((sum, { body }) => sum + Math.max(1, body.match(occurrence)?.length ?? 0), 0);
    const paths = [...new Set(hits.map(({ path }) => path))];
    const least = lines.some((line) => /^\[\d+ of .*\]$/.test(line)) ? "at least " : "";
    const loosely = isLoose ? `, when upper and lower case are ignored` : "";
    const counts = `${least}${plural(times, "time")}${loosely}: on ${plural(hits.length, "line")} of ${plural(paths.length, "file")}`;
    const shown = hits.map(({ path, at, body }) => `${path}:${at}: ${body.trim().slice(0, 200)}`);
    const list = isCount ? ` (${enumerate(paths, 5)}).` : `.\n\n${bullets(shown)}`;
    return { text: `${note}\`${plain}\` occurs in ${where} ${counts}${list}`, paths, value: isCount ? `${times}` : shown.join("\n") };
  };
}

function toHit(line: string): { path: string; at: string; body: string }[] {
  const [, path, at, body] = /^(.+?):(\d+):(.*)$/s.exec(line) ?? [];
  return path === undefined || at === undefined || body === undefined ? [] : [{ path, at, body }];
}

/** Files from their first lines; a folder from its readme, its package.json and the names in it. */
export function explain(refs: readonly string[]): Step {
  return function* (memory) {
    const paths = resolve(memory, refs);
    const toHead = (path: string): Call => toRead(path, 1, 60);
    const files = yield* askEach(paths.filter((path) => path !== "."), toHead);
    const folders = files.filter(({ result }) => result.state === "folder").map(({ path }) => path);
    if (paths.includes(".")) folders.push(".");
    const toCalls = (folder: string): Call[] => {
      const inside = folder === "." ? "" : `${folder}/`;
      return [toGlob("*", folder, { kind: "any" }), toHead(`${inside}README.md`), toHead(`${inside}package.json`)];
    };
    const about = yield* ask(folders.flatMap(toCalls));
    const texts = folders.flatMap((folder, index) => {
      const [list, ...heads] = about.slice(index * 3, index * 3 + 3);
      const names = toLines(list).map((name) => name.slice(folder === "." ? 0 : folder.length + 1));
      const said = heads.flatMap((head, at) => {
        const call = toCalls(folder)[at + 1];
        return call && head.state === "ok" ? [toPurpose(`${call.arguments["path"]}`, toPage(call, head).lines)] : [];
      });
      return [...said, `${folder === "." ? "This folder" : folder} holds ${enumerate(names) || "nothing"}.`];
    });
    const heads = files.filter(({ path }) => !folders.includes(path));
    texts.unshift(...heads.map(({ path, result, note }) => note + toPurpose(path, toPage(toHead(path), result).lines)));
    return { text: texts.join("\n\n"), paths: [...heads.map(({ path }) => path), ...folders], value: texts.join("\n\n") };
  };
}
