/** Lists sessions: a line each for people, a JSON object each for programs. */
import { readdir } from "node:fs/promises";
import { isBowlineError, messageText } from "@bowline/core";
import {
  isKnownEntry,
  openSession,
  type AnyEntry,
  type SessionHolder,
  type SessionSummary,
  type Store,
} from "@bowline/core/session";
import { allSessions, isOf } from "./find-session.ts";
import { sessionsFolder } from "../home.ts";
import type { SessionsOptions } from "./sessions-options.ts";
import { StatusLine } from "./status-line.ts";
import { oneLine, printableJson, styleFor } from "../terminal.ts";
import { timeText } from "./time-text.ts";

/** Shortest prefix of an id; longer where prefixes would be ambiguous. */
const SHORTEST_ID = 8;
const AT_ONCE = 16;
const EXTENSION = ".jsonl";

interface Row extends SessionSummary {
  /** The last run has no end: it is still running, or its process died. */
  readonly isUnfinished: boolean;
  /** The process that has the session open for writing. */
  readonly holder?: SessionHolder;
}

export async function listSessions(
  store: Store,
  { all, limit, json }: SessionsOptions,
  host: NodeJS.Process,
): Promise<void> {
  const every = await allSessions(store);
  const directory = host.cwd();
  const chosen = all ? every : every.filter((session) => isOf(directory, session));
  await show(store, every, chosen, { limit, json, hasPlaces: all }, host);
  await tellStrangers(every, host);
  if (json) return;
  if (chosen.length > limit)
    host.stderr.write(`bowline: ${chosen.length - limit} more; --limit shows them\n`);
  const elsewhere = every.length - chosen.length;
  if (chosen.length === 0) {
    const others = elsewhere === 0 ? "" : `; --all shows ${elsewhere} of other directories`;
    host.stderr.write(`bowline: no session of this directory yet${others}\n`);
  }
}

/** Returns how many sessions were found. */
export async function searchSessions(
  store: Store,
  text: string,
  { limit, json, text: inMessages }: SessionsOptions,
  host: NodeJS.Process,
): Promise<number> {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const every = await allSessions(store);
  const progress = new StatusLine(host.stderr, host.env);
  const found: SessionSummary[] = [];
  for (const [index, session] of every.entries()) {
    if (index > 0 && index % 25 === 0) progress.show(`… ${index} of ${every.length} sessions`); // it takes long enough to be seen
    const title = session.title?.toLowerCase() ?? "";
    const missing = words.filter((word) => !title.includes(word));
    if (missing.length === 0 || (inMessages && (await hasWords(store, session.id, missing))))
      found.push(session);
  }
  progress.clear();
  await show(store, every, found, { limit, json, hasPlaces: true }, host);
  if (found.length > limit && !json)
    host.stderr.write(`bowline: ${found.length - limit} more; --limit shows them\n`);
  if (found.length === 0) {
    const where = inMessages
      ? "its title or messages"
      : "its title; --text looks into the messages too";
    host.stderr.write(
      `bowline: no session has ${JSON.stringify(oneLine(text, 200))} in ${where}\n`,
    );
  }
  return found.length;
}

async function hasWords(store: Store, id: string, words: readonly string[]): Promise<boolean> {
  const missing = new Set(words);
  try {
    for await (const batch of store.read(id)) {
      for (const entry of batch) {
        const text = textOf(entry).toLowerCase();
        for (const word of missing) if (text.includes(word)) missing.delete(word);
        if (missing.size === 0) return true;
      }
    }
  } catch (error) {
    if (!isBowlineError(error) || error.code !== "not_found") throw error; // not_found: deleted meanwhile
  }
  return false;
}

function textOf(entry: AnyEntry): string {
  if (!isKnownEntry(entry) || entry.type !== "message" || !("content" in entry.message)) return "";
  return messageText(entry.message);
}

interface Showing {
  readonly limit: number;
  readonly json: boolean;
  readonly hasPlaces: boolean;
}

async function show(
  store: Store,
  every: readonly SessionSummary[],
  chosen: readonly SessionSummary[],
  { limit, json, hasPlaces }: Showing,
  { stdout, env }: NodeJS.Process,
): Promise<void> {
  const rows = await rowsOf(store, chosen.slice(0, limit));
  if (json) {
    for (const row of rows) stdout.write(`${printableJson(asJson(row))}\n`);
    return;
  }
  const { bold, dim, red } = styleFor(stdout, env);
  const ids = shortIds(rows, every);
  const cells = rows.map((row, at) => {
    const count = `${row.messageCount} ${row.messageCount === 1 ? "message" : "messages"}`;
    return [
      ids[at] ?? row.id,
      timeText(row.updatedAt),
      count,
      oneLine(textIn(row, "model"), 40),
    ].map((cell) => oneLine(cell, 60));
  });
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(0, ...cells.map((cell) => cell[column]?.length ?? 0)),
  );
  for (const [at, row] of rows.entries()) {
    const line = (cells[at] ?? [])
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ");
    const mark = markOf(row);
    const shown = mark === "" ? "" : `  ${row.holder === undefined ? red(mark) : bold(mark)}`;
    const place = hasPlaces ? `  ${dim(oneLine(textIn(row, "cwd"), 100))}` : "";
    stdout.write(`${line}  ${oneLine(row.title ?? "", 60)}${shown}${place}\n`);
  }
}

function asJson({
  id,
  title,
  createdAt,
  updatedAt,
  messageCount,
  entryCount,
  origin,
  metadata,
  isUnfinished,
  holder,
}: Row): object {
  return {
    id,
    title,
    createdAt,
    updatedAt,
    messageCount,
    entryCount,
    isUnfinished,
    holder,
    origin,
    metadata,
  };
}

function markOf({ isUnfinished, holder }: Row): string {
  if (holder === undefined) return isUnfinished ? "interrupted" : "";
  return `${isUnfinished ? "running" : "in use"}${holder.pid === undefined ? "" : ` by process ${holder.pid}`}`;
}

/** Reads the ends of the shown sessions only. */
async function rowsOf(store: Store, summaries: readonly SessionSummary[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (let at = 0; at < summaries.length; at += AT_ONCE) {
    const some = summaries.slice(at, at + AT_ONCE).map(async (summary) => {
      const wasUnfinished = await isUnfinishedIn(store, summary.id);
      const holder = await store.holder(summary.id).catch(() => undefined);
      if (holder !== undefined) return { ...summary, isUnfinished: wasUnfinished, holder };
      // The run may have ended in between and released the session.
      return {
        ...summary,
        isUnfinished: wasUnfinished && (await isUnfinishedIn(store, summary.id)),
      };
    });
    rows.push(...(await Promise.all(some)));
  }
  return rows;
}

async function isUnfinishedIn(store: Store, id: string): Promise<boolean> {
  try {
    const { run } = await (await openSession(store, id, { readOnly: true })).state();
    return run?.hasBegun === true && run.reason === undefined;
  } catch {
    return false; // deleted meanwhile or unreadable; list it anyway
  }
}

function shortIds(rows: readonly SessionSummary[], every: readonly SessionSummary[]): string[] {
  return rows.map(({ id }) => {
    let length = SHORTEST_ID;
    while (
      length < id.length &&
      every.some((other) => other.id !== id && other.id.startsWith(id.slice(0, length)))
    )
      length++;
    return id.slice(0, /^[0-9a-f-]{36}$/.test(id) ? length : id.length);
  });
}

function textIn({ metadata }: SessionSummary, name: string): string {
  const value = metadata?.[name];
  return typeof value === "string" ? value : "";
}

/**
 * Reports files that are not sessions or too damaged to be listed. Leaving them out silently would
 * make the list wrong.
 */
async function tellStrangers(
  every: readonly SessionSummary[],
  { stderr, env }: NodeJS.Process,
): Promise<void> {
  const folder = sessionsFolder(env);
  const ids = new Set(every.map(({ id }) => id));
  const names = await readdir(folder).catch((): string[] => []);
  for (const name of names.filter((file) => file.endsWith(EXTENSION) && !file.includes("~"))) {
    if (ids.has(decoded(name.slice(0, -EXTENSION.length)))) continue;
    const file = oneLine(`${folder}/${name}`, 500);
    stderr.write(
      `bowline: ${file} is not listed: it is damaged, of a newer version, or no session\n`,
    );
  }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
