/**
 * Programs as users write them, in a folder outside the repository with the packages installed as
 * published, built from the current source. Of the dependencies of `bowline` only those of its
 * tools are installed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const repository = join(import.meta.dirname, "../../../..");
const tsc = join(repository, "node_modules/typescript/bin/tsc");
const timeout = 60_000;

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Installed extends Disposable {
  readonly path: string;
  /** Writes a program into a separate folder, in which it runs. */
  add(name: string, code: string): void;
  /** Returns the compiler's errors for all programs, with a user's strict settings. */
  check(): Promise<string>;
  run(
    name: string,
    options?: { readonly args?: readonly string[]; readonly env?: Record<string, string> },
  ): Promise<Ran>;
}

export async function install(): Promise<Installed> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "bowline-installed-")));
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@types"), { recursive: true });
  for (const name of ["@types/node", "undici-types", "ignore", "tinyglobby"])
    symlinkSync(join(repository, "node_modules", name), join(modules, name), "dir");
  const packages = { core: "@bowline/core", compat: "@bowline/compat", bowline: "bowline" };
  for (const [name, installed] of Object.entries(packages)) {
    mkdirSync(join(modules, installed), { recursive: true });
    copyFileSync(
      join(repository, "packages", name, "package.json"),
      join(modules, installed, "package.json"),
    );
  }
  const options = ["--composite", "false", "--incremental", "false", "--noCheck", "--outDir"];
  const build = async (project: string, name: string): Promise<void> => {
    const { code, stdout } = await start(
      tsc,
      ["-p", project, ...options, join(modules, name, "dist")],
      repository,
    );
    if (code !== 0) throw new Error(`${project} was not built: ${stdout}`);
  };
  await build("packages/core", "@bowline/core");
  await build("packages/core/tsconfig.node.json", "@bowline/core");
  await build("packages/compat", "@bowline/compat");
  await build("packages/bowline", "bowline");
  const compilerOptions = {
    target: "ES2023",
    lib: ["ESNext", "DOM"],
    module: "nodenext",
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
  };
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, include: ["*/main.ts"] }),
  );
  return {
    path: folder,
    add(name, code) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, "main.ts"), code);
    },
    check: async () => (await start(tsc, ["-p", ".", "--pretty", "false"], folder)).stdout,
    run: (name, { args = [], env = {} } = {}) =>
      start(process.execPath, [...args, "main.ts"], join(folder, name), { NO_COLOR: "1", ...env }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function start(
  program: string,
  args: string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<Ran> {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    timeout,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}
