/** The addresses that a process listens on, from Linux's /proc. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const LISTEN = "0A";

/** Returns the local addresses of the listening TCP sockets of a process, as /proc writes them. */
export function listeningAddresses(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  const inodes = new Set(
    readdirSync(folder).flatMap((name) => socketIn(`${folder}/${name}`) ?? []),
  );
  return ["tcp", "tcp6"].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, "utf8")
      .split("\n")
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === LISTEN && inodes.has(inode ?? ""))
      .map(([, local = ""]) => local.split(":")[0] ?? ""),
  );
}

function socketIn(file: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(file))?.[1];
  } catch {
    return undefined; // closed meanwhile
  }
}
