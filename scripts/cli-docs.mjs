// Generates docs/cli.md from the program's own help. `node scripts/cli-docs.mjs --write` writes the
// file; without `--write` the script fails when the file is stale.
import { readFileSync } from "node:fs";
import {
  chatHelp,
  clusterHelp,
  doctorHelp,
  mainHelp,
  permissionsHelp,
  replayHelp,
  runHelp,
  serveHelp,
  sessionsHelp,
  trustHelp,
} from "../packages/bowline/dist/cli/help.js";
import { keepMade } from "./made-file.mjs";

const { version } = JSON.parse(readFileSync("packages/bowline/package.json", "utf8"));
const text = `# The command

Generated from the program's own help by \`node scripts/cli-docs.mjs --write\`; \`npm run check\` compares the two.

\`\`\`
${mainHelp(version).trimEnd()}
\`\`\`

## bowline chat

\`\`\`
${chatHelp().trimEnd()}
\`\`\`

[The conversation](chat.md) has its keys, commands and questions.

## bowline run

\`\`\`
${runHelp().trimEnd()}
\`\`\`

Standard output contains only the answer, so it can be piped. With \`--output-format json\` it contains one object at the end:
\`type\` ("result"), \`text\`, \`reason\` (\`done\`, \`length\`, \`error\`, \`budget\` or \`aborted\`), \`session\`,
\`turns\`, \`toolCalls\`, \`usage\`, \`cost\` in dollars or null, and \`error\` if there is one.

With \`--output-format stream-json\` or \`--json\` it contains the event log: one JSON object per line, with the events of
one run in order. The last one is \`agent_end\` with the reason, the usage and the new
messages. When the run is stored in a session, the line \`{"type":"session","id":"…"}\` comes first; it is not an event and
has no \`seq\`. When an interrupted run is finished before the task, its events come first.

A model server that is down, busy or broken, or that cuts an answer off, is retried for two minutes, or for \`--retry-for\`
seconds. On a terminal one line counts the retries and the seconds. Elsewhere standard error gets a line for each new reason.
With \`--json\` each retry is a \`request_retry\` event. The request for the list of models, made when no model is named, is
retried in the same way. An answer that is cut off is retried only twice, because each retry costs the whole prompt.

Ctrl-C, SIGTERM or closing the terminal stops the run within two seconds and keeps what it has so far. A second signal exits
at once.

## Sessions

Every run is stored in a session unless you pass \`--no-session\`. A session is a file in the folder \`sessions\` of
\`BOWLINE_HOME\`, else of \`$XDG_DATA_HOME/bowline\`, else of \`~/.local/share/bowline\` (macOS:
\`~/Library/Application Support/bowline\`, Windows: \`%LOCALAPPDATA%\\bowline\`). Folders get mode 700 and files 600. A
session contains what tools read and printed, but no keys of model servers. Each message, and the start and the result of
each tool, is on the disk before the run continues.

- \`bowline run --continue "<task>"\` continues the latest session of this directory; \`--session <id>\` continues that one.
  The first four characters of an id, or more, are enough. An unknown id starts a session of that name.
- A run that was killed is finished first, also without a task: \`bowline run --continue\`. A tool that has its result is not
  run again. A tool that was running is run again if it only reads; any other is reported as unknown, to the model and on
  standard error. When the run cannot be finished, the task is not started.
- \`bowline run --continue\` without a task continues a run that ended by an error, by Ctrl-C or by a limit: the model is
  asked again with the same transcript. With a task, the task is the next message.
- The conversation keeps its model and address unless an option names another, even when a variable such as
  \`OPENAI_BASE_URL\` was set or removed. The variable of a key and a profile are remembered by name.
- Only one process can write to a session. A second one exits at once with code 1 and a line that names the first.
- If a new session cannot be created, for example because the folder cannot be written, the run goes on without one. It
  says \`THIS RUN IS NOT SAVED\` at its start and its end. With \`--session\` or \`--continue\` it exits with code 1. When a
  write fails during a run, the run ends, so that nothing is done that would be unknown after a crash.
- Damaged entries are left out and reported on standard error. A damaged end is cut off and stored separately.
- \`--record\` stores the earlier messages of the session in its file; \`bowline replay\` neither reads nor writes a session.

\`\`\`
${sessionsHelp().trimEnd()}
\`\`\`

With \`--json\` a list has one object per line: \`id\`, \`title\`, \`createdAt\`, \`updatedAt\` (milliseconds since the
epoch), \`messageCount\`, \`entryCount\`, \`isUnfinished\`, \`holder\` (\`pid\`, \`host\`, \`since\`) while a process has it
open, \`origin\` of a fork, and \`metadata\` with \`cwd\` and \`model\`.

## bowline permissions

\`\`\`
${permissionsHelp().trimEnd()}
\`\`\`

[Permissions](permissions.md) has the rules, their files and examples. With \`--json\`, \`list\` prints one object per rule
(\`rule\`, \`action\`, \`scope\`, \`source\`), and \`why\` one object with \`action\`, \`reason\`, \`parts\`,
\`rule\` (if one decided) and \`suggestions\`.

## bowline serve

\`\`\`
${serveHelp().trimEnd()}
\`\`\`

With \`--json\` standard output gets one line when the server is ready, and nothing else (shown here on several lines):

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

The line never contains the token, because such lines end up in logs. \`token\` says where the token is: a \`file\` that only
its owner may read, or the \`variable\` \`BOWLINE_TOKEN\`. The page is at \`<url>/#token=<token>\`. \`made\` lists the files
of the workspace that the server created. \`notices\` has the notices about agents, and about a \`.env\` that names a model
server. Errors at the start and the end of the server are reported on standard error, with and without \`--json\`.

With \`--cluster\` the line has \`role\` instead of \`token\`: the token is always \`BOWLINE_TOKEN\`.

## bowline cluster

\`\`\`
${clusterHelp().trimEnd()}
\`\`\`

[Operating a cluster](cluster-operation.md) has the file and what to watch. With \`--json\` standard output gets one object.

## bowline trust

\`\`\`
${trustHelp().trimEnd()}
\`\`\`

See [Projects](projects.md) for the files of a folder.

## bowline replay

\`\`\`
${replayHelp().trimEnd()}
\`\`\`

\`bowline run --record run.json\` writes the file when the run ends, for whatever reason. Only its owner can read it. It
contains everything that the run received: the task, images, the model's answers byte by byte, and the results of tools. It
contains no keys. These are replaced by \`[redacted]\`: headers that carry keys, text that looks like a key, the run's own
key, and the values of variables whose names end in KEY, SECRET, TOKEN, PASSWORD or the like. Where the output contained one,
the replay prints \`[redacted]\` instead.

## bowline doctor

\`\`\`
${doctorHelp().trimEnd()}
\`\`\`

The report goes to standard output, progress to standard error. With \`--json\` standard output gets the whole result
instead: \`verdict\` (\`kind\` is \`works\`, \`settings\`, \`no-tools\`, \`unusable\` or \`stopped\`), \`findings\` (\`id\`,
\`area\`, \`mark\`, \`says\`, \`means\`), \`requests\` and \`profile\`. A key is named by its variable and never printed.

A profile is \`{ version, baseUrl, model, compat, notes }\`; \`compat\` contains only settings of a model's \`compat\`. Pass
it to the command with \`bowline run --profile <file>\`, or to a program as overrides:

\`\`\`ts
import { readFile } from "node:fs/promises";
import { Agent, getModel } from "@bowline/core";

const { baseUrl, model, compat } = JSON.parse(await readFile("server.json", "utf8"));
const agent = new Agent({ model: getModel("custom", model, { baseUrl, compat }) });
\`\`\`

### Two reports of the doctor

${readReports()}`;

keepMade("docs/cli.md", text, "node scripts/cli-docs.mjs --write");

/** Returns the reports in docs/cli.md, which packages/bowline/test/doctor-docs.test.ts writes. */
function readReports() {
  const page = readFileSync("docs/cli.md", "utf8");
  return /<!-- doctor -->[^]*<!-- \/doctor -->\n/.exec(page)?.[0] ?? "";
}
