/**
 * Branch and state of a git repository. The repository may come from a stranger, whose
 * configuration can name programs for git to run. Git is therefore started only if the
 * configuration has nothing that could.
 */
import { execFile } from "node:child_process";
import { delimiter, isAbsolute, join, resolve as resolvePath } from "node:path";
import { lstat, realpath } from "node:fs/promises";
import { withoutSecrets } from "../environment.ts";
import { isInFolder, readBounded } from "../settings/bounded-file.ts";

export interface GitFacts {
  /** Undefined on a detached head. */
  readonly branch?: string;
  /** Changed files. Undefined if git could not be asked. */
  readonly changed?: number;
  /** Untracked files and folders. */
  readonly untracked?: number;
}

export interface GitOptions {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default 800. */
  readonly timeoutMs?: number;
}

/** Settings for one command. The user's own filter for large files reads settings of the project. */
const overrides: readonly string[] = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "protocol.allow=never",
  "filter.lfs.clean=",
  "filter.lfs.smudge=",
  "filter.lfs.process=",
  "filter.lfs.required=false",
];
const MAX_OUTPUT = 1024 * 1024;

/**
 * Sections of a configuration that name no program. `filter` does, and so does any file that is
 * included. `core` is limited to the names below.
 */
const harmlessSections: ReadonlySet<string> = new Set(
  "core remote branch user init pull push fetch color advice gui lfs commit merge rebase submodule".split(
    " ",
  ),
);
const harmlessCore: ReadonlySet<string> = new Set(
  "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf quotepath untrackedcache hidedotfiles protectntfs protecthfs".split(
    " ",
  ),
);

/** Returns undefined outside of a repository. Never rejects. */
export async function readGitFacts(options: GitOptions): Promise<GitFacts | undefined> {
  const own = join(options.root, ".git");
  const found = await lstat(own).catch(() => undefined);
  const folder = found?.isDirectory() === true ? own : await linkedFolder(options.root);
  if (folder === undefined) return undefined;
  const head = await readBounded(join(folder, "HEAD"), folder, 4096);
  if (head.kind !== "text") return undefined;
  const branch = /^ref: refs\/heads\/([^\s~^:?*[\\\p{Cc}\p{Cf}]{1,200})\s*$/u.exec(head.text)?.[1];
  const state =
    folder === own && (await isHarmless(folder)) ? await status(options, folder) : undefined;
  return { ...(branch !== undefined && { branch }), ...state };
}

/**
 * Returns the folder of a linked work tree, whose `.git` is a file. The folder must name the work
 * tree too; without that, a stranger's file could point at any repository of the user.
 */
async function linkedFolder(root: string): Promise<string | undefined> {
  const own = join(root, ".git");
  const file = await readBounded(own, root, 4096);
  const named = file.kind === "text" ? /^gitdir: (.+)\s*$/.exec(file.text)?.[1] : undefined;
  if (named === undefined) return undefined;
  const folder = await realpath(resolvePath(root, named)).catch(() => undefined);
  if (folder === undefined) return undefined;
  const back = await readBounded(join(folder, "gitdir"), folder, 4096);
  return back.kind === "text" && back.text.trim() === own ? folder : undefined;
}

async function isHarmless(folder: string): Promise<boolean> {
  const config = await readBounded(join(folder, "config"), folder);
  // Settings of a work tree come on top, and git reads those of a common folder instead.
  const isAlone = await Promise.all(
    ["config.worktree", "commondir"].map(async (name) => isMissing(join(folder, name))),
  );
  return config.kind === "text" && isAlone.every(Boolean) && isHarmlessConfig(config.text);
}

async function isMissing(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

/** Returns true if a configuration cannot make `git status` run a program or read elsewhere. */
function isHarmlessConfig(text: string): boolean {
  let section = "";
  for (const line of text.split("\n").map((one) => one.trim())) {
    if (line === "" || line.startsWith("#") || line.startsWith(";")) continue;
    // A line that goes on could hide a name.
    if (line.endsWith("\\")) return false;
    const header = /^\[([\w.-]+)(?:\s+"[^"]*")?\]$/.exec(line)?.[1];
    if (header !== undefined) {
      section = header.toLowerCase();
      if (!harmlessSections.has(section)) return false;
      continue;
    }
    const name = /^([A-Za-z][\w-]*)\s*(?:=|$)/.exec(line)?.[1]?.toLowerCase();
    if (name === undefined || section === "") return false;
    if (section === "core" && !harmlessCore.has(name)) return false;
    if (section === "remote" && /pack$|^promisor$|partial|vcs/.test(name)) return false;
  }
  return true;
}

function status(
  { root, env, timeoutMs = 800 }: GitOptions,
  folder: string,
): Promise<Pick<GitFacts, "changed" | "untracked"> | undefined> {
  const args = [
    "--no-optional-locks",
    ...overrides.flatMap((setting) => ["-c", setting]),
    "status",
    "--porcelain",
    "-z",
    "--no-renames",
    "--ignore-submodules=all",
    "--untracked-files=normal",
  ];
  const options = {
    cwd: root,
    env: gitEnvironment(env, root, folder),
    timeout: timeoutMs,
    killSignal: "SIGKILL" as const,
    maxBuffer: MAX_OUTPUT,
    windowsHide: true,
  };
  return new Promise((resolve) => {
    try {
      execFile("git", args, options, (error, stdout) => {
        const entries = stdout.split("\0").filter((entry) => entry !== "");
        const untracked = entries.filter((entry) => entry.startsWith("??")).length;
        resolve(error === null ? { changed: entries.length - untracked, untracked } : undefined);
      });
    } catch {
      resolve(undefined);
    }
  });
}

/**
 * Removes secrets, the caller's git variables and folders of the project from the environment: a
 * program named git in it must not be found.
 */
function gitEnvironment(
  env: GitOptions["env"],
  root: string,
  folder: string,
): Record<string, string> {
  const clean = Object.entries(withoutSecrets(env)).filter(([name]) => !/^GIT_/i.test(name));
  const path = (env.PATH ?? "")
    .split(delimiter)
    .filter((entry) => isAbsolute(entry) && !isInFolder(root, entry))
    .join(delimiter);
  return {
    ...Object.fromEntries(clean),
    PATH: path,
    GIT_DIR: folder,
    GIT_COMMON_DIR: folder, // a file commondir that appears meanwhile has no effect
    GIT_WORK_TREE: root,
    GIT_NO_LAZY_FETCH: "1",
    GIT_TERMINAL_PROMPT: "0",
    LC_ALL: "C",
  };
}
