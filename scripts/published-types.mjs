// The types as a user's compiler reads them: `attw` for how entries resolve, then every entry of
// the packed packages without `skipLibCheck`, by an old TypeScript and by ours. `node
// scripts/published-types.mjs <tarball>...`; no network.
import { execFile } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);
const tarballs = process.argv.slice(2);
const folder = realpathSync(mkdtempSync(join(tmpdir(), "bowline-types-")));
const require = createRequire(import.meta.url);

// attw brings the oldest TypeScript that is here, 5.6, of before `Uint8Array` took a type argument.
// The packages promise 5.4.
const attw = require.resolve("@arethetypeswrong/cli/package.json");
const oldTypescript = createRequire(createRequire(attw).resolve("@arethetypeswrong/core")).resolve(
  "typescript",
);
const compilers = [
  join(dirname(oldTypescript), "tsc.js"),
  join("node_modules", "typescript", "bin", "tsc"),
];

const forNode = /\/(?:node|undici)$|^bowline\/(?:gateway|tools)$/;
const web = { lib: ["es2022", "dom"], types: [] };
const node = { lib: ["es2022"], types: ["node"] };

try {
  const names = await Promise.all(tarballs.map(unpack));
  link("undici");
  link("@types/node");
  const entries = names.flatMap(entriesOf);
  const projects = [
    writeProject(
      "web",
      web,
      entries.filter((entry) => !forNode.test(entry)),
    ),
    writeProject("node", node, entries),
  ];
  const outputs = await Promise.all([
    ...tarballs.map((tarball) => run("attw", [tarball, "--profile", "esm-only"])),
    ...compilers.flatMap((compiler) =>
      projects.map((project) =>
        run(process.execPath, [compiler, "-p", project, "--pretty", "false"]),
      ),
    ),
  ]);
  const failures = outputs.filter((output) => output !== undefined);
  for (const failure of failures) console.error(failure);
  process.exitCode = failures.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function unpack(tarball) {
  const { stdout } = await execute("tar", ["-xzOf", tarball, "package/package.json"]);
  const { name } = JSON.parse(stdout);
  const target = join(folder, "node_modules", name);
  mkdirSync(target, { recursive: true });
  await execute("tar", ["-xzf", tarball, "-C", target, "--strip-components=1"]);
  return name;
}

function link(name) {
  const target = join(folder, "node_modules", name);
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(realpathSync(join("node_modules", name)), target);
}

function entriesOf(name) {
  const { exports } = JSON.parse(
    readFileSync(join(folder, "node_modules", name, "package.json"), "utf8"),
  );
  return Object.keys(exports)
    .filter((path) => path !== "./package.json")
    .map((path) => join(name, path));
}

function writeProject(name, options, entries) {
  const imports = entries.map(
    (entry, at) => `import * as entry${at} from "${entry}";\nvoid entry${at};\n`,
  );
  writeFileSync(join(folder, `${name}.mts`), imports.join(""));
  const project = join(folder, `tsconfig.${name}.json`);
  const compilerOptions = {
    ...options,
    target: "es2022",
    module: "nodenext",
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
  };
  writeFileSync(project, JSON.stringify({ compilerOptions, files: [`${name}.mts`] }));
  return project;
}

/** What a program said, if it failed. */
function run(program, args) {
  return execute(program, args).then(
    () => undefined,
    (error) => `${program} ${args.join(" ")}\n${error.stdout}${error.stderr}`,
  );
}
