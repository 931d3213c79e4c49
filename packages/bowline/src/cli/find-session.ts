/** Finds a session by its id, a prefix of the id, or `latest` for the latest of a directory. */
import type { SessionSummary, Store } from "@bowline/core/session";
import { CommandError } from "../command-error.ts";
import { oneLine } from "../terminal.ts";

const PAGE = 1000;
const LATEST = "latest";
/** Matches prefixes of generated ids. */
const GENERATED = /^[0-9a-f][0-9a-f-]{3,}$/;

/** Returns all sessions, the latest first. */
export async function allSessions(store: Store): Promise<SessionSummary[]> {
  const all: SessionSummary[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ limit: PAGE, cursor });
    all.push(...page.sessions);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return all;
}

export function isOf(directory: string, { metadata }: SessionSummary): boolean {
  return metadata?.cwd === directory;
}

/** Throws `CommandError` when the directory has no session. */
export async function latestOf(store: Store, directory: string): Promise<string> {
  const latest = (await allSessions(store)).find((session) => isOf(directory, session));
  if (latest !== undefined) return latest.id;
  throw new CommandError(`There is no session of ${oneLine(directory, 300)} yet.`);
}

/**
 * Finds an existing session. Throws `CommandError` for an ambiguous prefix, and the store's error
 * when nothing matches.
 */
export async function findSession(
  store: Store,
  reference: string,
  directory: string,
): Promise<string> {
  if (reference === LATEST) return latestOf(store, directory);
  const id = one(reference, await allSessions(store));
  return id ?? (await store.load(reference)).id; // loading an unlisted session throws the reason
}

/**
 * Like {@link findSession}, but returns undefined for an id that may be new. Only prefixes of
 * generated ids are expanded.
 */
export async function findOrNew(
  store: Store,
  reference: string,
  directory: string,
): Promise<string | undefined> {
  if (reference === LATEST) return latestOf(store, directory);
  const all = await allSessions(store);
  const candidates = GENERATED.test(reference) ? all : all.filter(({ id }) => id === reference);
  return one(reference, candidates);
}

function one(reference: string, sessions: readonly SessionSummary[]): string | undefined {
  if (sessions.some(({ id }) => id === reference)) return reference;
  const ids = sessions.map(({ id }) => id).filter((id) => id.startsWith(reference));
  if (ids.length < 2) return ids[0];
  const some = `${ids.slice(0, 5).join(", ")}${ids.length > 5 ? ", …" : ""}`;
  throw new CommandError(
    `${ids.length} sessions begin with ${JSON.stringify(reference)}: ${oneLine(some, 300)}.`,
  );
}
