/** The environment of a server's process: safe variables of this one, and the entry's own. */
import type { Environment } from "../config/expand.ts";

/** Variables that programs need in order to run, and that hold no secrets. */
const safe: readonly string[] = [
  "HOME",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "LOGNAME",
  "PATH",
  "SHELL",
  "TERM",
  "TMPDIR",
  "TZ",
  "USER",
  // Windows
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "PROGRAMFILES(X86)",
  "PROGRAMW6432",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
  "WINDIR",
];

/** Returns the safe variables, overridden by `own`. Other variables, such as keys, are left out. */
export function childEnvironment(
  env: Environment,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const kept = Object.entries(env).filter(
    // A value that begins with "()" is a function of a shell.
    ([name, value]) => safe.includes(name.toUpperCase()) && value?.startsWith("()") === false,
  );
  return { ...(Object.fromEntries(kept) as Record<string, string>), ...own };
}
