// Checks the packed documentation: each package has its pages and changelog, and the targets of all
// their links exist. `node scripts/published-docs.mjs <tarball>...`
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { linksOf } from "./markdown.mjs";
import { createFolder, unpack } from "./unpack.mjs";

const needed = ["README.md", "CHANGELOG.md", "LICENSE", "docs/agent.md", "docs/security.md"];
const folder = createFolder("docs");
const problems = [];
try {
  for (const tarball of process.argv.slice(2)) {
    const [entry = ""] = await unpack(tarball, folder.path);
    const name = entry.startsWith("@")
      ? entry.split("/").slice(0, 2).join("/")
      : entry.split("/")[0];
    const root = join(folder.path, "node_modules", name);
    for (const file of needed)
      if (!existsSync(join(root, file))) problems.push(`${name}: no ${file}`);
    for (const file of globSync("**/*.md", { cwd: root })) {
      for (const { target, path } of linksOf(readFileSync(join(root, file), "utf8")))
        if (!existsSync(join(root, dirname(file), path)))
          problems.push(`${name}/${file}: ${target} leads nowhere`);
    }
  }
} finally {
  folder.remove();
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
