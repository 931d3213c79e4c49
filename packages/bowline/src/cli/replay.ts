/** `bowline replay`: repeats a recorded run without network access and without running tools. */
import { loadRunRecording, type RunRecording } from "../record/file.ts";
import { replayRun, type RunReplay } from "../record/replay-run.ts";
import { attachSession, createMemoryStore, openSession, type Session } from "@bowline/core/session";
import { createAgent, type SessionContent } from "../record/run-setup.ts";
import { exitCodes, perform } from "./perform.ts";
import { CommandError, UsageError } from "../command-error.ts";
import { exitCode } from "./exit.ts";
import { replayHelp } from "./help.ts";
import { keptWrites, type Through } from "../record/kept-writes.ts";
import { parseReplayOptions } from "./replay-options.ts";
import { SideLog } from "./side-log.ts";
import { oneLine } from "../terminal.ts";

/**
 * Returns the exit code of the recorded run. Throws `UsageError` and `CommandError` for errors that
 * fit one line.
 */
export async function replay(args: readonly string[], host: NodeJS.Process): Promise<number> {
  const options = parseReplayOptions(args);
  if (options.help) {
    host.stdout.write(replayHelp());
    return exitCode.done;
  }
  const file = oneLine(options.file, 300);
  const output = options.json ? "stream-json" : "text";
  const { setup, run } = open(options.file, file);
  const { journal, ports } = run;
  const agent = createAgent(setup, ports);
  const session =
    setup.session && (await attachSession(agent, await sessionOf(setup.session, run.through)));
  run.onInterrupt(() => agent.abort());
  host.stderr.write(
    `bowline: replaying ${file}: ${oneLine(`${setup.model.provider}/${setup.model.id}`, 300)}\n`,
  );
  try {
    const lost = journal.lost.catch((error: Error) => {
      throw new CommandError(
        `${file} cannot be replayed to its end: ${oneLine(error.message.replace(/\.$/, ""), 1000)}.`,
      );
    });
    const result = await Promise.race([
      perform(
        agent,
        setup,
        { output, isQuiet: false, session, log: new SideLog(output, host) },
        host,
      ),
      lost,
    ]);
    return exitCodes[result.reason];
  } finally {
    journal.end();
  }
}

/** Recreates the session in memory, so that a replay does not touch stored sessions. */
async function sessionOf({ header, entries }: SessionContent, through: Through): Promise<Session> {
  const store = createMemoryStore();
  // The store expects sequence numbers without gaps; damage may have left some.
  const writer = await store.create(
    header,
    entries.map((entry, seq) => ({ ...entry, seq })),
  );
  await writer.close();
  return openSession(
    keptWrites(store, () => through),
    header.id,
  );
}

function open(
  path: string,
  file: string,
): { readonly setup: RunRecording["setup"]; readonly run: RunReplay } {
  try {
    const recording = loadRunRecording(path);
    return { setup: recording.setup, run: replayRun(recording) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code?.startsWith("E") === true ? `cannot be read (${code})` : message;
    throw new UsageError(`${file}: ${oneLine(why.replace(/\.$/, ""), 500)}.`);
  }
}
