/**
 * The `bowline` command. Errors end with one line for a person. BOWLINE_DEBUG=1 adds the stack
 * trace.
 */
import { readFileSync } from "node:fs";
import { CommandError, UsageError } from "../command-error.ts";
import { exitCode } from "./exit.ts";
import { mainHelp } from "./help.ts";
import { printable } from "../terminal.ts";

process.exitCode = await main(process.argv.slice(2));

async function main([command, ...rest]: string[]): Promise<number> {
  // A closed pipe (`bowline run … | head -1`) is not an error.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", leaveOnBrokenPipe);
  try {
    // Each command loads only its own modules.
    switch (command) {
      case "chat":
        return await (await import("./chat.ts")).chat(rest, process);
      case "run":
        return await (await import("./run.ts")).run(rest, process);
      case "serve":
        return await (await import("./serve.ts")).serve(rest, process, version());
      case "cluster":
        return await (await import("./cluster.ts")).cluster(rest, process);
      case "replay":
        return await (await import("./replay.ts")).replay(rest, process);
      case "sessions":
        return await (await import("./sessions.ts")).sessions(rest, process);
      case "permissions":
        return await (await import("./permissions.ts")).permissions(rest, process);
      case "doctor":
        return await (await import("./doctor.ts")).doctor(rest, process);
      case "trust":
        return await (await import("./trust.ts")).trust(rest, process);
      case "--version":
      case "-v":
        process.stdout.write(`${version()}\n`);
        return exitCode.done;
      case "--help":
      case "-h":
      case "help":
        process.stdout.write(mainHelp(version()));
        return exitCode.done;
      case undefined:
        // Without a terminal, nobody can converse.
        if (process.stdin.isTTY && process.stdout.isTTY)
          return await (await import("./chat.ts")).chat([], process);
        process.stderr.write(mainHelp(version()));
        return exitCode.usage;
      default:
        // `bowline -p "<task>"`, also after other options.
        if (isPrint([command, ...rest]))
          return await (await import("./run.ts")).run([command, ...rest], process);
        // `bowline -c`, `bowline --plan`: options of the conversation; `bowline "do this"`: its
        // first message. No command has a blank.
        if (command.startsWith("-") || (/\s/.test(command) && process.stdin.isTTY))
          return await (await import("./chat.ts")).chat([command, ...rest], process);
        throw new UsageError(
          `There is no command ${JSON.stringify(command)}. Did you mean: bowline run ${JSON.stringify([command, ...rest].join(" "))}?`,
        );
    }
  } catch (error) {
    return explain(error);
  }
}

/** Returns true if the arguments begin with an option and contain `-p` or `--print`. */
function isPrint(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  const options = end === -1 ? args : args.slice(0, end);
  return (
    args[0]?.startsWith("-") === true && options.some((arg) => arg === "-p" || arg === "--print")
  );
}

function explain(error: unknown): number {
  const known = error instanceof UsageError || error instanceof CommandError;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(
    `bowline: ${printable(message)}${known ? "" : " (unexpected; BOWLINE_DEBUG=1 shows where)"}\n`,
  );
  if (process.env.BOWLINE_DEBUG === "1" && error instanceof Error)
    process.stderr.write(`${printable(error.stack ?? "")}\n`);
  return error instanceof UsageError ? exitCode.usage : exitCode.failed;
}

function leaveOnBrokenPipe(error: NodeJS.ErrnoException): void {
  process.exit(error.code === "EPIPE" ? exitCode.done : exitCode.failed);
}

function version(): string {
  const file = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
