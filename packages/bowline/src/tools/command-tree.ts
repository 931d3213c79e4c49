/**
 * What a command has started. That is its process group and, on Linux, also what left the group
 * (setsid) and lost its parent, known by two things that processes inherit: a mark in the
 * environment, and an open descriptor, the leash. And the children of all these. Out of sight is
 * only what left the group, wiped its environment and closed the descriptor; that takes intent, and
 * a sandbox to stop it.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface CommandTree {
  /** The process that leads the group. */
  readonly leader: number;
  /** A word that no other command has; it stands in the environment of this one. */
  readonly mark: string;
  /** The name of the open file under {@link LEASH}, if it could be learned. */
  readonly leash: string | undefined;
  /**
   * When the leader started, in the kernel's ticks since boot; what is older is not of this
   * command. Absent when nothing is shown.
   */
  readonly since: number | undefined;
}

export interface FoundProcess {
  readonly pid: number;
  /** As the kernel has it: at most 15 bytes, chosen by the process itself. */
  readonly name: string;
}

/** The variable that holds the marks of the commands around a process, the innermost last. */
export const MARK_VARIABLE = "BOWLINE_COMMAND";

/**
 * The descriptor that a command inherits as its leash: a number that scripts do not use for their
 * own.
 */
export const LEASH = 19;

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const OPEN_FILE = /^(?:socket|pipe):\[\d+\]$/;

/**
 * Throws unless it is a random UUID: anything shorter might stand in the environment of any
 * process, which would be ended for it.
 */
export function assertMark(mark: string): void {
  if (!UUID.test(mark)) throw new Error("The mark of a command is a UUID.");
}

/**
 * Whether the system shows processes with what they inherited, and by the ids that this process
 * knows them by (namespaces).
 */
export function seesProcesses(platform: NodeJS.Platform): boolean {
  try {
    return platform === "linux" && readlinkSync("/proc/self") === String(process.pid);
  } catch {
    return false;
  }
}

/**
 * To be called as soon as the leader was started. Throws for what could stand for the processes of
 * others.
 */
export function toTree(leader: number, mark: string, platform: NodeJS.Platform): CommandTree {
  assertMark(mark);
  // To signals, 0 is this process's own group, and -1 everyone.
  if (!(leader > 1) || leader === process.pid)
    throw new Error("A command is a process of its own.");
  if (!seesProcesses(platform)) return { leader, mark, leash: undefined, since: undefined };
  const leash = readLeash(leader) ?? "";
  const since = readStatus(leader)?.started ?? 0;
  return { leader, mark, leash: OPEN_FILE.test(leash) ? leash : undefined, since };
}

/**
 * What of the command runs, found while it is iterated, the youngest first: whoever ends each at
 * once gets ahead of one that forks. Elsewhere than on Linux the group stands for all. One pass
 * over the processes of the machine, about 20 µs each.
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
  // Each round finds the children of what the one before found.
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
  /** What may not be signalled: it runs as somebody else. */
  readonly refused: readonly FoundProcess[];
}

/** Signal 0 only looks. With `asked`, only those whose ids are not in it get the signal. */
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
  // The group whole, so that nothing in it can fork in between; last, so that parents were there to
  // be seen.
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

/** Nothing for a process that has ended, also when nobody has collected it yet. */
function readStatus(pid: number): Status | undefined {
  const text = readText(`/proc/${pid}/stat`);
  // The name stands in parentheses and may hold some itself.
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

/** "" for what is gone by now, or nobody's business. */
function readText(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
