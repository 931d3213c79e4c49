// @bowline/mcp with the servers of MCP's makers, and under their conformance suite. Needs `npm ci` in
// this folder and a build: `npm run mcp` does both. `--servers` runs the servers alone, `--write` writes
// the table of docs/project/mcp-conformance.md, which is compared otherwise.
import { keepMade } from "../scripts/made-file.mjs";
import { runConformance } from "./conformance.mjs";
import { runServers } from "./servers.mjs";

const page = "docs/project/mcp-conformance.md";

await runServers();
if (!process.argv.includes("--servers")) {
  const { text, failed } = await runConformance();
  keepMade(page, text, "npm run mcp -- --write");
  if (failed > 0) process.exitCode = 1;
}
