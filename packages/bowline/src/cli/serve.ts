/** `bowline serve`: serves agents over a WebSocket until it is stopped. */
import { serve as startServing, type Served, type ServeOptions } from "../serve/serve.ts";
import { CommandError, explained } from "../command-error.ts";
import { exitCode } from "./exit.ts";
import { serveHelp } from "./help.ts";
import { onSignal } from "./on-signal.ts";
import { parseServeOptions } from "./serve-options.ts";
import { oneLine, printableJson } from "../terminal.ts";

/**
 * Returns the exit code after a signal stopped it. Throws `UsageError` and `CommandError` for
 * errors that fit one line.
 */
export async function serve(
  args: readonly string[],
  host: NodeJS.Process,
  version: string,
): Promise<number> {
  const { help, json, ...options } = parseServeOptions(args);
  if (help) {
    host.stdout.write(serveHelp());
    return exitCode.done;
  }
  const stopped = untilStopped(host);
  const print = (line: string): void => void host.stdout.write(`${oneLine(line, 1000)}\n`);
  // With --json, standard output has the line for the program that started the command.
  const log = (line: string): void =>
    void (json ? host.stderr : host.stdout).write(`${oneLine(line, 1000)}\n`);
  const given = { ...options, version, env: host.env, log };
  const served = await start({ ...given, ...(!json && { print }) });
  if (json) host.stdout.write(`${readyLine(served, host.pid, version)}\n`);
  await stopped;
  (json ? host.stderr : host.stdout).write(
    "Stopping. Unfinished runs continue at the next start.\n",
  );
  await served.close();
  return exitCode.done;
}

/**
 * One line for the program that started the command. It omits the token, because such lines end up
 * in logs.
 */
function readyLine(served: Served, pid: number, version: string): string {
  const { url, host, port, isExposed, tokenFrom: token, workspace, made, notices } = served;
  return printableJson({
    type: "ready",
    url,
    host,
    port,
    pid,
    version,
    isExposed,
    token,
    workspace,
    made,
    notices,
  });
}

async function start(options: ServeOptions): ReturnType<typeof startServing> {
  try {
    return await explained(() => startServing(options));
  } catch (error) {
    const why = whyNot(error as ListenError);
    if (why === undefined) throw error;
    throw new CommandError(oneLine(why, 500), { cause: error });
  }
}

interface ListenError extends NodeJS.ErrnoException {
  readonly port?: number;
  readonly address?: string;
  readonly hostname?: string;
}

/** Returns undefined if the error does not come from listening. */
function whyNot({ code = "", port, address, hostname }: ListenError): string | undefined {
  switch (code) {
    case "EADDRINUSE":
      return `Port ${port} is already in use, perhaps by another bowline serve. Stop it or pass --port.`;
    case "EACCES":
      return `This user may not listen on port ${port} (EACCES). Pass a --port above 1023.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `${address ?? hostname} is not an address of this machine (${code}). Pass one with --host.`;
    default:
      return undefined;
  }
}

function untilStopped(host: NodeJS.Process): Promise<void> {
  return new Promise((resolve) => void onSignal(host, resolve));
}
