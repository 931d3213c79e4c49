/** Finds the lines of files that match a regular expression. */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
} from "node:fs";
import { join } from "node:path";
import { cutText, escapeLineBreaks } from "../escape.ts";
import { HEAD_BYTES } from "./file-kind.ts";
import { listPaths } from "./find-paths.ts";
import { isWithin } from "./inside.ts";
import { descriptorFolder } from "./descriptors.ts";
import { MAX_SEARCHED_BYTES, type GrepJob, type SearchPlace, type SearchResult } from "./search.ts";
import { changedMeanwhile, toToolError } from "./tool-error.ts";

const MAX_LINE = 300;
/** Characters shown before the match in a long line. */
const BEFORE = 100;

/** Runs a grep job. Searches files in path order and stops at the first hit beyond a limit. */
export function findLines(job: GrepJob): SearchResult {
  const pattern = new RegExp(job.source, job.flags);
  const lines: string[] = [];
  let room = job.characters;
  const paths = job.isFile
    ? [""]
    : listPaths(job, { patterns: toPatterns(job.glob), kind: "file", withLinks: false });
  for (const path of paths) {
    const text = textOf(job, path);
    if (text === undefined) continue;
    const shown = escapeLineBreaks(job.prefix + path);
    for (const [index, line] of text.split("\n").entries()) {
      const body = line.endsWith("\r") ? line.slice(0, -1) : line;
      const at = pattern.exec(body)?.index;
      if (at === undefined) continue;
      const hit = `${shown}:${index + 1}:${cutAround(body, at)}`;
      room -= hit.length + 1;
      if (room < 0 || lines.length === job.limit) return { lines, total: lines.length + 1 };
      lines.push(hit);
    }
  }
  return { lines, total: lines.length };
}

/**
 * Returns at most `MAX_LINE` characters of a line, from its start or from shortly before the match
 * at `at`.
 */
function cutAround(line: string, at: number): string {
  if (line.length <= MAX_LINE || at < MAX_LINE - BEFORE) return cutText(line, MAX_LINE);
  return `…${cutText(line.slice(at - BEFORE).replace(/^[\uDC00-\uDFFF]/, ""), MAX_LINE - 1)}`;
}

/** A glob without "/" matches names at any depth. A leading "!" excludes. */
function toPatterns(glob: string | undefined): string[] {
  if (glob === undefined) return ["**/*"];
  const isNegated = /^!(?!\()/.test(glob);
  const positive = isNegated ? glob.slice(1) : glob;
  const pattern = positive.includes("/") ? positive : `**/${positive}`;
  return isNegated ? ["**/*", `!${pattern}`] : [pattern];
}

/**
 * Returns the text of a file, or undefined to skip it. Throws for a file that the job names,
 * because skipping it silently would hide the problem.
 */
function textOf(job: GrepJob, path: string): string | undefined {
  try {
    const text = readText(job, join(job.base, path));
    if (text !== undefined || !job.isFile) return text;
  } catch (error) {
    // Some files can be opened but not read, such as some kernel settings.
    if (job.isFile) throw toToolError(error, job.prefix);
    return undefined;
  }
  throw changedMeanwhile({ given: job.prefix });
}

/** Returns undefined for a file that is binary, too large, not readable, or was moved. */
function readText(place: SearchPlace, path: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size > MAX_SEARCHED_BYTES) return undefined;
    if (
      descriptorFolder !== undefined &&
      !isWithin(place, readlinkSync(`${descriptorFolder}/${descriptor}`))
    )
      return undefined;
    const head = Buffer.alloc(HEAD_BYTES);
    const length = readSync(descriptor, head, 0, HEAD_BYTES, 0);
    if (head.subarray(0, length).includes(0)) return undefined;
    const text =
      length < HEAD_BYTES ? head.toString("utf8", 0, length) : readFileSync(descriptor, "utf8");
    // The empty part after the last line feed is not a line.
    return text.replace(/^\uFEFF/, "").replace(/\n$/, "");
  } finally {
    closeSync(descriptor);
  }
}
