/** `bowline serve`: serves agents over a WebSocket until it is stopped. */
import { serveCluster, type ServedCluster } from "../serve/serve-cluster.ts";
import { serve as startServing, type Served } from "../serve/serve.ts";
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
  const { help, json, cluster, role, ...given } = parseServeOptions(args);
  if (help) {
    host.stdout.write(serveHelp());
    return exitCode.done;
  }
  const stopped = untilStopped(host);
  const print = (line: string): void => void host.stdout.write(`${oneLine(line, 1000)}\n`);
  const options = { ...given, version, env: host.env, ...(!json && { print }) };
  const say = (line: string): void => void (json ? host.stderr : host.stdout).write(`${line}\n`);
  if (cluster === undefined) {
    const served = await started(() => startServing(options));
    if (json) host.stdout.write(`${readyLine(served, host.pid, version)}\n`);
    await stopped;
    say("Stopping. Unfinished runs continue at the next start.");
    await served.close();
    return exitCode.done;
  }
  const served = await started(() => serveCluster({ ...options, cluster, ...(role && { role }) }));
  if (json) host.stdout.write(`${readyLine(served, host.pid, version)}\n`);
  await stopped;
  say("Draining. Other processes of the cluster continue the runs.");
  await served.stop();
  return exitCode.done;
}

/**
 * One line for the program that started the command. It omits the token, because such lines end up
 * in logs.
 */
function readyLine(served: Served | ServedCluster, pid: number, version: string): string {
  const { url, host, port, isExposed, workspace, made, notices } = served;
  return printableJson({
    type: "ready",
    url,
    host,
    port,
    pid,
    version,
    isExposed,
    ...("role" in served ? { role: served.role } : { token: served.tokenFrom }),
    workspace,
    made,
    notices,
  });
}

async function started<T>(start: () => Promise<T>): Promise<T> {
  try {
    return await explained(start);
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
