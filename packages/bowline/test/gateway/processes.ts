/** The gateway and wscat as processes of their own. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { compileCache } from "../../../../test/support/compile-cache.ts";

const script = join(import.meta.dirname, "serve-child.ts");
const wscat = fileURLToPath(import.meta.resolve("wscat/bin/wscat"));

export interface ServeProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly url: string;
  readonly token: string;
  readonly lines: readonly string[];
  kill(signal: NodeJS.Signals): Promise<void>;
}

export async function serveProcess(
  env: Record<string, string>,
  options: Record<string, unknown> = {},
): Promise<ServeProcess> {
  const args = ["--conditions=@bowline/source", script, JSON.stringify({ port: 0, ...options })];
  const child = spawn(process.execPath, args, {
    env: { ...compileCache, PATH: process.env.PATH ?? "", HOME: env.BOWLINE_HOME ?? "", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const limit = setTimeout(() => child.kill("SIGKILL"), 60_000);
  const first = once(createInterface({ input: child.stdout }), "line") as Promise<[string]>;
  const [line] = await Promise.race([first, once(child, "exit").then(() => Promise.reject(new Error("it ended")))]);
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
    clearTimeout(limit);
  };
  const said = JSON.parse(line) as Pick<ServeProcess, "url" | "token" | "lines">;
  return { child, ...said, kill, [Symbol.asyncDispose]: () => kill("SIGKILL") };
}

/** wscat with these lines typed; each is typed when the answer to the one before has come. Gives what it printed. */
export async function wscatSession(
  url: string,
  typed: readonly string[],
  isLast: (line: string) => boolean,
): Promise<string[]> {
  const child = spawn(process.execPath, [wscat, "-c", url], { stdio: ["pipe", "pipe", "inherit"] });
  const limit = setTimeout(() => child.kill("SIGKILL"), 20_000);
  const printed: string[] = [];
  let next = 0;
  const type = (): void => {
    const line = typed[next++];
    if (line !== undefined) child.stdin.write(`${line}\n`);
  };
  const lines = createInterface({ input: child.stdout });
  // It connects first; a line that comes too early is lost.
  setTimeout(type, 1000);
  for await (const printedLine of lines) {
    const line = printedLine.replace(/^(?:> )+/, ""); // its prompt, which has no line of its own
    printed.push(line);
    if (printed.length < typed.length) type();
    if (isLast(line)) break;
  }
  clearTimeout(limit);
  child.kill();
  return printed;
}
