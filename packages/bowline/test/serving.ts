/** Runs `bowline serve` from source as a separate process. */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { join } from "node:path";
import { compileCache } from "../../../test/support/compile-cache.ts";
import { commandLine } from "./command-line.ts";

/** Upper limit of a test, far above what a busy machine needs, in milliseconds. */
const LIMIT_MS = 300_000;

export interface Started extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly url: string;
  /** The output so far: both streams, and standard output alone. */
  said(): string;
  stdout(): string;
  /** Resolves when the output matches. */
  until(pattern: RegExp): Promise<void>;
  /** Resolves with its exit code, and with the signal if one ended it. */
  end(): Promise<[number | null, NodeJS.Signals | null]>;
}

/** Resolves when the server listens and has printed its startup lines. */
export async function started(
  home: string,
  args: readonly string[] = ["--port", "0"],
  env: Record<string, string> = {},
): Promise<Started> {
  const [program = "", ...line] = commandLine;
  const child = spawn(program, [...line, "serve", ...args], {
    cwd: home,
    env: {
      ...compileCache,
      BOWLINE_DISCOVERY: "off",
      PATH: process.env.PATH ?? "",
      HOME: home,
      BOWLINE_HOME: join(home, "data"),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  const ended = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  ended.then(
    () => clearTimeout(limit),
    () => {},
  );
  let [said, stdout] = ["", ""];
  const heard = new EventEmitter();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      said += text;
      heard.emit("data");
    });
  child.stdout.on("data", (text) => (stdout += text));
  const until = async (pattern: RegExp): Promise<void> => {
    while (!pattern.test(said)) {
      await Promise.race([once(heard, "data"), ended]);
      if (child.exitCode !== null || child.signalCode !== null) assert.fail(`it ended: ${said}`);
    }
  };
  const isJson = args.includes("--json");
  await until(isJson ? /^\{.*\}\n/m : /^Workspace: .*\n/m);
  return {
    until,
    child,
    url: (isJson ? /"url":"([^"]+)"/ : /^Listening on (\S+)/m).exec(said)?.[1] ?? "",
    said: () => said,
    stdout: () => stdout,
    end: () => ended,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await ended;
    },
  };
}
