/** Help texts, made from the option tables. docs/cli.md is generated from the same functions. */
import { vendors } from "@bowline/core";
import { chatOptions } from "./chat-options.ts";
import { clusterOptions } from "./cluster-options.ts";
import { doctorOptions } from "./doctor-options.ts";
import { optionLines } from "./options.ts";
import { permissionCommands } from "./permissions-options.ts";
import { replayOptions } from "./replay-options.ts";
import { runOptions } from "./run-options.ts";
import { serveOptions } from "./serve-options.ts";
import { helpOption, subcommands } from "./sessions-options.ts";
import { trustOptions } from "./trust-options.ts";

export function mainHelp(version: string): string {
  return `bowline ${version}: an agent that works in the current directory

Usage:
  bowline [chat] [options] ["<message>"]
                                    talk with an agent on the terminal
  bowline run [options] "<task>"    do a task and print the answer
  bowline serve                     serve agents over a WebSocket, for pages and programs
  bowline cluster status            the state of a cluster's parts, its open runs and its workers
  bowline replay <file>             repeat a recorded run offline, without running tools
  bowline -p "<task>"               the same as bowline run
  bowline sessions                  list saved sessions; show, search, fork and more
  bowline trust [folder]            let a folder's settings, commands, skills and agents take effect
  bowline permissions               list the rules for calls; explain, add and remove them
  bowline doctor <base-url>         find out what a model server can do and which settings it needs
  bowline --help | --version

Without a key or a local model server, the practice model answers. It is not an LLM; see bowline run --help.
`;
}

export function chatHelp(): string {
  return `Usage: bowline [chat] [options] ["<message>"]

Talks with an agent that works in the current directory with tools. Type while it works: Enter sends a message after the
current step, Alt-Enter after the turn, Esc interrupts. /help lists the commands and the keys; docs/chat.md explains them.

Calls that can change something ask first, as the permissions say; bowline permissions lists the rules.

The conversation is saved in a session as it is shown. -c goes on with the latest one of this directory, --resume lets you
choose, --resume <id> and -s <id> name one.

Options:
${optionLines(chatOptions)}

The model is chosen as by bowline run; see bowline run --help.

Exit codes: 0 left, 1 failed, 2 wrong usage
`;
}

export function runHelp(): string {
  return `Usage: bowline run [options] "<task>"

Does the task in the current directory with the tools read, write, edit, bash, grep and glob. The answer goes to standard
output, everything else to standard error. Text on standard input is added to the task.

File tools cannot leave the directory. bash starts there but is not confined: it can do whatever you can. bash, write and
edit therefore ask first, on the terminal even if standard input is a pipe. Without a terminal they are denied; --yes allows
them. Rules can allow or deny calls without a question; see bowline permissions. --yes does not override a rule that denies.

If the model server is down, overloaded or cuts off an answer, the call is retried for two minutes; see --retry-for.

The run is saved in a session, message by message, so that a crash loses nothing. --continue finishes an interrupted run, then
does the task, if there is one. Without a task it continues a run that an error, Ctrl-C or a limit ended. Sessions are stored
in BOWLINE_HOME, by default the system's folder for user data; see bowline sessions.

Options:
${optionLines(runOptions)}

AGENTS.md of your own settings and of the folders from the git root down to this one is added to the prompt; CLAUDE.md where a
folder has none. Settings (bowline.json), skills and agents of a folder take effect only after bowline trust or with --trust.

The model is the first of:
  --profile, a file that bowline doctor wrote; --model and --base-url override it
  --model
  with --continue or --session, the session's last model
  BOWLINE_MODEL
  the model or the address in bowline.json: the project's, if trusted, then your own
${listed("a key in the environment:", keyVariables())}
${listed("a model server on this machine:", localServers())}
  the practice model: not an LLM, a small planner that needs no key; BOWLINE_DISCOVERY=off skips to it

A variable such as OPENAI_BASE_URL or ANTHROPIC_BASE_URL replaces the vendor's address. --base-url, a profile and a continued
session override the variable.

Requests use the proxies in HTTP_PROXY and HTTPS_PROXY, except to hosts in NO_PROXY and on this machine.

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

Lists and manages the sessions that bowline run saved. Each is a file in BOWLINE_HOME/sessions that only you can read.

Commands (default list):
${commands}

import needs the package @bowline/postgres: npm install @bowline/postgres. An address in BOWLINE_DATABASE_URL is not seen by other
users of this machine, as one in --to is. Sessions in the database are never changed otherwise, and files never.

<id> is a session's id, a prefix of it, or "latest" for the latest session of this directory. The list names the process that
has a session open. An "interrupted" session has an unfinished run: bowline run --session <id> finishes it.

${options}

Options of all commands:
${optionLines([helpOption])}

Exit codes: 0 done, 1 failed or a search without results, 2 wrong usage
`;
}

export function permissionsHelp(): string {
  const rows = permissionCommands.map(({ name, takes, help }) => [
    [name, ...takes.map((what) => `<${what}>`)].join(" "),
    help,
  ]);
  const width = Math.max(...rows.map(([usage = ""]) => usage.length));
  const commands = rows.map(([usage = "", help]) => `  ${usage.padEnd(width)}  ${help}`).join("\n");
  const table = permissionCommands.flatMap(({ options }) => options);
  const options = [...new Map(table.map((option) => [option.name, option])).values(), helpOption];
  return `Usage: bowline permissions [command] [options]

Shows, explains and changes the rules that decide which calls run without a question. A rule is a tool, or a tool and a
pattern: "bash(git log *)", "edit(src/**)", "read(.env)". deny wins over ask, and ask over allow, whichever file they are in.

Commands (default list):
${commands}

Options (--json of list and why, --scope of add):
${optionLines(options)}

Examples:
  bowline permissions why 'git log -1 | wc -l'
  bowline permissions why read .env
  bowline permissions add deny 'read(**/.env)' --scope user

Exit codes: 0 done, 1 failed or no such rule, 2 wrong usage; of why: 0 allowed, 2 wrong usage, 3 asked about, 4 denied
`;
}

export function serveHelp(): string {
  return `Usage: bowline serve [options]

Serves the agents of a workspace over a WebSocket and HTTP, until it is stopped. Runs do not depend on a client's connection,
and an interrupted run continues at the next start. Tools that change something ask first, whoever is connected.

The token is BOWLINE_TOKEN, or is generated once and shown as a link. BOWLINE_READ_TOKEN gives read-only access. Keys and addresses
of models come from the environment, such as OPENAI_API_KEY and OPENAI_BASE_URL. Settings are also read from .env in the
current folder; a notice is shown if it names a model server. The protocol is in docs/gateway.md.

With --cluster, any number of processes serve the same sessions; see docs/cluster-operation.md. Each is a gateway, a worker or
both. BOWLINE_TOKEN must be set. SIGTERM lets running steps end while GET /ready answers 503; other processes continue the runs.

Options:
${optionLines(serveOptions)}

Exit codes: 0 stopped, 1 failed, 2 wrong usage, 130 stopped at once by a second signal
`;
}

export function clusterHelp(): string {
  return `Usage: bowline cluster status --cluster <file> [options]

Asks PostgreSQL, Restate and NATS of the cluster that the file describes. Prints whether each is ready, open runs, open
approvals, the registered workers, and runs that fail again and again. Needs no token and changes nothing.

Options:
${optionLines(clusterOptions)}

Exit codes: 0 ready, 1 not ready, 2 wrong usage
`;
}

export function trustHelp(): string {
  return `Usage: bowline trust [options] [folder]

Lists what a folder (default the current one) would let take effect: settings, commands, skills and agents. Asks whether to
trust it. A file that changes later has no effect until the folder is trusted again. AGENTS.md and CLAUDE.md need no trust,
since they are only text for the model. The list is in BOWLINE_HOME/trust.json.

Options:
${optionLines(trustOptions)}

Exit codes: 0 trusted, 1 not trusted, 2 wrong usage
`;
}

export function replayHelp(): string {
  return `Usage: bowline replay [options] <file>

Repeats a run that bowline run --record wrote, and prints the same output. No model is called and no tool is run: model
answers, tool results, approvals, ids and times come from the file. The file is not changed.

Options:
${optionLines(replayOptions)}

Exit codes: that of the run; 1 also if the run differs from the file, 2 if the file is not a recording
`;
}

export function doctorHelp(): string {
  return `Usage: bowline doctor [options] <base-url>

Sends about twenty short requests to an OpenAI-compatible server (Chat Completions). Reports what the server can do, where it
differs from others and which settings Bowline needs for it. <base-url> is the part before /chat/completions, such as
http://127.0.0.1:1234/v1. OPENAI_BASE_URL is ignored, and only the key of --api-key-env is sent. A paid server charges for
a few thousand tokens.

Options:
${optionLines(doctorOptions)}

Marks: ok; differs (Bowline supports it unless noted); missing; failed; not seen (the model did not do what it was asked,
which proves nothing about the server).

Exit codes: 0 usable, perhaps without tools, 1 not usable, 2 wrong usage, 130 stopped
`;
}

/** Returns the key variables of vendors with an address, in the order in which they are tried. */
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

/** Wraps a list at 120 characters, after commas. */
function listed(what: string, things: readonly string[]): string {
  return `${what} ${things.join(", ")}`.replaceAll(/(.{1,118})(?:(?<=,) |$)/g, "  $1\n").trimEnd();
}
