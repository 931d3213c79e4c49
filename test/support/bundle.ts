/**
 * Bundles programs that tests start many times. A bundle starts in half the time, because Node
 * need not find, read and link hundreds of modules.
 */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { packages } from "../../scripts/layers.ts";

export interface BundleOptions {
  /** The source files by the names of their bundles: `{ main: "…/main.ts" }` makes `main.js`. */
  readonly programs: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Packages that the programs import from `node_modules`. Default none. */
  readonly external?: readonly string[];
}

/** Writes the bundles of the current source. Packages of this repository are part of them. */
export async function bundle({ programs, folder, external = [] }: BundleOptions): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: { ...programs },
    outdir: folder,
    external: [...external],
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    conditions: ["@bowline/source"],
    keepNames: true,
    write: false,
    logLevel: "error",
  });
  await mkdir(folder, { recursive: true });
  for (const { path, contents } of outputFiles) await replace(path, contents);
}

/** Replaces a file at once, since a process of another test run may be reading it. */
async function replace(path: string, contents: Uint8Array): Promise<void> {
  const old = await readFile(path).catch(() => undefined);
  if (old?.equals(contents) === true) return;
  const whole = `${path}-${process.pid}`;
  await writeFile(whole, contents);
  await rename(whole, path);
}

const root = join(import.meta.dirname, "../..");

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/**
 * Bundles the command, and returns the path of the program. Its dependencies are not part of it, as
 * in the published package.
 */
export async function bundleCommand(): Promise<string> {
  const own = join(root, "packages/bowline");
  const manifest = await readFile(join(own, "package.json"), "utf8");
  const { dependencies, peerDependencies } = JSON.parse(manifest) as Manifest;
  // At this depth the command finds its package.json and its dependencies.
  const folder = join(own, "node_modules/.command");
  await bundle({
    folder,
    programs: {
      main: join(own, "src/cli/main.ts"),
      "search-worker": join(own, "src/tools/search-worker.ts"),
    },
    external: [
      ...Object.keys(dependencies).filter((name) => !name.startsWith("@bowline/")),
      ...Object.keys(peerDependencies),
      ...(packages.bowline?.loads ?? []),
    ],
  });
  return join(folder, "main.js");
}
