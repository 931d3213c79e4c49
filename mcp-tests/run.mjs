// @bowline/mcp with the servers of MCP's makers, and under their conformance suite. Needs a build, which
// `npm run mcp` makes. Installs this folder's packages when they are not there. `--servers` runs the
// servers alone, `--write` writes the table of docs/project/mcp-conformance.md, which is compared
// otherwise.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { keepMade } from "../scripts/made-file.mjs";
import { runConformance } from "./conformance.mjs";
import { runServers } from "./servers.mjs";

const page = "docs/project/mcp-conformance.md";

if (!existsSync(join(import.meta.dirname, "node_modules")))
  execFileSync("npm", ["ci", "--ignore-scripts"], { cwd: import.meta.dirname, stdio: "inherit" });
await runServers();
if (!process.argv.includes("--servers")) {
  const { text, failed } = await runConformance();
  // The formatter aligns the table.
  keepMade(page, text, "npm run mcp -- --write", (content) =>
    content.replaceAll(/-{2,}/g, "-").replaceAll(/ +/g, " "),
  );
  if (failed > 0) process.exitCode = 1;
}
