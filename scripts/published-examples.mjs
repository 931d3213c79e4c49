// Compiles every TypeScript block of the user documentation and every example against the packed
// packages. Each is a separate program, compiled with the oldest, the newest and one intermediate
// compiler. `node scripts/published-examples.mjs <tarball>...`; needs no network.
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compile } from "./compile.mjs";
import { createFolder, link, unpack } from "./unpack.mjs";

/** The compilers, and whether each also compiles programs that use types of other libraries. */
const compilers = { "typescript-5.4": false, "typescript-5.9": true, typescript: true };
/** The types of these libraries need a newer compiler than ours. */
const libraries = /from "(?:arktype|express|typebox|valibot|hono|@hono\/[\w-]+|ws|zod)"/;

/** Further packages that the programs import. */
const installed = [
  "@hono/node-server",
  "@modelcontextprotocol/client",
  "@types/express",
  "@types/node",
  "@types/ws",
  "arktype",
  "express",
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

/** Returns the programs by folder name. */
function collect() {
  const programs = new Map();
  for (const file of globSync("examples/**/*.{ts,mts}").toSorted())
    programs.set(file.replaceAll(/\W+/g, "-"), readFileSync(file, "utf8"));
  const pages = [...globSync("docs/*.md"), ...globSync("packages/*/README.md"), "README.md"];
  for (const page of pages.toSorted()) {
    // Programs that use other agent libraries are compiled by npm run pairs, which installs those.
    const text = readFileSync(page, "utf8").replaceAll(/^There:\n\n```ts\n.*?^```/gms, "");
    for (const [index, [, code]] of [...text.matchAll(/^```ts\n(.*?)^```/gms)].entries())
      programs.set(`${page.replaceAll(/\W+/g, "-")}-${index + 1}`, code);
  }
  for (const [name, code] of programs) {
    mkdirSync(join(folder.path, name));
    // `export {}` makes each program a module, so that its global declarations do not affect other
    // programs.
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
  // `--build` compiles the projects in one process, one after the other.
  const fault = await compile(compiler, ["--build", ...names], folder.path);
  return fault && `${compiler}:\n${fault}`;
}
