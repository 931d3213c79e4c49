/** Lists sessions in pages, by title or by the words of their messages. */
import {
  checkSessionId,
  sessionNotFound,
  type ListOptions,
  type SessionHeader,
  type SessionModel,
  type SessionPage,
  type SessionSummary,
} from "@bowline/core/session";
import { naming, type StoreContext } from "./context.ts";
import { invalid } from "./options.ts";
import { fromColumn, toColumn } from "./rows/column-text.ts";
import { toSearchText } from "./rows/encode-entry.ts";
import type { Row } from "./sql/database.ts";

const PAGE_LENGTH = 50;
/** The longest page. The cursor leads on. */
const LONGEST_PAGE = 10_000;
/** The largest number of words to search for. */
const MOST_WORDS = 32;

const columns = "header, title, model, agent, updated_at, next_seq, message_count";

/** Lists sessions, latest first. `text` has the words to search for in messages. */
export async function listSessions(
  { database, schema }: StoreContext,
  { search, limit = PAGE_LENGTH, cursor }: ListOptions,
  text?: string,
): Promise<SessionPage> {
  const most = Math.min(Math.max(1, Math.floor(limit)), LONGEST_PAGE);
  const after = cursor === undefined ? undefined : positionOf(cursor);
  const words = text === undefined ? [] : wordsOf(text);
  if (text !== undefined && words.length === 0) return { sessions: [] };
  const rows = await database.query(
    "Listing sessions",
    `select ${columns} from ${schema}.sessions
    where ($1::text is null or strpos(title_lower, $1) > 0)
      and ($2::float8 is null or (updated_at <= $2 and (updated_at < $2 or id > $3)))
      ${words.map((_, at) => `and number in (select session from ${schema}.entries where words @@ ${query(`$${at + 5}`)})`).join("\n")}
    order by updated_at desc, id limit $4`,
    [
      search === undefined ? null : toColumn(search.toLowerCase()),
      after?.updatedAt ?? null,
      after === undefined ? null : toColumn(after.id),
      most + 1,
      ...words,
    ],
  );
  const sessions = rows.slice(0, most).map(toSummary);
  const last = sessions.at(-1);
  if (last === undefined || rows.length <= most) return { sessions };
  return { sessions, cursor: `${last.updatedAt} ${last.id}` };
}

/** Reads one row of the list, and no entries. Rejects with `not_found`. */
export async function readSummary(
  { database, schema }: StoreContext,
  id: string,
): Promise<SessionSummary> {
  checkSessionId(id);
  const statement = `select ${columns} from ${schema}.sessions where id = $1`;
  const [row] = await database.query(naming("Reading", id), statement, [toColumn(id)]);
  if (row === undefined) throw sessionNotFound(id);
  return toSummary(row);
}

/**
 * Returns the query for words that begin with a text. The text is split as messages are, and its
 * parts are quoted, so that none is an operator.
 */
function query(text: string): string {
  const quoted = `'''' || replace(replace(lexeme, '\\', '\\\\'), '''', '''''') || ''':*'`;
  return `(select string_agg(${quoted}, ' & ')::tsquery from unnest(to_tsvector('simple', ${text}::text)))`;
}

/** Returns the words of a search. Marks alone are not in the index. */
function wordsOf(text: string): string[] {
  const words = toSearchText(text).split(/\s+/u);
  return words.filter((word) => /[\p{L}\p{N}]/u.test(word)).slice(0, MOST_WORDS);
}

function toSummary(row: Row): SessionSummary {
  const { model, agent, title } = row;
  return {
    ...(JSON.parse(String(row.header)) as SessionHeader),
    ...(typeof title === "string" && { title: fromColumn(title) }),
    ...(typeof model === "string" && {
      model: {
        ...(JSON.parse(model) as SessionModel),
        ...(typeof agent === "string" && { agent: JSON.parse(agent) as string }),
      },
    }),
    updatedAt: Number(row.updated_at),
    entryCount: Number(row.next_seq),
    messageCount: Number(row.message_count),
  };
}

interface Position {
  readonly updatedAt: number;
  readonly id: string;
}

function positionOf(cursor: string): Position {
  const [, updatedAt, id] = /^(-?[\d.]+) (.+)$/s.exec(cursor) ?? [];
  if (updatedAt === undefined || id === undefined || !Number.isFinite(Number(updatedAt)))
    throw invalid("The cursor is invalid. Pass the cursor of the previous page.");
  return { updatedAt: Number(updatedAt), id };
}
