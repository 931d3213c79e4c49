/** `bowline sessions`: lists, shows and manages saved sessions. */
import { open } from "node:fs/promises";
import {
  openSession,
  sessionToHtml,
  sessionToJson,
  sessionToMarkdown,
  type Session,
  type Store,
} from "@bowline/core/session";
import { ask } from "./ask.ts";
import { CommandError, explained, UsageError } from "../command-error.ts";
import { replayLines } from "../chat/replay-lines.ts";
import { colours, linkStyle } from "../screen/colours.ts";
import { exitCode } from "./exit.ts";
import { allSessions, findSession } from "./find-session.ts";
import { importSessions } from "./import-sessions.ts";
import { sessionsHelp } from "./help.ts";
import { sessionStore } from "../home.ts";
import { listSessions, searchSessions } from "./session-list.ts";
import { findEntry, transcriptText } from "./session-text.ts";
import { parseSessionsOptions, type Format, type SessionsOptions } from "./sessions-options.ts";
import { escapeJson, oneLine, printable, styleFor } from "../terminal.ts";

/** Returns the exit code. Throws `UsageError` and `CommandError` for errors that fit one line. */
export async function sessions(args: readonly string[], host: NodeJS.Process): Promise<number> {
  const options = parseSessionsOptions(args);
  if (options.help) {
    host.stdout.write(sessionsHelp());
    return exitCode.done;
  }
  return explained(() => perform(options, sessionStore(host.env), host));
}

async function perform(
  options: SessionsOptions,
  store: Store,
  host: NodeJS.Process,
): Promise<number> {
  const [reference = "", title = ""] = options.operands;
  switch (options.name) {
    case "list":
      await listSessions(store, options, host);
      return exitCode.done;
    case "search":
      return (await searchSessions(store, reference, options, host)) > 0
        ? exitCode.done
        : exitCode.failed;
    case "show":
      return withSession(store, reference, host, (session) => show(session, options, host));
    case "replay":
      return withSession(store, reference, host, (session) => redraw(session, options, host));
    case "fork":
      return withSession(store, reference, host, (session) => fork(session, options, host));
    case "export":
      return withSession(store, reference, host, (session) => exportTo(session, options, host));
    case "rename":
      return withSession(store, reference, host, (session) => rename(session, title, host), true);
    case "import":
      return importSessions(store, options, host);
    case "delete":
      return remove(store, await findSession(store, reference, host.cwd()), options, host);
  }
}

/** Opens the session, for writing if requested, and reports damage that was found in it. */
async function withSession(
  store: Store,
  reference: string,
  host: NodeJS.Process,
  work: (session: Session) => Promise<void>,
  toWrite = false,
): Promise<number> {
  const id = await findSession(store, reference, host.cwd());
  const session = await openSession(store, id, { readOnly: !toWrite });
  try {
    await work(session);
  } finally {
    await session.close();
    for (const { message, savedTo } of session.damage) {
      const where = savedTo === undefined ? "" : ` The damaged part was saved to ${savedTo}.`;
      host.stderr.write(`bowline: ${oneLine(`${message}${where}`, 1000)}\n`);
    }
  }
  return exitCode.done;
}

async function show(
  session: Session,
  { json }: SessionsOptions,
  { stdout, env }: NodeJS.Process,
): Promise<void> {
  stdout.write(
    json
      ? escapeJson(await sessionToJson(session))
      : await transcriptText(session, styleFor(stdout, env)),
  );
}

/** Prints the lines that the conversation showed. They follow from the session alone. */
async function redraw(
  session: Session,
  { width }: SessionsOptions,
  { stdout, env }: NodeJS.Process,
): Promise<void> {
  const columns = width ?? (stdout.columns || 80);
  for await (const line of replayLines(session, {
    colours: colours(stdout, env),
    columns: () => columns,
    linkStyle: linkStyle(env),
  }))
    stdout.write(`${line}\n`);
}

async function fork(
  session: Session,
  { at }: SessionsOptions,
  { stdout }: NodeJS.Process,
): Promise<void> {
  const entry = at === undefined ? {} : { at: await findEntry(session, at) };
  const forked = await session.fork(entry);
  await forked.close();
  stdout.write(`${forked.id}\n`);
}

async function rename(session: Session, title: string, { stderr }: NodeJS.Process): Promise<void> {
  await session.rename(title);
  stderr.write(
    `bowline: session ${oneLine(session.id, 100)} is now ${JSON.stringify(oneLine(title, 200))}\n`,
  );
}

const formats: Readonly<Record<Format, (session: Session) => Promise<string>>> = {
  md: (session) => sessionToMarkdown(session),
  html: (session) => sessionToHtml(session),
  json: async (session) => escapeJson(await sessionToJson(session)),
};

async function exportTo(
  session: Session,
  { format = "md", output }: SessionsOptions,
  { stdout }: NodeJS.Process,
): Promise<void> {
  const text = await formats[format](session);
  if (output === undefined) {
    stdout.write(stdout.isTTY ? printable(text) : text);
    return;
  }
  try {
    await writePrivately(output, text);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandError(
      `--output ${oneLine(output, 300)}: cannot be written (${code ?? message}).`,
    );
  }
}

/**
 * Writes a file for its owner only, also if the file exists. Leaves the mode of special files such
 * as /dev/null.
 */
async function writePrivately(path: string, text: string): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    if ((await file.stat()).isFile()) await file.chmod(0o600);
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}

async function remove(
  store: Store,
  id: string,
  { yes }: SessionsOptions,
  host: NodeJS.Process,
): Promise<number> {
  const { stdin, stderr } = host;
  const name = oneLine(id, 100);
  if (!yes) {
    if (!stdin.isTTY || !stderr.isTTY)
      throw new UsageError(`There is no terminal to ask on: --yes deletes session ${name}.`);
    const title = (await allSessions(store)).find((session) => session.id === id)?.title;
    const question = `Delete session ${name}${title === undefined ? "" : ` (${oneLine(title, 60)})`}? [y]es, [N]o: `;
    const answer = await ask(question, { input: stdin, output: stderr }, () => {});
    if (!["y", "yes"].includes(answer.toLowerCase())) {
      stderr.write("bowline: nothing was deleted\n");
      return exitCode.failed;
    }
  }
  await store.delete(id);
  stderr.write(`bowline: session ${name} is deleted\n`);
  return exitCode.done;
}
