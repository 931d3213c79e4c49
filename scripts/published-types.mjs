// Compiles the published types as a user would: every entry of the packed packages, without
// `skipLibCheck`, under both module resolutions. `node scripts/published-types.mjs <compiler>
// <tarball>...`, where the compiler is a TypeScript of `node_modules`. Needs no network.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { compile } from "./compile.mjs";
import { createFolder, isForNode, link, unpack } from "./unpack.mjs";

const [compiler, ...tarballs] = process.argv.slice(2);
const folder = createFolder("types");

const libraries = {
  web: { lib: ["es2022", "dom"], types: [] },
  node: { lib: ["es2022"], types: ["node"] },
};
const resolutions = {
  nodenext: { module: "nodenext" },
  bundler: { module: "esnext", moduleResolution: "bundler" },
};

try {
  const entries = (
    await Promise.all(tarballs.map((tarball) => unpack(tarball, folder.path)))
  ).flat();
  link("undici", folder.path);
  link("@types/node", folder.path);
  link("@modelcontextprotocol/client", folder.path);
  writeImports(
    "web",
    entries.filter((entry) => !isForNode(entry)),
  );
  writeImports("node", entries);
  const projects = Object.keys(libraries).flatMap((library) =>
    Object.keys(resolutions).map((resolution) => writeProject(library, resolution)),
  );
  const failures = (await Promise.all(projects.map(check))).filter(Boolean);
  for (const failure of failures) console.error(failure);
  process.exitCode = failures.length === 0 ? 0 : 1;
} finally {
  folder.remove();
}

function writeImports(library, entries) {
  const imports = entries.map(
    (entry, at) => `import * as entry${at} from "${entry}";\nvoid entry${at};\n`,
  );
  writeFileSync(join(folder.path, `${library}.mts`), imports.join(""));
}

function writeProject(library, resolution) {
  const project = join(folder.path, `tsconfig.${library}.${resolution}.json`);
  const compilerOptions = {
    ...libraries[library],
    ...resolutions[resolution],
    target: "es2022",
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
  };
  writeFileSync(project, JSON.stringify({ compilerOptions, files: [`${library}.mts`] }));
  return project;
}

async function check(project) {
  const fault = await compile(compiler, ["-p", project]);
  return fault && `${project}\n${fault}`;
}
