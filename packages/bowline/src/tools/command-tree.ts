/**
 * Finds the processes that a command has started: its process group, processes that left the group,
 * and their children. On Linux, those that left (setsid) are found by two inherited things: a mark
 * in the environment and an open descriptor, the leash. A process escapes only by leaving the
 * group, wiping its environment and closing the descriptor. Stopping that takes a sandbox.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface CommandTree {
  /** The leader of the process group. */
  readonly leader: number;
  /** A unique word in the environment of this command. */
  readonly mark: string;
  /** The name of the open file at {@link LEASH}, if it could be read. */
  readonly leash: string | undefined;
  /**
   * Start time of the leader, in kernel ticks since boot; older processes do not belong to the
   * command. Absent if the system does not show processes.
   */
  readonly since: number | undefined;
}

export interface FoundProcess {
  readonly pid: number;
  /** The kernel's name of the process: at most 15 bytes, chosen by the process itself. */
  readonly name: string;
}

/** The variable with the marks of all enclosing commands, the innermost last. */
export const MARK_VARIABLE = "BOWLINE_COMMAND";

/** The descriptor of the leash: a number that scripts rarely use. */
export const LEASH = 19;

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const OPEN_FILE = /^(?:socket|pipe):\[\d+\]$/;

/**
 * Throws unless the mark is a random UUID. A shorter mark could occur in the environment of
 * unrelated processes, which would be killed.
 */
export function assertMark(mark: string): void {
  if (!UUID.test(mark)) throw new Error("The mark of a command must be a UUID.");
}

/**
 * Returns true if the system shows processes and their environment under the ids of this process's
 * namespace.
 */
export function seesProcesses(platform: NodeJS.Platform): boolean {
  try {
    return platform === "linux" && readlinkSync("/proc/self") === String(process.pid);
  } catch {
    return false;
  }
}

/** Call as soon as the leader has started. Throws if the ids could match processes of others. */
export function toTree(leader: number, mark: string, platform: NodeJS.Platform): CommandTree {
  assertMark(mark);
  // For signals, 0 means this process's own group, and -1 all processes.
  if (!(leader > 1) || leader === process.pid)
    throw new Error("A command is a process of its own.");
  if (!seesProcesses(platform)) return { leader, mark, leash: undefined, since: undefined };
  const leash = readLeash(leader) ?? "";
  const since = readStatus(leader)?.started ?? 0;
  return { leader, mark, leash: OPEN_FILE.test(leash) ? leash : undefined, since };
}

/**
 * Yields the command's running processes during the search, the youngest first. The caller can thus
 * signal each at once, before it forks again. Without /proc, yields the group as one entry. Reads
 * all processes of the machine once, about 20 µs each.
 */
function* findProcesses(
  tree: CommandTree,
): Generator<FoundProcess & { readonly isInGroup: boolean }, void> {
  if (tree.since === undefined) {
    if (signalPid(-tree.leader, 0) !== "gone")
      yield { pid: tree.leader, name: "its process group", isInGroup: true };
    return;
  }
  const found = new Set<number>();
  const others: Status[] = [];
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  for (const pid of pids.map(Number).toSorted((a, b) => b - a)) {
    const status = readStatus(pid);
    if (status === undefined || status.started < tree.since || pid === process.pid) continue;
    const isInGroup = status.group === tree.leader;
    if (!isInGroup && !isMarked(pid, tree)) {
      others.push(status);
      continue;
    }
    found.add(pid);
    yield { ...status, isInGroup };
  }
  // Each round finds children of the processes found in the previous one.
  for (let size = 0; size !== found.size;) {
    size = found.size;
    for (const status of others) {
      if (found.has(status.pid) || !found.has(status.parent)) continue;
      found.add(status.pid);
      yield { ...status, isInGroup: false };
    }
  }
}

export interface Signalled {
  readonly reached: readonly FoundProcess[];
  /** Processes of another user, which may not be signalled. */
  readonly refused: readonly FoundProcess[];
}

/**
 * Sends a signal to all processes of the command. Signal 0 only checks that they exist. Processes
 * whose ids are in `asked` are only checked.
 */
export function signalTree(
  tree: CommandTree,
  signal: "SIGTERM" | "SIGKILL" | 0,
  asked?: ReadonlySet<number>,
): Signalled {
  const reached: FoundProcess[] = [];
  const refused: FoundProcess[] = [];
  let hasGroup = false;
  for (const { pid, name, isInGroup } of findProcesses(tree)) {
    hasGroup ||= isInGroup;
    const isLeft = asked === undefined ? isInGroup : asked.has(pid);
    const answer = signalPid(tree.since === undefined ? -pid : pid, isLeft ? 0 : signal);
    if (answer !== "gone") (answer === "sent" ? reached : refused).push({ pid, name });
  }
  // Signal the group as a whole, so that nothing in it can fork in between. Do it last: parents
  // must still exist while their children are searched.
  if (hasGroup && asked === undefined) signalPid(-tree.leader, signal);
  return { reached, refused };
}

function signalPid(pid: number, signal: NodeJS.Signals | 0): "sent" | "refused" | "gone" {
  try {
    process.kill(pid, signal);
    return "sent";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? "refused" : "gone";
  }
}

interface Status extends FoundProcess {
  readonly parent: number;
  readonly group: number;
  readonly started: number;
}

/** Returns undefined for a process that has ended, including zombies. */
function readStatus(pid: number): Status | undefined {
  const text = readText(`/proc/${pid}/stat`);
  // The name is in parentheses and may itself contain some.
  const end = text.lastIndexOf(")");
  const [state = "Z", parent, group, ...rest] = text.slice(end + 2).split(" ");
  if (end === -1 || state === "Z" || state === "X") return undefined;
  const name = text.slice(text.indexOf("(") + 1, end);
  return { pid, name, parent: Number(parent), group: Number(group), started: Number(rest[16]) };
}

function isMarked(pid: number, { leash, mark }: CommandTree): boolean {
  return (
    (leash !== undefined && readLeash(pid) === leash) ||
    readText(`/proc/${pid}/environ`).includes(mark)
  );
}

function readLeash(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/${LEASH}`);
  } catch {
    return undefined;
  }
}

/** Returns "" if the file no longer exists or may not be read. */
function readText(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
