/** `bowline serve`: agents behind a socket, until it is told to stop. */
import { serve as startServing, type Served, type ServeOptions } from "../serve/serve.ts";
import { CommandError, explained } from "../command-error.ts";
import { exitCode } from "./exit.ts";
import { serveHelp } from "./help.ts";
import { onSignal } from "./on-signal.ts";
import { parseServeOptions } from "./serve-options.ts";
import { oneLine, printableJson } from "../terminal.ts";

/**
 * Gives the exit code when a signal ended it. Throws `UsageError` and `CommandError` for what one
 * line can explain.
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
  const served = await start({ ...options, version, env: host.env, ...(!json && { print }) });
  if (json) host.stdout.write(`${readyLine(served, host.pid, version)}\n`);
  await stopped;
  (json ? host.stderr : host.stdout).write(
    "Stopping; runs that are open go on with the next start.\n",
  );
  await served.close();
  return exitCode.done;
}

/** For the program that started it. The token is not in it: such lines are kept in logs. */
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

/** Undefined for what is no refusal to listen. */
function whyNot({ code = "", port, address, hostname }: ListenError): string | undefined {
  switch (code) {
    case "EADDRINUSE":
      return `Port ${port} is taken, perhaps by another bowline serve: name one with --port.`;
    case "EACCES":
      return `Port ${port} is not for this user (EACCES): name one above 1023 with --port.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `${address ?? hostname} is no address of this machine (${code}): name one with --host.`;
    default:
      return undefined;
  }
}

function untilStopped(host: NodeJS.Process): Promise<void> {
  return new Promise((resolve) => void onSignal(host, resolve));
}
