/** The entries of the history as lines of JSON. */
import { draftOf, labelOf, type DraftPart } from "./draft.ts";

export interface HistoryEntry {
  readonly project: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly parts: readonly DraftPart[];
  /** The parts as the editor shows them. */
  readonly text: string;
}

/** A longer paste is stored as its label only. */
const MAX_PASTE_CHARACTERS = 1_000_000;

export function historyEntry(
  project: string,
  time: number,
  parts: readonly DraftPart[],
): HistoryEntry {
  return { project, time, parts, text: draftOf(parts).text };
}

/** Returns one line without its line feed. Of images, the file's name is stored. */
export function entryLine({ project, time, parts }: HistoryEntry): string {
  return JSON.stringify({ time, project, parts: storedParts(parts, MAX_PASTE_CHARACTERS) });
}

/** Returns undefined for a line that is damaged. */
export function readEntry(line: string): HistoryEntry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { project, time, parts } = value as Readonly<Record<string, unknown>>;
  const read = readParts(parts);
  if (typeof project !== "string" || typeof time !== "number" || read === undefined)
    return undefined;
  return historyEntry(project, time, read);
}

/** Replaces what is not stored: the bytes of images, and pastes above the limit. */
export function storedParts(
  parts: readonly DraftPart[],
  maxPaste: number = Number.POSITIVE_INFINITY,
): DraftPart[] {
  return parts.map((part): DraftPart => {
    if (part.type === "paste" && part.text.length > maxPaste)
      return { type: "text", text: `${labelOf(part).slice(0, -1)}, too long to keep]` };
    if (part.type !== "image") return part;
    return part.image.path === undefined
      ? { type: "text", text: `${labelOf(part).slice(0, -1)}, not kept]` }
      : { type: "imagePath", path: part.image.path };
  });
}

/** Returns undefined unless each part is one of the stored forms. */
export function readParts(value: unknown): DraftPart[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const parts = value.map(readPart);
  return parts.every((part) => part !== undefined) ? parts : undefined;
}

function readPart(value: unknown): DraftPart | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { type, text, number, path } = value as Readonly<Record<string, unknown>>;
  if (type === "text" && typeof text === "string") return { type, text };
  if (type === "paste" && typeof text === "string" && Number.isSafeInteger(number))
    return { type, text, number: number as number };
  if (type === "imagePath" && typeof path === "string") return { type, path };
  return undefined;
}
