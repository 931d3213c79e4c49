/**
 * The write lock of a session. A claim is an empty file in the lock folder whose name contains the
 * session and the process. A process that wants the lock first creates its claim, then lists the
 * others. If another living process has a claim for the session, it deletes its own. Two processes
 * that claim at the same time see each other, so at most one gets the lock. Any process may delete
 * the claim of a dead process, because names are never reused. So the claim of a killed process
 * blocks no one.
 */
import { open, readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { randomId, sleep, type Clock } from "../../clock.ts";
import { sessionLocked, type SessionHolder } from "../store.ts";
import { toFileName } from "./file-name.ts";
import { makeFolder } from "./make-folder.ts";
import { isAlive, type ProcessIdentity } from "./process-identity.ts";
import { ifThere, systemCode } from "./storage-error.ts";

const TRIES = 20;
/**
 * Time in milliseconds in which a failed attempt deletes its claim. A claim that is still there
 * after it holds the lock.
 */
const PATIENCE_MS = 20;

export interface LockOptions {
  readonly self: ProcessIdentity;
  readonly clock: Clock;
}

/**
 * Takes the lock of a session. Resolves with a function that releases it, or rejects with
 * `session_locked`.
 */
export async function takeLock(
  folder: string,
  id: string,
  { self, clock }: LockOptions,
): Promise<() => Promise<void>> {
  let seen: readonly string[] = [];
  for (let left = TRIES; ; left--) {
    const nonce = randomId().slice(0, 8);
    const claim = `${toFileName(id)}.${self.pid}.${self.start}.${self.boot}.${nonce}@${self.host}`;
    const release = await place(folder, claim);
    let others: readonly string[];
    try {
      others = await livingOthers(folder, claim, self);
    } catch (error) {
      await release();
      throw error;
    }
    if (others.length === 0) return release;
    await release();
    const holder =
      others.find((other) => seen.includes(other)) ?? (left > 1 ? undefined : others[0]);
    if (holder !== undefined) throw sessionLocked(id, describe(holder, self));
    seen = others;
    // Random delays, so that two concurrent attempts do not collide again.
    await sleep(clock, PATIENCE_MS * (0.5 + Number.parseInt(nonce, 16) / 16 ** 8));
  }
}

/**
 * Returns the current holder of the session and removes nothing. A process that is only trying
 * counts as holder for some milliseconds.
 */
export async function holderOf(
  folder: string,
  id: string,
  self: ProcessIdentity,
): Promise<SessionHolder | undefined> {
  let first: SessionHolder | undefined;
  for (const [name, owner] of await claimsOf(folder, `${toFileName(id)}.`)) {
    const file = (await isAlive(owner, self)) ? await ifThere(stat(join(folder, name))) : undefined;
    if (file === undefined || (first !== undefined && first.since <= file.mtimeMs)) continue;
    const { pid, start, host } = owner;
    const isThisProcess = host === self.host && pid === self.pid && start === self.start;
    first = { isThisProcess, pid, host, since: file.mtimeMs };
  }
  return first;
}

async function place(folder: string, claim: string): Promise<() => Promise<void>> {
  const path = join(folder, claim);
  const make = async (): Promise<void> => (await open(path, "wx", 0o600)).close();
  try {
    await make();
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    await makeFolder(folder);
    await make();
  }
  return async () => {
    await ifThere(unlink(path));
  };
}

async function livingOthers(folder: string, own: string, self: ProcessIdentity): Promise<string[]> {
  const session = own.slice(0, own.indexOf(".") + 1);
  const living: string[] = [];
  for (const [name, other] of await claimsOf(folder, session)) {
    if (name === own) continue;
    if (await isAlive(other, self)) living.push(name);
    else await ifThere(unlink(join(folder, name)));
  }
  return living;
}

/** Returns the claims of a session, keyed by file name. */
async function claimsOf(folder: string, session: string): Promise<Map<string, ProcessIdentity>> {
  const names = ((await ifThere(readdir(folder))) ?? []).filter((name) => name.startsWith(session));
  const parsed = names.map((name) => [name, parse(name)] as const);
  return new Map(
    parsed.filter((claim): claim is [string, ProcessIdentity] => claim[1] !== undefined),
  );
}

function parse(claim: string): ProcessIdentity | undefined {
  const [, pid, start = "", boot = "", host = ""] =
    /^[^.]+\.(\d+)\.(\w*)\.(\w*)\.\w+@(.+)$/.exec(claim) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), start, boot, host };
}

function describe(claim: string, self: ProcessIdentity): string {
  const { pid, host } = parse(claim) as ProcessIdentity;
  if (host !== self.host) return `process ${pid} on ${host}`;
  return pid === self.pid ? "this process" : `process ${pid}`;
}
