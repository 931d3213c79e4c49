/** Exports a complete session as JSON: `{ "header": …, "entries": [ … ] }`, one entry per line. */
import type { Session } from "../session.ts";
import { toJson } from "../store.ts";

/** Returns the header and the entries of all branches as JSON. */
export async function sessionToJson(session: Session): Promise<string> {
  const entries: string[] = [];
  for await (const entry of session.entries()) entries.push(toJson(entry));
  return `{"header":${toJson(session.header)},"entries":[\n${entries.join(",\n")}\n]}\n`;
}
