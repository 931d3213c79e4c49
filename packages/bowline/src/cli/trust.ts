/** `bowline trust`: decides which folders may bring settings, servers, hooks, commands, skills and agents. */
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { CommandError, UsageError } from "../command-error.ts";
import { loadProject, type Project } from "../project/project.ts";
import { oneLine } from "../terminal.ts";
import { createTrustStore, type TrustStore } from "../trust/trust-store.ts";
import { ask } from "./ask.ts";
import { exitCode } from "./exit.ts";
import { trustHelp } from "./help.ts";
import { parseTrustOptions, type TrustOptions } from "./trust-options.ts";

/** Returns the exit code. Throws `UsageError` and `CommandError` for errors that fit one line. */
export async function trust(args: readonly string[], host: NodeJS.Process): Promise<number> {
  const options = parseTrustOptions(args);
  const store = createTrustStore({ env: host.env });
  if (options.help) {
    host.stdout.write(trustHelp());
    return exitCode.done;
  }
  switch (options.action) {
    case "list":
      return list(store, host);
    case "remove":
      return remove(store, options, host);
    case "trust":
      return decide(store, options, host);
  }
}

async function list(store: TrustStore, { stdout }: NodeJS.Process): Promise<number> {
  for (const { folder, since, items } of await store.list()) {
    const day = new Date(since).toISOString().slice(0, 10);
    stdout.write(`${oneLine(folder, 1000)}  (${day}, ${countText(items.length)})\n`);
  }
  return exitCode.done;
}

async function remove(
  store: TrustStore,
  { folder = "." }: TrustOptions,
  host: NodeJS.Process,
): Promise<number> {
  const { stderr } = host;
  const given = resolve(host.cwd(), folder);
  // The folder may be gone, and the working directory may be below the project's root.
  const real = await realpath(given).catch(() => given);
  const known = (await store.list())
    .map((one) => one.folder)
    .filter((one) => real === one || real.startsWith(`${one}/`))
    .toSorted((a, b) => b.length - a.length);
  const [nearest] = known;
  if (nearest === undefined || !(await store.remove(nearest))) {
    stderr.write(`bowline: ${oneLine(real, 1000)} was not trusted\n`);
    return exitCode.failed;
  }
  stderr.write(`bowline: ${oneLine(nearest, 1000)} is no longer trusted\n`);
  return exitCode.done;
}

async function decide(
  store: TrustStore,
  { folder = ".", yes }: TrustOptions,
  host: NodeJS.Process,
): Promise<number> {
  const { stdin, stdout, stderr } = host;
  const project = await open(resolve(host.cwd(), folder), host);
  const { root, wouldTakeEffect: items, trust: state } = project;
  const name = oneLine(root, 1000);
  if (items.length === 0) {
    stderr.write(`bowline: ${name} has nothing that needs trust\n`);
    return exitCode.done;
  }
  for (const line of itemLines(project)) stdout.write(`${line}\n`);
  if (state === "trusted") {
    stderr.write(`bowline: ${name} is trusted\n`);
    return exitCode.done;
  }
  if (!yes) {
    if (!stdin.isTTY || !stderr.isTTY)
      throw new UsageError(`There is no terminal to ask on: --yes trusts ${name}.`);
    const terminal = { input: stdin, output: stderr };
    const answer = await ask(`Trust ${name} with these files? [y]es, [N]o: `, terminal, () => {});
    if (answer !== "y" && answer !== "yes") {
      stderr.write("bowline: nothing was changed\n");
      return exitCode.failed;
    }
  }
  await store.trust(root, items);
  stderr.write(`bowline: ${name} is trusted (${countText(items.length)})\n`);
  return exitCode.done;
}

async function open(directory: string, { env }: NodeJS.Process): Promise<Project> {
  try {
    return await loadProject({ directory, env, now: new Date() });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof CommandError || code === undefined) throw error;
    throw new CommandError(`${oneLine(directory, 500)} cannot be read (${code}).`);
  }
}

/**
 * Lists kind, path and the beginning of the hash, with what changed since the last time; then the
 * servers and hooks.
 */
function itemLines({ wouldTakeEffect, changes, trust: state, programs }: Project): string[] {
  const files = wouldTakeEffect.map(({ kind, path, hash }) => {
    const change = changes.find((one) => one.startsWith(`${path} `))?.slice(path.length + 1);
    const mark = state !== "changed" || change === undefined ? "" : `  (${change})`;
    return `${kind.padEnd(8)}  ${hash.slice(0, 12)}  ${oneLine(path, 500)}${mark}`;
  });
  return [...files, ...programs.map((line) => `starts or reaches  ${line}`)];
}

function countText(count: number): string {
  return `${count} file${count === 1 ? "" : "s"}`;
}
