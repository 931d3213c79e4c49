/** An entry as a row, and the change of the session's summary by entries. */
import {
  addToSummary,
  isKnownEntry,
  summaryOf,
  takeOutFiles,
  toJson,
  type AnyEntry,
} from "@bowline/core/session";
import { toColumn, toKey } from "./column-text.ts";
import { blobOf, cutLargeValues, type Blob, type CutText } from "./large-values.ts";

export interface EntryRow extends CutText {
  readonly key: string;
  /** The text of a message, for `searchTexts`. Null for other entries. */
  readonly text: string | null;
  /** Files and large values. */
  readonly blobs: readonly Blob[];
}

/** The longest text of a message that is searched. More could exceed the server's limit of an index. */
const SEARCHED = 64 * 1024;

/** Encodes an entry. Throws `invalid_argument` if it is not JSON. */
export function encodeEntry(entry: AnyEntry): EntryRow {
  const blobs: Blob[] = [];
  const lean = takeOutFiles(entry, (data) => {
    const blob = blobOf(Buffer.from(data, "base64"));
    blobs.push(blob);
    return { storedFile: blob.digest.toString("hex"), bytes: blob.bytes.length };
  });
  const cut = cutLargeValues(toJson(lean), (blob) => void blobs.push(blob));
  return { ...cut, key: toKey(entry.id), text: textOf(entry), blobs };
}

function textOf(entry: AnyEntry): string | null {
  if (!isKnownEntry(entry) || entry.type !== "message") return null;
  // A custom message has the content of its application.
  const { content } = entry.message as { readonly content?: unknown };
  if (typeof content === "string") return toSearchText(content);
  if (!Array.isArray(content)) return null;
  const texts = (content as readonly unknown[]).map((part) => {
    const { type, text } = Object(part) as { readonly type?: unknown; readonly text?: unknown };
    return type === "text" && typeof text === "string" ? text : "";
  });
  return toSearchText(texts.join("\n"));
}

/** Returns text as it is indexed and searched. */
export function toSearchText(text: string): string {
  return text
    .slice(0, SEARCHED)
    .toLowerCase()
    .replaceAll(/[\0\p{Surrogate}]/gu, " ");
}

/** How entries change the columns of their session. Null leaves a column as it is. */
export interface SummaryChange {
  /** A title that was set. */
  readonly title: string | null;
  /** The beginning of a user's message, for a session without a title. */
  readonly firstText: string | null;
  /** The model without its agent, JSON. */
  readonly model: string | null;
  readonly agent: string | null;
  readonly updatedAt: number;
  readonly messageCount: number;
}

/** Folds entries as {@link addToSummary} does, without the session's summary before them. */
export function summaryChange(entries: readonly AnyEntry[]): SummaryChange {
  const summary = entries.reduce(addToSummary, summaryOf({ id: "", createdAt: -Infinity }));
  const { title = null, model, messageCount, updatedAt } = summary;
  const isSet = entries.some((entry) => isKnownEntry(entry) && entry.type === "title");
  const { agent, ...ofServer } = model ?? {};
  return {
    title: isSet ? title : null,
    firstText: isSet ? null : title,
    model: model === undefined ? null : JSON.stringify(ofServer),
    agent: agent === undefined ? null : JSON.stringify(agent),
    updatedAt,
    messageCount,
  };
}

/** Returns the change of entries followed by others. */
export function joinChanges(one: SummaryChange, next: SummaryChange): SummaryChange {
  const title = next.title ?? one.title;
  return {
    title,
    firstText: title === null ? (one.firstText ?? next.firstText) : null,
    model: next.model ?? one.model,
    agent: next.agent ?? one.agent,
    updatedAt: Math.max(one.updatedAt, next.updatedAt),
    messageCount: one.messageCount + next.messageCount,
  };
}

/** The values of a change in the order of `summaryColumns` of the statements. */
export function summaryValues({
  title,
  firstText,
  model,
  agent,
  updatedAt,
  messageCount,
}: SummaryChange): unknown[] {
  const column = (text: string | null): string | null => (text === null ? null : toColumn(text));
  return [
    column(title),
    column(title?.toLowerCase() ?? null),
    column(firstText),
    column(firstText?.toLowerCase() ?? null),
    model,
    agent,
    updatedAt,
    messageCount,
  ];
}
