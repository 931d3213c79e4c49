/**
 * Runs commands in bubblewrap, if the system has it: the file system is read-only except the working
 * directory and a private /tmp, there is no network, and the processes have a namespace of their
 * own, which ends with the command.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { LEASH } from "./command-tree.ts";
import { isInside } from "./inside.ts";
import { hiddenSockets, readOnlyPlaces } from "./sandbox-places.ts";

/** The setting: `auto` uses a sandbox where there is one, `required` refuses to run without. */
export type SandboxChoice = "off" | "auto" | "required";

export type Sandbox =
  | { readonly kind: "off" }
  /** There is no sandbox. Commands are refused if one is required. */
  | { readonly kind: "missing"; readonly why: string; readonly isRequired: boolean }
  | {
      readonly kind: "bubblewrap";
      readonly program: string;
      /** See {@link OpenSandboxOptions.readOnly}. */
      readonly readOnly?: readonly string[];
    };

export interface OpenSandboxOptions {
  readonly choice: SandboxChoice;
  /** The working directory. */
  readonly root: string;
  /**
   * Absolute paths of folders that commands may not change although they are in the working
   * directory. They are created. Default none.
   */
  readonly readOnly?: readonly string[];
  /** Folders that may hold bubblewrap. Default: those of the system, and never the search path. */
  readonly folders?: readonly string[];
  /** Default: the current platform. */
  readonly platform?: NodeJS.Platform;
}

const PROBE_MS = 5_000;
const systemFolders = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

/** Finds a sandbox and tries it once. Never rejects. */
export async function openSandbox(options: OpenSandboxOptions): Promise<Sandbox> {
  const { choice, root, folders = systemFolders, platform = process.platform } = options;
  const { readOnly = [] } = options;
  if (choice === "off") return { kind: "off" };
  const missing = (why: string): Sandbox => ({
    kind: "missing",
    why,
    isRequired: choice === "required",
  });
  if (platform !== "linux") return missing(`there is none for ${platform}`);
  if (root === "/") return missing("the working directory is /");
  const program = folders.map((folder) => join(folder, "bwrap")).find((path) => existsSync(path));
  if (program === undefined) return missing("bubblewrap is not installed");
  if (readOnly.map(realPath).includes(root))
    return missing("the working directory may not be changed");
  const inside = readOnly.map(realPath).filter((path) => isInside(root, path));
  try {
    for (const path of inside) mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    return missing((error as Error).message);
  }
  const sandbox = { kind: "bubblewrap", program, readOnly: inside } as const;
  const args = [...sandboxCommand(sandbox, { root }).slice(1), "/bin/sh", "-c", "exit 0"];
  const problem = await new Promise<string | undefined>((resolve) => {
    execFile(program, args, { cwd: "/", timeout: PROBE_MS }, (error, _, stderr) => {
      resolve(error === null ? undefined : (stderr.trim().split("\n")[0] ?? "") || error.message);
    });
  });
  return problem === undefined ? sandbox : missing(`bubblewrap does not work here: ${problem}`);
}

function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** Returns why commands are refused; undefined if they may run. */
export function whyRefused(sandbox: Sandbox | undefined): string | undefined {
  if (sandbox?.kind !== "missing" || !sandbox.isRequired) return undefined;
  return `The settings require a sandbox, and ${sandbox.why}`;
}

/** Describes the sandbox in a few words, for a status line. */
export function sandboxStatus(sandbox: Sandbox): string {
  switch (sandbox.kind) {
    case "off":
      return "sandbox: off";
    case "missing":
      return `sandbox: none (${sandbox.why})`;
    case "bubblewrap":
      return "sandbox: bubblewrap";
  }
}

export interface SandboxPlaces {
  /** The working directory, absolute and without links. */
  readonly root: string;
  /** A folder that commands may read although it is in /tmp or /run. */
  readonly readable?: string | undefined;
}

/** Returns the program and the arguments that come before a command; empty without a sandbox. */
export function sandboxCommand(
  sandbox: Sandbox | undefined,
  { root, readable }: SandboxPlaces,
): readonly string[] {
  if (sandbox?.kind !== "bubblewrap") return [];
  const base = "--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp";
  const limits =
    "--unshare-net --unshare-pid --unshare-ipc --unshare-uts --cap-drop ALL --die-with-parent";
  return [
    sandbox.program,
    ...base.split(" "),
    // Sockets of services such as Docker are in /run.
    ...(existsSync("/run") ? ["--tmpfs", "/run"] : []),
    ...(readable !== undefined && existsSync(readable) ? ["--ro-bind", readable, readable] : []),
    "--bind",
    root,
    root,
    ...readOnlyPlaces(root, sandbox.readOnly ?? []),
    ...hiddenSockets(root),
    ...limits.split(" "),
    "--chdir",
    root,
    "--",
    ...withoutDescriptors(),
  ];
}

/** Closes descriptors that this process inherited: one of a folder leads out of the sandbox. */
function withoutDescriptors(): readonly string[] {
  const shell = ["/bin/bash", "/usr/bin/bash"].find((path) => existsSync(path));
  if (shell === undefined) return [];
  const close = `for fd in /proc/self/fd/*; do fd=\${fd##*/}
    [ "$fd" -le 2 ] || [ "$fd" = ${LEASH} ] || eval "exec $fd>&-"
  done; exec "$@"`;
  return [shell, "-c", close, "bash"];
}
