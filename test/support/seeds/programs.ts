/**
 * Programs as users write them, in a folder outside the repository with the packages installed as
 * published, built from the current source. Each program is type-checked separately, because a
 * merged declaration applies to a whole program. It runs as a separate process, with requests to
 * every other host redirected to a loopback server.
 */
import { copyFile, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProgram, type Output } from "../start-program.ts";

const root = join(import.meta.dirname, "../../..");
const tsc = join(root, "node_modules/typescript/bin/tsc");
/** Time limit of a program, in milliseconds. */
const timeout = 60_000;

export interface Programs extends AsyncDisposable {
  /** Writes a program into the folder `name`. */
  add(name: string, code: string): Promise<void>;
  /** Returns the compiler's errors by program name. Programs without errors are absent. */
  check(): Promise<ReadonlyMap<string, readonly string[]>>;
  /**
   * Runs a program in its folder. Requests to any host go to `server`, with the host in `x-host`;
   * no request leaves the machine.
   */
  run(name: string, server?: string): Promise<Output>;
}

/** A user's strict settings, and nothing else. */
const tsconfig = {
  compilerOptions: {
    target: "ES2023",
    lib: ["ESNext", "DOM"],
    module: "nodenext",
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ["node"],
  },
  files: ["main.ts"],
};

/** Creates the folder. `packages` names folders in `packages/` to install besides core. */
export async function createPrograms(...packages: readonly string[]): Promise<Programs> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "bowline-programs-")));
  await install(folder, packages);
  const names: string[] = [];
  return {
    async add(name, code) {
      names.push(name);
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, "tsconfig.json"), JSON.stringify(tsconfig));
      await writeFile(join(folder, name, "main.ts"), code);
    },
    async check() {
      const { stdout, stderr } = await startProgram(tsc, ["-b", "--pretty", "false", ...names], {
        cwd: folder,
        timeout,
      });
      const found = new Map<string, string[]>();
      for (const line of stdout.split("\n").filter((text) => /^\S/.test(text))) {
        const name = names.find((candidate) => line.startsWith(`${candidate}/`));
        if (name === undefined) throw new Error(`tsc failed: ${stdout}${stderr}`);
        found.set(name, [...(found.get(name) ?? []), line]);
      }
      return found;
    },
    run: (name, server = "http://127.0.0.1:1") =>
      startProgram(process.execPath, ["--import", redirectTo(server), "main.ts"], {
        timeout,
        cwd: join(folder, name),
        // Many programs import the same files, so they share a compile cache.
        env: { ...process.env, NO_COLOR: "1", NODE_COMPILE_CACHE: join(folder, "cache") },
      }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Installs the built packages, and what programs import besides them, into `node_modules`. */
async function install(folder: string, packages: readonly string[]): Promise<void> {
  await mkdir(join(folder, "node_modules"));
  for (const name of ["@types", "arktype", "hono", "typebox", "undici", "valibot", "zod"]) {
    await symlink(join(root, "node_modules", name), join(folder, "node_modules", name), "dir");
  }
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await build(folder, "core", "packages/core", "packages/core/tsconfig.node.json");
  for (const name of packages) await build(folder, name, `packages/${name}`);
}

/** Builds `@bowline/<name>` from these TypeScript projects. */
async function build(folder: string, name: string, ...projects: string[]): Promise<void> {
  const installed = join(folder, "node_modules/@bowline", name);
  await mkdir(installed, { recursive: true });
  await copyFile(join(root, "packages", name, "package.json"), join(installed, "package.json"));
  const outDir = ["--outDir", join(installed, "dist")];
  const options = [...outDir, "--composite", "false", "--incremental", "false", "--noCheck"];
  for (const project of projects) {
    const { code, stdout } = await startProgram(tsc, ["-p", join(root, project), ...options], {
      cwd: root,
      timeout,
    });
    if (code !== 0) throw new Error(`${project} was not built: ${stdout}`);
  }
}

function redirectTo(server: string): string {
  const code = `const real = fetch;
globalThis.fetch = (url, init) => {
  const { host, hostname, pathname } = new URL(url);
  if (hostname === "127.0.0.1") return real(url, init); // a server of the program's own
  const headers = new Headers(init.headers);
  headers.set("x-host", host);
  return real(${JSON.stringify(server)} + pathname, { ...init, headers });
};`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}
