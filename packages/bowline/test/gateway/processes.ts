/** The gateway and wscat as child processes. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { compileCache } from "../../../../test/support/compile-cache.ts";

/** Upper limit of a test, far above what a busy machine needs, in milliseconds. */
const LIMIT_MS = 300_000;
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
  const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  const first = once(createInterface({ input: child.stdout }), "line") as Promise<[string]>;
  const [line] = await Promise.race([
    first,
    once(child, "exit").then(() => Promise.reject(new Error("it ended"))),
  ]);
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
    clearTimeout(limit);
  };
  const said = JSON.parse(line) as Pick<ServeProcess, "url" | "token" | "lines">;
  return { child, ...said, kill, [Symbol.asyncDispose]: () => kill("SIGKILL") };
}

/** Runs wscat and types each line when the previous one was answered. Returns the output lines. */
export async function wscatSession(
  url: string,
  typed: readonly string[],
  isLast: (line: string) => boolean,
): Promise<string[]> {
  const door = await doorTo(url);
  const child = spawn(process.execPath, [wscat, "-c", door.url], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  const printed: string[] = [];
  let next = 0;
  const type = (): void => {
    const line = typed[next++];
    if (line !== undefined) child.stdin.write(`${line}\n`);
  };
  const lines = createInterface({ input: child.stdout });
  // wscat loses a line that is typed before it is connected.
  void door.entered.then(type);
  for await (const printedLine of lines) {
    const line = printedLine.replace(/^(?:> )+/, ""); // removes the prompt, which is on the same line
    printed.push(line);
    if (printed.length < typed.length) type();
    if (isLast(line)) break;
  }
  clearTimeout(limit);
  child.kill();
  door.close();
  return printed;
}

const PING = Buffer.from([0x89, 0]);

/**
 * A relay to the server that pings a client after the handshake. `entered` resolves when the client
 * answers.
 */
async function doorTo(
  url: string,
): Promise<{ readonly url: string; readonly entered: Promise<void>; readonly close: () => void }> {
  const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
  const { port } = new URL(url);
  const server = createServer((socket) => {
    const onward = connect(Number(port), "127.0.0.1");
    for (const [end, other] of [[socket, onward] as const, [onward, socket] as const])
      end.on("error", () => {}).on("close", () => other.destroy());
    // The server sends only the handshake before the client sends a frame.
    onward.once("data", (handshake: Buffer) => {
      socket.write(Buffer.concat([handshake, PING]));
      onward.pipe(socket);
      socket.once("data", () => enter());
    });
    socket.pipe(onward);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const own = new URL(url);
  own.port = String((server.address() as AddressInfo).port);
  return { url: own.href, entered, close: () => void server.close() };
}
