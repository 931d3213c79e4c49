// Every TypeScript block of the documentation for users and every example, compiled as programs of a
// user: against the packed packages, each by itself, under the oldest and the newest compiler and one
// between. `node scripts/published-examples.mjs <tarball>...`; no network.
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compile } from "./compile.mjs";
import { createFolder, link, unpack } from "./unpack.mjs";

/** The compilers, and whether they also compile programs that use the types of other libraries. */
const compilers = { "typescript-5.4": false, "typescript-5.9": true, typescript: true };
/** Their own types need a newer compiler than the oldest that ours do. */
const libraries = /from "(?:arktype|typebox|valibot|hono|@hono\/[\w-]+|ws|zod)"/;

/** What the programs import beside the packages. */
const installed = [
  "@hono/node-server",
  "@types/node",
  "@types/ws",
  "arktype",
  "hono",
  "typebox",
  "undici",
  "valibot",
  "ws",
  "zod",
];

const compilerOptions = {
  target: "esnext",
  lib: ["esnext", "dom"],
  module: "nodenext",
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: ["node"],
};

const folder = createFolder("examples");
try {
  for (const tarball of process.argv.slice(2)) await unpack(tarball, folder.path);
  for (const name of installed) link(name, folder.path);
  writeFileSync(join(folder.path, "package.json"), '{ "type": "module" }');
  const programs = collect();
  const faults = await Promise.all(Object.entries(compilers).map((one) => check(one, programs)));
  const failures = faults.filter(Boolean);
  for (const failure of failures) console.error(failure);
  process.exitCode = failures.length === 0 ? 0 : 1;
} finally {
  folder.remove();
}

/** The programs by the name of their folder. */
function collect() {
  const programs = new Map();
  for (const file of globSync("examples/**/*.{ts,mts}").toSorted())
    programs.set(file.replaceAll(/\W+/g, "-"), readFileSync(file, "utf8"));
  const pages = [...globSync("docs/*.md"), ...globSync("packages/*/README.md"), "README.md"];
  for (const page of pages.toSorted()) {
    // Programs of other libraries are compiled where these are installed: npm run pairs.
    const text = readFileSync(page, "utf8").replaceAll(/^There:\n\n```ts\n.*?^```/gms, "");
    for (const [index, [, code]] of [...text.matchAll(/^```ts\n(.*?)^```/gms)].entries())
      programs.set(`${page.replaceAll(/\W+/g, "-")}-${index + 1}`, code);
  }
  for (const [name, code] of programs) {
    mkdirSync(join(folder.path, name));
    // A module by itself, whatever it imports: what it declares by merging holds for its program only.
    writeFileSync(join(folder.path, name, "main.ts"), `${code}\nexport {};\n`);
    const project = { compilerOptions, files: ["main.ts"] };
    writeFileSync(join(folder.path, name, "tsconfig.json"), JSON.stringify(project));
  }
  return programs;
}

async function check([compiler, withLibraries], programs) {
  const names = [...programs.keys()].filter(
    (name) => withLibraries || !libraries.test(programs.get(name)),
  );
  // One project after the other in one process: `--build` shares nothing else.
  const fault = await compile(compiler, ["--build", ...names], folder.path);
  return fault && `${compiler}:\n${fault}`;
}
