/** `bowline replay`: a recorded run once more, without a network, and without running anything. */
import { loadRunRecording, type RunRecording } from "../record/file.ts";
import { replayRun, type RunReplay } from "../record/replay-run.ts";
import { createAgent, exitCodes, perform } from "./agent.ts";
import { CommandError, exitCode, UsageError } from "./exit.ts";
import { replayHelp } from "./help.ts";
import { parseReplayOptions } from "./replay-options.ts";
import { oneLine } from "./terminal.ts";

/** Gives the exit code that the run had. Throws `UsageError` and `CommandError` for what one line can explain. */
export async function replay(args: readonly string[], host: NodeJS.Process): Promise<number> {
  const options = parseReplayOptions(args);
  if (options.help) {
    host.stdout.write(replayHelp());
    return exitCode.done;
  }
  const file = oneLine(options.file, 300);
  const { setup, run } = open(options.file, file);
  const { journal, ports } = run;
  const agent = createAgent(setup, ports);
  run.onInterrupt(() => agent.abort());
  host.stderr.write(`bowline: replaying ${file}: ${oneLine(`${setup.model.provider}/${setup.model.id}`, 300)}\n`);
  try {
    const lost = journal.lost.catch((error: Error) => {
      throw new CommandError(`${file} cannot be replayed to its end: ${oneLine(error.message, 300)}.`);
    });
    const result = await Promise.race([perform(agent, setup, options.json, host), lost]);
    return exitCodes[result.reason];
  } finally {
    journal.end();
  }
}

function open(path: string, file: string): { readonly setup: RunRecording["setup"]; readonly run: RunReplay } {
  try {
    const recording = loadRunRecording(path);
    return { setup: recording.setup, run: replayRun(recording) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code?.startsWith("E") === true ? `cannot be read (${code})` : message;
    throw new UsageError(`${file}: ${oneLine(why.replace(/\.$/, ""), 500)}.`);
  }
}
