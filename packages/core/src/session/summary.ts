/**
 * The summary of a session for lists. It is updated entry by entry, so that a store can keep it
 * next to a log.
 */
import { BowlineError } from "../errors.ts";
import { messageText, type UserMessage } from "../llm/message.ts";
import { defined } from "../json-value.ts";
import {
  isKnownEntry,
  modelIn,
  type AnyEntry,
  type SessionHeader,
  type SessionModel,
} from "./entry.ts";
import type { ListOptions, SessionPage, SessionSummary } from "./store.ts";

const TITLE_LENGTH = 56;
const PAGE_LENGTH = 50;

export function summaryOf(header: SessionHeader): SessionSummary {
  return { ...header, updatedAt: header.createdAt, entryCount: 0, messageCount: 0 };
}

export function addToSummary(summary: SessionSummary, entry: AnyEntry): SessionSummary {
  const isMessage = entry.type === "message";
  const title = titleAfter(entry, summary.title);
  const model = modelAfter(entry, summary.model);
  return {
    ...summary,
    ...defined({ title, model }),
    // The maximum, so that a clock that was set back does not make a session look older.
    updatedAt: Math.max(summary.updatedAt, entry.timestamp),
    entryCount: summary.entryCount + 1,
    messageCount: summary.messageCount + (isMessage ? 1 : 0),
  };
}

/**
 * Returns the model after an entry. Keeps the agent's name until another is given, because
 * `run_start` entries do not name it.
 */
function modelAfter(entry: AnyEntry, before: SessionModel | undefined): SessionModel | undefined {
  const now = isKnownEntry(entry) ? modelIn(entry) : undefined;
  return now === undefined ? before : { ...defined({ agent: before?.agent }), ...now };
}

function titleAfter(entry: AnyEntry, title: string | undefined): string | undefined {
  if (!isKnownEntry(entry)) return title;
  if (entry.type === "title") return entry.title;
  if (title !== undefined || entry.type !== "message" || entry.message.role !== "user")
    return title;
  const line = messageText({ content: writtenParts(entry.message as UserMessage) })
    .replaceAll(/\s+/g, " ")
    .trim();
  if (line === "") return undefined;
  if (line.length <= TITLE_LENGTH) return line;
  return `${line.slice(0, TITLE_LENGTH - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Without the text that a program added to the message. */
function writtenParts({ content }: UserMessage): UserMessage["content"] {
  if (typeof content === "string") return content;
  return content.filter((part) => part.type !== "text" || part.shownAs === undefined);
}

/**
 * Returns one page, latest first. The cursor names the last session shown, so that sessions that
 * change between pages are not repeated. Throws `invalid_argument` for an invalid cursor.
 */
export function pageOf(
  summaries: readonly SessionSummary[],
  options: ListOptions = {},
): SessionPage {
  const { search, limit = PAGE_LENGTH, cursor } = options;
  const words = search?.toLowerCase();
  const after = cursor === undefined ? undefined : positionOf(cursor);
  const rest = summaries
    .filter(({ title }) => words === undefined || title?.toLowerCase().includes(words) === true)
    .filter((summary) => after === undefined || compare(after, summary) < 0)
    .toSorted(compare);
  const sessions = rest.slice(0, Math.max(1, limit));
  const last = sessions.at(-1);
  if (last === undefined || sessions.length === rest.length) return { sessions };
  return { sessions, cursor: `${last.updatedAt} ${last.id}` };
}

type Position = Pick<SessionSummary, "updatedAt" | "id">;

function compare(a: Position, b: Position): number {
  if (a.updatedAt !== b.updatedAt) return b.updatedAt - a.updatedAt;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

function positionOf(cursor: string): Position {
  const [, updatedAt, id] = /^(-?[\d.]+) (.+)$/s.exec(cursor) ?? [];
  if (updatedAt === undefined || id === undefined) {
    throw new BowlineError(
      "invalid_argument",
      "The cursor is invalid. Pass the cursor of the previous page.",
    );
  }
  return { updatedAt: Number(updatedAt), id };
}
