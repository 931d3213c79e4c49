/** Steps that look into files. */
import type { Scope } from "./files.ts";
import { resolve, resolveText } from "./phrase.ts";
import { toPurpose } from "./purpose.ts";
import { ask, look, see, Setback, toGlob, toLines, useText } from "./step.ts";
import type { Call, Result, Step } from "./step.ts";
import { bullets, enumerate, fence, plural, toPlaces } from "./wording.ts";

/** Lines from-to, counted from 1, or the last so many. */
export interface Range {
  readonly from?: number;
  readonly to?: number;
  readonly last?: number;
}

interface Page {
  readonly text: string;
  readonly lines: readonly string[];
  /** The number of the first line shown. */
  readonly first: number;
  /** The lines of the whole file; Infinity if the tool did not count them. */
  readonly total: number;
}

function toRead(path: string, { from = 1, to }: Range = {}): Call {
  const offset = from > 1 ? { offset: from } : {};
  return { name: "read", arguments: { path, ...offset, ...(to === undefined ? {} : { limit: to - from + 1 }) } };
}

function toPage({ arguments: { path, offset } }: Call, said: string): Page {
  if (said === "") throw new Setback(`${path} has no text; I can only read text.`);
  const [notice, total] = /\n\[lines \d+-\d+ of (\d+|more)\b[^\n]*\]$/.exec(said) ?? [];
  const text = notice !== undefined ? said.slice(0, -notice.length) : said === "[empty file]" ? "" : said;
  const lines = text === "" ? [] : (notice === undefined ? text.replace(/\r?\n$/, "") : text).split(/\r?\n/);
  const first = Number(offset ?? 1);
  return { text, lines, first, total: total === "more" ? Infinity : Number(total ?? first - 1 + lines.length) };
}

export function readFiles(refs: readonly string[], range: Range = {}): Step {
  const { last = Infinity } = range;
  return function* (context) {
    const seen = yield* see(context, resolve(context, refs), (path) => toRead(path, range));
    const pages = seen.map(({ path, call, text }) => ({ path, ...toPage(call, text) }));
    // Where a long file ends is known only now.
    const long = pages.filter(({ lines, total }) => range.last !== undefined && lines.length < total);
    for (const { path, total } of long) toCounted(path, total);
    const calls = long.map(({ path, total }) => toRead(path, { from: Math.max(1, total - last + 1), to: total }));
    const tails = yield* ask(calls);
    for (const [index, call] of calls.entries())
      Object.assign(long[index] ?? {}, toPage(call, useText(call, tails[index])));
    const texts = pages.map(({ path, lines, first, total }) => {
      const shown = lines.slice(-last);
      const start = first + lines.length - shown.length;
      const part = shown.length === 1 ? `line ${start}` : `lines ${start} to ${start + shown.length - 1}`;
      const of = total === Infinity ? "" : ` of ${total}`;
      const label = shown.length === total ? `${path} (${plural(total, "line")})` : `${path}, ${part}${of}`;
      return total === 0 ? `${path} is empty.` : `${label}:\n\n${fence(shown.join("\n"))}`;
    });
    // What the tool cut off would be missing from "it".
    const [{ text, lines, total } = { text: "", lines: [], total: 1 }] = pages;
    const value =
      range.last !== undefined ? lines.slice(-last).join("\n") : range.to || lines.length === total ? text : undefined;
    return {
      text: texts.join("\n\n"),
      paths: pages.map(({ path }) => path),
      value: pages.length === 1 ? value : undefined,
    };
  };
}

export function countLines(refs: readonly string[]): Step {
  return function* (context) {
    const seen = yield* see(context, resolve(context, refs), (path) => toRead(path));
    const counts = seen.map(({ path, call, text }) => ({ path, total: toCounted(path, toPage(call, text).total) }));
    const sum = counts.reduce((all, { total }) => all + total, 0);
    const text = enumerate(counts.map(({ path, total }) => `${path} has ${plural(total, "line")}`));
    const together = counts.length > 1 ? `, ${sum} together` : "";
    return { text: `${text}${together}.`, paths: counts.map(({ path }) => path), value: `${sum}` };
  };
}

function toCounted(path: string, total: number): number {
  if (total === Infinity) throw new Setback(`${path} is so large that its lines were not counted.`);
  return total;
}

export interface Search {
  /** As it was worded; "it" stands for what the step before found. */
  readonly text: string;
  readonly scope: Scope;
  /** Whole words only. */
  readonly isWord: boolean;
  /** The numbers without the lines. */
  readonly isCount: boolean;
}

/** Where a text occurs and how often. If it does not, upper and lower case are ignored. */
export function searchText({ text, scope, isWord, isCount }: Search): Step {
  return function* (context) {
    const plain = resolveText(context, text);
    const escaped = plain.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    const asWord = isWord && /^\w/.test(plain) && /\w$/.test(plain);
    const pattern = asWord ? `\\b${escaped}\\b` : escaped;
    const toCall = (path: string, isLoose = false): Call => {
      const query = asWord ? { pattern } : { pattern: plain, literal: true };
      const where = { ...(path === "." ? {} : { path }), ...(scope.names === undefined ? {} : { glob: scope.names }) };
      return { name: "grep", arguments: { ...query, ...where, ...(isLoose ? { ignoreCase: true } : {}) } };
    };
    const seen = yield* see(context, resolve(context, scope.places), (path) => toCall(path));
    let lines = seen.flatMap(({ text: said }) => said.split("\n"));
    const isLoose = !lines.some((line) => HIT.test(line));
    if (isLoose) lines = (yield* ask(seen.map(({ path }) => toCall(path, true)))).flatMap(toLines);
    const hits = lines.map((line) => HIT.exec(line)?.groups).filter((hit) => hit !== undefined);
    const where = toPlaces(seen);
    if (hits.length === 0)
      return { text: `\`${plain}\` does not occur in ${where}, in whatever case.`, paths: [], value: "0" };
    const occurrence = new RegExp(pattern, isLoose ? "gi" : "g");
    const times = hits.reduce((sum, { body }) => sum + Math.max(1, body?.match(occurrence)?.length ?? 0), 0);
    const paths = [...new Set(hits.map(({ path = "" }) => path))];
    const least = lines.some((line) => /^\[\d+ of .*\]$/.test(line)) ? "at least " : "";
    const loosely = isLoose ? ", when upper and lower case are ignored" : "";
    const counts = `${least}${plural(times, "time")} in ${where}${loosely}: on ${plural(hits.length, "line")} of ${plural(paths.length, "file")}`;
    const shown = hits.map(({ path, at, body }) => `${path}:${at}: ${body?.trim().slice(0, 200)}`);
    const list = isCount ? ` (${enumerate(paths, 5)}).` : `.\n\n${bullets(shown)}`;
    return { text: `\`${plain}\` occurs ${counts}${list}`, paths, value: isCount ? `${times}` : shown.join("\n") };
  };
}

const HIT = /^(?<path>.+?):(?<at>\d+):(?<body>.*)$/s;

/** Files from their first lines; a folder from its readme, its package.json and the names in it. */
export function explain(refs: readonly string[]): Step {
  return function* (context) {
    const paths = resolve(context, refs);
    const looks = yield* look(
      context,
      paths.filter((path) => path !== "."),
      toHead,
    );
    const folders = looks.filter(({ result }) => result.state === "folder").map(({ path }) => path);
    if (looks.length < paths.length) folders.push(".");
    const calls = folders.map((folder) => {
      const heads = ["README.md", "package.json"].map((name) => toHead(folder === "." ? name : `${folder}/${name}`));
      return [toGlob("*", folder, { kind: "any" }), ...heads];
    });
    const results = yield* ask(calls.flat());
    const files = looks.filter(({ path }) => !folders.includes(path));
    const texts = files.map(({ path, result }) => toSaid(toHead(path), result));
    for (const [index, folder] of folders.entries()) {
      const [list, ...heads] = results.slice(index * 3, index * 3 + 3);
      const known = heads.map((head, at) => ({ head, call: calls[index]?.[at + 1] }));
      texts.push(...known.flatMap(({ head, call }) => (call && head.state === "ok" ? [toSaid(call, head)] : [])));
      const names = toLines(list).map((name) => name.replace(`${folder}/`, ""));
      if (list?.state === "ok")
        texts.push(`${folder === "." ? "This folder" : folder} holds ${enumerate(names) || "nothing"}.`);
    }
    if (texts.length === 0) texts.push(useText(toHead(paths[0] ?? "."), results[0]));
    const text = texts.join("\n\n");
    return { text, paths: [...files.map(({ path }) => path), ...folders], value: text };
  };
}

function toHead(path: string): Call {
  return toRead(path, { to: 60 });
}

function toSaid(call: Call, result: Result): string {
  return toPurpose(`${call.arguments["path"]}`, toPage(call, useText(call, result)).lines);
}
