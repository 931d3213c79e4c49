// docs/cli.md is the program's own help. `node scripts/cli-docs.mjs --write` writes it; without, it fails when the file is stale.
import { readFileSync, writeFileSync } from "node:fs";
import { doctorHelp, mainHelp, replayHelp, runHelp } from "../packages/bowline/dist/cli/help.js";

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

## bowline replay

\`\`\`
${replayHelp().trimEnd()}
\`\`\`

\`bowline run --record run.json\` writes the file when the run is over, however it ends, readable by its owner only. It holds
all that the run saw: the task, images, the model's answers byte by byte, what tools gave back. It holds no keys: headers that
carry them, what looks like a key, the run's own key, and the values of variables whose names end in KEY, SECRET, TOKEN,
PASSWORD or the like are \`[redacted]\`; where one stood in the output, the replay prints that instead.

## bowline doctor

\`\`\`
${doctorHelp().trimEnd()}
\`\`\`

The report goes to standard output, progress to standard error. \`--json\` prints the whole result instead: \`verdict\`
(\`kind\` is \`works\`, \`settings\`, \`no-tools\`, \`unusable\` or \`stopped\`), \`findings\` (\`id\`, \`area\`, \`mark\`, \`says\`, \`means\`),
\`requests\` and \`profile\`. A key is named by its variable and never printed.

A profile is \`{ version, baseUrl, model, compat, notes }\`; \`compat\` has only switches of a model's \`compat\`. The command takes
it with \`bowline run --profile <file>\`, a program as overrides:

\`\`\`ts
const { baseUrl, model, compat } = JSON.parse(await readFile("server.json", "utf8"));
const agent = new Agent({ initialState: { model: getModel("custom", model, { baseUrl, compat }) } });
\`\`\`
`;

if (process.argv.includes("--write")) writeFileSync("docs/cli.md", text);
else if (readFileSync("docs/cli.md", "utf8") !== text) {
  console.error("docs/cli.md is not what the program says: run node scripts/cli-docs.mjs --write");
  process.exitCode = 1;
}
