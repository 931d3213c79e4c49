/**
 * Hosts with addresses of their own on this machine: network namespaces that a bridge joins. A link between
 * two hosts is cut by giving each a wrong hardware address of the other: packets are lost without an error,
 * connections stay open, and go on when the link is healed.
 */
import { execFile, execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";

const execute = promisify(execFile);
const NOBODY = "02:00:00:00:00:99";
/** The number of the first host in its network. 1 is the drill itself. */
const FIRST = 2;

export interface Host {
  readonly name: string;
  readonly address: string;
  /** Comes before a command, so that it runs on the host. */
  readonly prefix: readonly string[];
}

/** The reason why this machine has no such hosts, or false. */
export function networkIsMissing(): string | false {
  if (process.platform !== "linux") return "network namespaces are Linux's";
  const name = `bdtest${process.pid}`;
  try {
    execFileSync("ip", ["netns", "add", name], { stdio: "pipe" });
    execFileSync("ip", ["link", "add", name, "type", "bridge"], { stdio: "pipe" });
    execFileSync("ip", ["link", "del", name], { stdio: "pipe" });
    return false;
  } catch (error) {
    const { stderr, message } = error as Error & { readonly stderr?: Buffer };
    return `network namespaces cannot be made here: ${(stderr?.toString() || message).trim()}`;
  } finally {
    try {
      execFileSync("ip", ["netns", "del", name], { stdio: "pipe" });
    } catch {
      // it was not made
    }
  }
}

export class Network implements AsyncDisposable {
  /** The address of the drill's own process. */
  readonly address: string;
  readonly #id: string;
  readonly #subnet: string;
  readonly #hosts = new Map<string, Host>();
  readonly #cuts = new Set<string>();
  #watcher: ChildProcess | undefined;

  constructor() {
    // Different for drills at the same time. Names of interfaces have at most 15 characters.
    this.#id = `bd${process.pid.toString(36)}`;
    this.#subnet = `10.${64 + (process.pid % 128)}.${(process.pid >> 7) % 256}`;
    this.address = `${this.#subnet}.1`;
  }

  async open(names: readonly string[]): Promise<void> {
    this.#watch(names.length);
    await ip("link", "add", this.#id, "type", "bridge");
    await ip("addr", "add", `${this.address}/24`, "dev", this.#id);
    await ip("link", "set", this.#id, "up");
    for (const [index, name] of names.entries()) {
      const namespace = `${this.#id}-${index}`;
      const address = `${this.#subnet}.${FIRST + index}`;
      await ip("netns", "add", namespace);
      await ip(
        "link",
        "add",
        namespace,
        "type",
        "veth",
        "peer",
        "name",
        "eth0",
        "netns",
        namespace,
      );
      await ip("link", "set", namespace, "master", this.#id, "up");
      await ip("-n", namespace, "addr", "add", `${address}/24`, "dev", "eth0");
      await ip("-n", namespace, "link", "set", "eth0", "up");
      await ip("-n", namespace, "link", "set", "lo", "up");
      this.#hosts.set(name, { name, address, prefix: ["ip", "netns", "exec", namespace] });
    }
  }

  host(name: string): Host {
    const host = this.#hosts.get(name);
    if (host === undefined) throw new Error(`There is no host ${name}.`);
    return host;
  }

  /** Cuts the link between two hosts, in both directions. `drill` is this process. */
  async cut(one: string, other: string): Promise<void> {
    this.#cuts.add(keyOf(one, other));
    await Promise.all([this.#lose(one, other), this.#lose(other, one)]);
  }

  async heal(one: string, other: string): Promise<void> {
    if (!this.#cuts.delete(keyOf(one, other))) return;
    await Promise.all([this.#find(one, other), this.#find(other, one)]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const watcher = this.#watcher;
    if (watcher === undefined) return;
    watcher.ref();
    watcher.stdin?.end();
    if (watcher.exitCode === null) await once(watcher, "exit");
  }

  #lose(from: string, to: string): Promise<void> {
    const { address } = this.#addressOf(to);
    return this.#on(from, ["neigh", "replace", address, "lladdr", NOBODY, "nud", "permanent"]);
  }

  #find(from: string, to: string): Promise<void> {
    return this.#on(from, ["neigh", "del", this.#addressOf(to).address]);
  }

  #on(name: string, args: readonly string[]): Promise<void> {
    const { namespace } = this.#addressOf(name);
    return namespace === undefined
      ? ip(...args, "dev", this.#id)
      : ip("-n", namespace, ...args, "dev", "eth0");
  }

  #addressOf(name: string): { readonly address: string; readonly namespace: string | undefined } {
    if (name === "drill") return { address: this.address, namespace: undefined };
    const { address, prefix } = this.host(name);
    return { address, namespace: prefix.at(-1) };
  }

  /** A process that removes everything when this one ends, in whatever way. */
  #watch(count: number): void {
    const script = `read -r _; for i in $(seq 0 $(($2 - 1))); do ip link del "$1-$i"; ip netns del "$1-$i"; done; ip link del "$1"`;
    const child = spawn("/bin/sh", ["-c", script, "sh", this.#id, String(count)], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    child.unref();
    (child.stdin as unknown as { unref(): void }).unref();
    this.#watcher = child;
  }
}

function keyOf(one: string, other: string): string {
  return [one, other].toSorted().join(" ");
}

async function ip(...args: readonly string[]): Promise<void> {
  await execute("ip", [...args]);
}
