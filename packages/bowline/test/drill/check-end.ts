/**
 * Compares what clients were told with the server's files and history, after all runs have ended.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isKnownEntry, openSession, type Entry } from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";
import type { GatewayClient } from "../../src/gateway/client/client.ts";
import type { Fact } from "./task.ts";

/** How many of the latest accepted messages of each session are checked by subscription. */
const ASKED = 50;

export interface Checked {
  readonly faults: readonly string[];
  readonly accepted: number;
  readonly torn: number;
}

export async function checkEnd(
  client: GatewayClient,
  folder: string,
  sessions: readonly string[],
): Promise<Checked> {
  const faults: string[] = [];
  const facts = readFacts(join(folder, "facts"));
  const accepted = facts.filter((fact) => fact.type === "accepted");
  const aborting = new Set(facts.flatMap((fact) => (fact.type === "aborting" ? [fact.runId] : [])));
  const said = new Map<string, number>();
  for (const key of sessions) {
    for (const text of await textsOf(client, key)) said.set(text, (said.get(text) ?? 0) + 1);
  }
  for (const [text, times] of said)
    if (times > 1) faults.push(`"${text}" is in the history ${times} times`);
  const { torn, ended } = await checkFiles(folder, sessions, faults);
  const later = new Map<string, number>();
  for (const { sessionKey, runId, text, isOwnRun } of accepted.toSorted((a, b) => b.at - a.at)) {
    const mayBeGone = aborting.has(runId) && isOwnRun;
    if (!said.has(text) && !mayBeGone)
      faults.push(`"${text}" was accepted and is not in the history of ${sessionKey}`);
    if (!ended.has(runId) && !mayBeGone)
      faults.push(`the run ${runId} of ${sessionKey} was accepted and is not in its file`);
    // The server searches only this many of a session's latest runs.
    later.set(sessionKey, (later.get(sessionKey) ?? 0) + 1);
    if ((later.get(sessionKey) ?? 0) > ASKED) continue;
    const { runs } = await client.request("chat.subscribe", { sessionKey, runId, seq: -1 });
    const { state = "unknown" } = runs.find((run) => run.runId === runId) ?? {};
    if (state !== "final" && !(aborting.has(runId) && (state === "aborted" || mayBeGone)))
      faults.push(`the run ${runId} of ${sessionKey} was accepted and is ${state}`);
  }
  const left = existsSync(join(folder, "pending")) ? readdirSync(join(folder, "pending")) : [];
  if (left.length > 0) faults.push(`${left.length} messages still wait on the disk`);
  return { faults, accepted: accepted.length, torn };
}

/**
 * Reads the facts. Ignores an incomplete last line, because a client may have been killed while
 * writing it.
 */
function readFacts(folder: string): Fact[] {
  return readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), "utf8")
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Fact),
  );
}

/** Returns the texts of the user's messages, from all pages. */
async function textsOf(client: GatewayClient, sessionKey: string): Promise<string[]> {
  const texts: string[] = [];
  for (let before: string | undefined, hasMore = true; hasMore;) {
    const page = await client.request("chat.history", {
      sessionKey,
      limit: 500,
      ...(before !== undefined && { before }),
    });
    for (const { message } of page.messages) {
      const { role, content } = message as { readonly role: string; readonly content?: unknown };
      if (role === "user" && typeof content === "string") texts.push(content);
    }
    before = page.messages[0]?.id;
    hasMore = page.hasMore && before !== undefined;
  }
  return texts;
}

/** Returns how many files were torn, and the runs that they contain. */
async function checkFiles(
  folder: string,
  sessions: readonly string[],
  faults: string[],
): Promise<{ readonly torn: number; readonly ended: ReadonlySet<string> }> {
  const ended = new Set<string>();
  const store = createJsonlStore(join(folder, "sessions"));
  let torn = 0;
  for (const key of sessions) {
    const session = await openSession(store, key, { readOnly: true });
    const entries: Entry[] = [];
    for await (const entry of session.entries()) {
      if (isKnownEntry(entry)) entries.push(entry);
      else faults.push(`${key} has an entry that is not known: ${entry.type}`);
    }
    for (const { message } of session.damage) {
      torn++;
      if (!/^The end of .* (?:was|is) torn/.test(message)) faults.push(`${key}: ${message}`);
    }
    const runs = Map.groupBy(entries, (entry) => ("runId" in entry ? entry.runId : undefined));
    runs.delete(undefined);
    for (const [runId = "", own] of runs) {
      ended.add(runId);
      const kinds = own.map((entry) =>
        "reason" in entry ? `${entry.type} ${entry.reason}` : entry.type,
      );
      // A run of which only the start was stored is ended as interrupted, and begun once more.
      const ends = kinds.filter(
        (kind, at) =>
          kind.startsWith("run_end") &&
          !(kind.endsWith(" interrupted") && kinds[at + 1] === "run_start"),
      );
      if (ends.length !== 1)
        faults.push(`the run ${runId} has ${ends.length} ends in ${key}: ${kinds.join(", ")}`);
    }
  }
  return { torn, ended };
}
