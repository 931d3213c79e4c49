/**
 * Process groups of running commands. A command is the leader of its own group, so that all it started can be ended with it;
 * what puts itself into a group of its own (setsid) is out of reach.
 *
 * This is the one place with module state: a process ends once, for every agent in it, and must leave no command behind.
 */
const live = new Set<number>();
const signals = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/** From now on the group is killed when this process exits. */
export function addGroup(leader: number): void {
  if (live.size === 0) {
    process.on("exit", killAll);
    for (const signal of signals) process.on(signal, onSignal);
  }
  live.add(leader);
}

/** Asks the group to end and kills it after `graceMs`. Done at once if nothing of it is left. */
export function endGroup(leader: number, graceMs: number): void {
  if (!live.has(leader)) return;
  if (!signalGroup(leader, "SIGTERM")) return removeGroup(leader);
  setTimeout(() => {
    if (live.has(leader)) signalGroup(leader, "SIGKILL");
    removeGroup(leader);
  }, graceMs).unref();
}

/** False if the group has no process any more. */
function signalGroup(leader: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}

function removeGroup(leader: number): void {
  live.delete(leader);
  if (live.size > 0) return;
  process.off("exit", killAll);
  for (const signal of signals) process.off(signal, onSignal);
}

function killAll(): void {
  for (const leader of live) signalGroup(leader, "SIGKILL");
}

/** A process that does not handle a signal dies of it without an `exit` event. One that does decides for itself. */
function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  killAll();
  process.off(signal, onSignal);
  process.kill(process.pid, signal);
}
