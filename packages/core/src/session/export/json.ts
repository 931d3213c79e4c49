/**
 * A session as one JSON text, nothing left out: `{ "header": …, "entries": [ … ] }`, one entry a
 * line.
 */
import type { Session } from "../session.ts";
import { toJson } from "../store.ts";

export async function sessionToJson(session: Session): Promise<string> {
  const entries: string[] = [];
  for await (const entry of session.entries()) entries.push(toJson(entry));
  return `{"header":${toJson(session.header)},"entries":[\n${entries.join(",\n")}\n]}\n`;
}
