/** Help, made from the option tables. docs/cli.md is generated from the same functions. */
import { vendors } from "@bowline/core";
import { doctorOptions } from "./doctor-options.ts";
import { optionLines, runOptions } from "./options.ts";
import { replayOptions } from "./replay-options.ts";
import { serveOptions } from "./serve-options.ts";
import { helpOption, subcommands } from "./sessions-options.ts";

export function mainHelp(version: string): string {
  return `bowline ${version}: an agent that works in the current directory

Usage:
  bowline run [options] "<task>"    do a task and print the answer
  bowline serve                     put agents behind a WebSocket, for pages and programs
  bowline replay <file>             do a recorded run once more, offline, running nothing
  bowline sessions                  list the sessions that runs were kept in; show, search, fork and more
  bowline doctor <base-url>         find out what a model server can do, and what Bowline has to be told
  bowline --help | --version

Without a key or a local model server the practice model answers, which is no LLM; see bowline run --help.
`;
}

export function runHelp(): string {
  return `Usage: bowline run [options] "<task>"

Does the task in the current directory with the tools read, write, edit, bash, grep and glob. The answer goes to standard
output, everything else to standard error. Text on standard input is added to the task.

File tools cannot leave the directory. bash starts there and is not confined: it can do whatever you can, so it, write and
edit ask first, on the terminal also when standard input is a pipe. Without a terminal they are denied; --yes allows them.

A model server that is down, is overloaded or cuts an answer off is retried for two minutes, or as long as --retry-for says.

The run is kept in a session, message by message, so that a crash loses nothing: --continue finishes what was interrupted, then
does the task, if there is one. Without a task it goes on with a run that an error, Ctrl-C or a limit ended. Sessions are in BOWLINE_HOME, by default the place for a user's data; see bowline sessions.

Options:
${optionLines(runOptions)}

Which model, the first of:
  --profile, a file that bowline doctor wrote; --model and --base-url win over what it says
  --model
  with --continue or --session, the model that was asked there last
  BOWLINE_MODEL
${listed("a key in the environment:", keyVariables())}
${listed("a model server on this machine:", localServers())}
  the practice model: no LLM, a small planner that needs no key; BOWLINE_DISCOVERY=off goes straight to it

A vendor is asked where its variable says, such as OPENAI_BASE_URL or ANTHROPIC_BASE_URL, else at its own address. --base-url,
a profile, and the session that is gone on with win over it.

Servers are reached by the proxies of HTTP_PROXY and HTTPS_PROXY, except those in NO_PROXY and on this machine.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 budget or timeout used up, 130 aborted
`;
}

export function sessionsHelp(): string {
  const rows = subcommands.map(({ name, takes, help }) => [
    [name, ...takes.map((what) => `<${what}>`)].join(" "),
    help,
  ]);
  const width = Math.max(...rows.map(([usage = ""]) => usage.length));
  const commands = rows.map(([usage = "", help]) => `  ${usage.padEnd(width)}  ${help}`).join("\n");
  const withOptions = subcommands.filter(({ options }) => options.length > 0);
  const options = withOptions
    .map(({ name, options: own }) => `Options of ${name}:\n${optionLines(own)}`)
    .join("\n\n");
  return `Usage: bowline sessions [command] [options]

What bowline run kept: each session is a file in the folder sessions of BOWLINE_HOME, which is for your eyes only.

Commands (default list):
${commands}

<id> is a session's id, its beginning, or latest: the latest of this directory. The process that has a session open is named.
"interrupted" is a session whose run nobody goes on with: bowline run --session <id> finishes it.

${options}

Options of all:
${optionLines([helpOption])}

Exit codes: 0 done, 1 failed, also for a search that found nothing, 2 wrong usage
`;
}

export function serveHelp(): string {
  return `Usage: bowline serve [options]

Serves the agents of a workspace to clients, over a WebSocket and HTTP, until it is stopped. Runs live here: clients may come and
go, and a run that was cut off goes on with the next start. Tools that change something ask first, whoever is connected.

The token is BOWLINE_TOKEN, or one that is made once and shown as a link; BOWLINE_READ_TOKEN may look and change nothing. Models are
asked with the keys of the environment, where it says, such as OPENAI_API_KEY and OPENAI_BASE_URL. Settings are read from .env in
the current folder, too, and it is said when that names a model server. The protocol is in docs/gateway.md.

Options:
${optionLines(serveOptions)}

Exit codes: 0 stopped, 1 failed, 2 wrong usage, 130 stopped at once by a second signal
`;
}

export function replayHelp(): string {
  return `Usage: bowline replay [options] <file>

Does a run once more that bowline run --record kept, and prints the same. Nothing is asked and nothing is executed: the
model's answers, the tools' results, a person's decisions, ids and times come from the file, which stays as it is.

Options:
${optionLines(replayOptions)}

Exit codes: that of the run; 1 also when the run goes another way than the file, 2 when the file is no recording
`;
}

export function doctorHelp(): string {
  return `Usage: bowline doctor [options] <base-url>

Asks an OpenAI-compatible server (Chat Completions) some twenty short questions and says what it can do, what it does
otherwise than others, and what Bowline has to be told to work with it. <base-url> is what stands before
/chat/completions, such as http://127.0.0.1:1234/v1. No other server is asked, whatever OPENAI_BASE_URL says, and no key
is sent but the one that is named. The requests are real ones: a paid server charges for some thousands of tokens.

Options:
${optionLines(doctorOptions)}

Marks: ok; differs, which Bowline reads all the same unless it says otherwise; missing; failed; not seen, where the model
did not do what it was asked, which proves nothing about the server.

Exit codes: 0 usable, if only without tools, 1 not usable, 2 wrong usage, 130 stopped
`;
}

/** Of the vendors that have an address, in the order in which they are looked for. */
function keyVariables(): string[] {
  return vendors.flatMap(({ keyVariable, baseUrl }) =>
    baseUrl === undefined ? [] : (keyVariable ?? []),
  );
}

function localServers(): string[] {
  const local = vendors.filter(
    ({ keyVariable, baseUrl }) => keyVariable === undefined && baseUrl !== undefined,
  );
  return local.map(({ name, baseUrl }) => `${name} (${new URL(baseUrl ?? "").port})`);
}

/** In lines of up to 120 characters, broken behind commas. */
function listed(what: string, things: readonly string[]): string {
  return `${what} ${things.join(", ")}`.replaceAll(/(.{1,118})(?:(?<=,) |$)/g, "  $1\n").trimEnd();
}
