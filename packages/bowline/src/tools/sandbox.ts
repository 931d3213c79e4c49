/**
 * Runs commands in bubblewrap, if the system has it: the file system is read-only except the working
 * directory and a private /tmp, there is no network, and the processes have a namespace of their
 * own, which ends with the command.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** The setting: `auto` uses a sandbox where there is one, `required` refuses to run without. */
export type SandboxChoice = "off" | "auto" | "required";

export type Sandbox =
  | { readonly kind: "off" }
  /** There is no sandbox. Commands are refused if one is required. */
  | { readonly kind: "missing"; readonly why: string; readonly isRequired: boolean }
  | { readonly kind: "bubblewrap"; readonly program: string };

export interface OpenSandboxOptions {
  readonly choice: SandboxChoice;
  /** The working directory. */
  readonly root: string;
  /** Folders that may hold bubblewrap. Default: those of the system, and never the search path. */
  readonly folders?: readonly string[];
  /** Default: the current platform. */
  readonly platform?: NodeJS.Platform;
}

const PROBE_MS = 5_000;
const systemFolders = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

/** Files of the working directory that take effect outside the sandbox. */
const protectedFiles = [
  ".git/hooks",
  ".git/config",
  "bowline.json",
  "bowline.local.json",
  ".bowline",
];

/** Finds a sandbox and tries it once. Never rejects. */
export async function openSandbox(options: OpenSandboxOptions): Promise<Sandbox> {
  const { choice, root, folders = systemFolders, platform = process.platform } = options;
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
  const sandbox = { kind: "bubblewrap", program } as const;
  const args = [...sandboxCommand(sandbox, { root }).slice(1), "/bin/sh", "-c", "exit 0"];
  const problem = await new Promise<string | undefined>((resolve) => {
    execFile(program, args, { cwd: "/", timeout: PROBE_MS }, (error, _, stderr) => {
      resolve(error === null ? undefined : (stderr.trim().split("\n")[0] ?? "") || error.message);
    });
  });
  return problem === undefined ? sandbox : missing(`bubblewrap does not work here: ${problem}`);
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
  const fixed = protectedFiles.map((file) => join(root, file)).filter((path) => existsSync(path));
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
    ...fixed.flatMap((path) => ["--ro-bind", path, path]),
    ...limits.split(" "),
    "--chdir",
    root,
    "--",
  ];
}
