// docs/cli.md is the program's own help. `node scripts/cli-docs.mjs --write` writes it; without, it fails when the file is stale.
import { readFileSync, writeFileSync } from "node:fs";
import { mainHelp, runHelp } from "../packages/bowline/dist/cli/help.js";

const { version } = JSON.parse(readFileSync("packages/bowline/package.json", "utf8"));
const text = `# The command

Made from the program's own help by \`node scripts/cli-docs.mjs --write\`; \`npm run check\` compares.

\`\`\`
${mainHelp(version).trimEnd()}
\`\`\`

## bowline run

\`\`\`
${runHelp().trimEnd()}
\`\`\`

The answer is all that goes to standard output, so it can be piped. With \`--json\` that is the event log instead: one JSON
object a line, the events of one run in order, the last one \`agent_end\` with the reason, the usage and the new messages.
Ctrl-C stops the run within two seconds, with what it has; a second Ctrl-C leaves at once.
`;

if (process.argv.includes("--write")) writeFileSync("docs/cli.md", text);
else if (readFileSync("docs/cli.md", "utf8") !== text) {
  console.error("docs/cli.md is not what the program says: run node scripts/cli-docs.mjs --write");
  process.exitCode = 1;
}
