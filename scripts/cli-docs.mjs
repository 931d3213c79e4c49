// docs/cli.md is the program's own help. `node scripts/cli-docs.mjs --write` writes it; without, it
// fails when the file is stale.
import { readFileSync, writeFileSync } from "node:fs";
import {
  doctorHelp,
  mainHelp,
  replayHelp,
  runHelp,
  serveHelp,
  sessionsHelp,
} from "../packages/bowline/dist/cli/help.js";

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
Where a session is kept, the line \`{"type":"session","id":"…"}\` comes first; it is no event and has no \`seq\`. Where an
interrupted run is finished before the task, its events come before those of the task's run.
A model server that is down, busy or broken, or that cuts an answer off, is retried for two minutes, or for \`--retry-for\` seconds:
on a terminal one line counts the retries and the seconds, elsewhere standard error has a line for each new reason, and with
\`--json\` each retry is a \`request_retry\` event. The list of models, which is asked for where no model is named, is retried in the
same way. An answer that is cut off is retried twice, because each costs the whole prompt.
Ctrl-C, SIGTERM or the end of its terminal stops the run within two seconds, with what it has; a second one leaves at once.

## Sessions

Every run is kept in a session, unless \`--no-session\` says otherwise: a file in the folder \`sessions\` of \`BOWLINE_HOME\`, else of
\`$XDG_DATA_HOME/bowline\`, else of \`~/.local/share/bowline\` (macOS: \`~/Library/Application Support/bowline\`, Windows:
\`%LOCALAPPDATA%\\bowline\`). Folders are made with mode 700 and files with 600: a session holds what tools read and printed, but no
key of a model server. Each message, and each tool's start and result, is on the disk before the run goes on.

- \`bowline run --continue "<task>"\` goes on with the latest session of this directory, \`--session <id>\` with that one; a
  beginning of an id of four characters or more will do. An id that is not there begins a session of that name.
- A run that was killed is finished first, also without a task: \`bowline run --continue\`. A tool that has its result is not run
  again. One that was running is run again if it only reads; any other is reported to the model as unknown, and to you on
  standard error. When the run cannot be finished, the task is not begun.
- A run that ended by an error, by Ctrl-C or by a limit is gone on with by \`bowline run --continue\` without a task: the model is
  asked again with what is there. With a task, that is the next message.
- The conversation stays with the model and the address that it was held with, unless an option names another, also when a
  variable such as \`OPENAI_BASE_URL\` came or went; a key's variable and a profile are remembered by name.
- One process writes a session. A second one ends at once, with a line that names the first and exit code 1.
- When no session can be kept, because the folder cannot be written, a run without \`--session\` and \`--continue\` goes on, since
  its work does not depend on the file, and says \`THIS RUN IS NOT SAVED\` before and after. Where a session was asked for it ends
  with exit code 1. When a write fails during a run, the run ends: nothing is done that would not be known after a crash.
- What is found damaged is left out, told on standard error, and kept aside where it was cut off.
- \`--record\` keeps in its file what the session held; \`bowline replay\` neither reads nor writes a session.

\`\`\`
${sessionsHelp().trimEnd()}
\`\`\`

With \`--json\` a list has an object a line: \`id\`, \`title\`, \`createdAt\`, \`updatedAt\` (milliseconds since the epoch),
\`messageCount\`, \`entryCount\`, \`isUnfinished\`, \`holder\` (\`pid\`, \`host\`, \`since\`) while a process has it open, \`origin\` of a fork, and
\`metadata\` with \`cwd\` and \`model\`.

## bowline serve

\`\`\`
${serveHelp().trimEnd()}
\`\`\`

With \`--json\` one line goes to standard output, when the server is ready, and nothing else ever (here over several lines):

\`\`\`json
{
  "type": "ready",
  "url": "http://127.0.0.1:18789",
  "host": "127.0.0.1",
  "port": 18789,
  "pid": 4711,
  "version": "${version}",
  "isExposed": false,
  "token": { "file": "/home/ada/.local/share/bowline/gateway/token" },
  "workspace": "/home/ada/.local/share/bowline/workspace",
  "made": ["AGENTS.md", "SOUL.md", "TOOLS.md"],
  "notices": [{ "agent": "assistant", "message": "… has no key (…). The practice model answers; it is not an LLM." }]
}
\`\`\`

The token itself is never in it, since such lines end up in logs: \`token\` says where it is, a \`file\` that only its owner may read
or the \`variable\` \`BOWLINE_TOKEN\`. The page is at \`<url>/#token=<token>\`. \`made\` are files of the workspace that were not there,
\`notices\` what a person would be told of agents, and of a \`.env\` that names a model server. Why it cannot start is said on
standard error, as it is without, and so is its end.

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
import { readFile } from "node:fs/promises";
import { Agent, getModel } from "@bowline/core";

const { baseUrl, model, compat } = JSON.parse(await readFile("server.json", "utf8"));
const agent = new Agent({ model: getModel("custom", model, { baseUrl, compat }) });
\`\`\`

### Two reports of the doctor

${readReports()}`;

if (process.argv.includes("--write")) writeFileSync("docs/cli.md", text);
else if (readFileSync("docs/cli.md", "utf8") !== text) {
  console.error("docs/cli.md is not what the program says: run node scripts/cli-docs.mjs --write");
  process.exitCode = 1;
}

/** Returns the reports of docs/cli.md, which packages/bowline/test/doctor-docs.test.ts writes. */
function readReports() {
  const page = readFileSync("docs/cli.md", "utf8");
  return /<!-- doctor -->[^]*<!-- \/doctor -->\n/.exec(page)?.[0] ?? "";
}
