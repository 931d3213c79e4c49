/**
 * Speaks to a server over the standard streams of its process. Unlike the client library's
 * transport, it ends the whole process group, bounds what it holds, and keeps the last of stderr.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { statSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import {
  deserializeMessage,
  serializeMessage,
  type JSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import type { Clock } from "@bowline/core";
import type { Environment } from "../config/expand.ts";
import type { StdioConfig } from "../config/server-config.ts";
import { childEnvironment } from "./child-environment.ts";
import { Lines } from "./lines.ts";
import { guardGroup, signalGroup } from "./process-group.ts";
import { Tail } from "./tail.ts";

export interface StdioTransportOptions {
  readonly config: StdioConfig;
  /** The environment of which the safe part is passed on. */
  readonly env: Environment;
  readonly clock: Clock;
  /** Longest line from the server, and most bytes that may wait to be read by it. */
  readonly messageBytes: number;
  /** How long the server has to end by itself, and again after SIGTERM. */
  readonly closeMs: number;
}

/** Time for what a process wrote last, where another process still holds its pipes. */
const DRAIN_MS = 250;

/** Says what is not there: the system names the command for a missing directory too. */
function whyNotStarted(error: NodeJS.ErrnoException, { command, cwd }: StdioConfig): string {
  const { code, message } = error;
  if (code !== "ENOENT" && code !== "ENOTDIR") return message;
  if (cwd !== undefined && !statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    return `its cwd ${JSON.stringify(cwd)} is not a directory (${code})`;
  const hint = /\s/.test(command) ? ". A command is one program: put the rest in args" : "";
  return `its command ${JSON.stringify(command)} was not found (${code})${hint}`;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** How the process ended, such as "exit code 1". Undefined while it runs. */
  end: string | undefined;
  /** The first line of stdout that is no message, at most 200 characters. */
  noise: string | undefined;
  readonly #options: StdioTransportOptions;
  readonly #stderr = new Tail(8 * 1024);
  #child: Child | undefined;
  #isClosed = false;
  #exited: Promise<void> = Promise.resolve();
  /** Resolves when the streams have ended too. */
  #drained: Promise<void> = Promise.resolve();

  constructor(options: StdioTransportOptions) {
    this.#options = options;
  }

  /** The client library takes a transport with `pid` and `stderr` for one over a pipe. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** The last that the process wrote to stderr. */
  get stderr(): string {
    return this.#stderr.text;
  }

  start(): Promise<void> {
    const { config, env } = this.#options;
    const child: Child = spawn(config.command, [...config.args], {
      env: childEnvironment(env, config.env),
      cwd: config.cwd,
      stdio: ["pipe", "pipe", "pipe"],
      // The leader of a group of its own, so that what it starts can be ended with it.
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    this.#child = child;
    const ignore = (): void => {};
    child.stdin.on("error", ignore);
    child.stderr.on("error", ignore).on("data", (chunk: Buffer) => this.#stderr.push(chunk));
    this.#read(child);
    return new Promise((resolve, reject) => {
      child.once("error", (error) => {
        this.end ??= whyNotStarted(error, config);
        reject(error);
        this.#finish();
      });
      child.once("spawn", () => {
        this.#watch(child);
        resolve();
      });
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || this.#isClosed || !stdin.writable)
      throw new Error("the server's input is closed");
    if (stdin.writableLength > this.#options.messageBytes)
      throw new Error("the server does not read its input");
    await new Promise<void>((resolve, reject) =>
      stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve())),
    );
  }

  /** Ends the server: closes its input, then SIGTERM, then SIGKILL, to the whole group. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.pid === undefined) return this.#finish();
    child.stdin.end();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (await this.#isOver(this.#exited, this.#options.closeMs)) break;
      signalGroup(child, signal);
    }
    await this.#isOver(this.#exited, this.#options.closeMs);
    await this.#isOver(this.#drained, DRAIN_MS);
    this.#finish();
  }

  /** Ends the server at once. */
  kill(why: string): void {
    this.end ??= why;
    if (this.#child !== undefined) signalGroup(this.#child, "SIGKILL");
  }

  #read(child: Child): void {
    const lines = new Lines(this.#options.messageBytes);
    child.stdout.on("error", (error) => this.onerror?.(error));
    child.stdout.on("data", (chunk: Buffer) => {
      if (this.#isClosed) return;
      try {
        for (const line of lines.push(chunk)) this.#take(line);
      } catch (error) {
        this.onerror?.(error as Error);
        this.kill((error as Error).message);
      }
    });
  }

  #take(line: string): void {
    if (line.trim() === "") return;
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch {
      const noise = line.slice(0, 200);
      this.noise ??= noise;
      this.onerror?.(new Error(`not a message: ${noise}`));
      return;
    }
    this.onmessage?.(message);
  }

  #watch(child: Child): void {
    const dismiss = guardGroup(child);
    this.#exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        // What the server has started must not outlive it, nor hold its pipes.
        signalGroup(child, "SIGKILL");
        dismiss();
        this.end ??= signal === null ? `exit code ${code}` : `signal ${signal}`;
        resolve();
      });
    });
    this.#drained = new Promise((resolve) => {
      child.once("close", () => {
        this.#finish();
        resolve();
      });
    });
  }

  /** Waits for an end. Returns whether it came in time. */
  async #isOver(end: Promise<void>, ms: number): Promise<boolean> {
    let cancel = (): void => {};
    const late = new Promise<boolean>((resolve) => {
      cancel = this.#options.clock.setTimer(ms, () => resolve(false));
    });
    const isOver = await Promise.race([end.then(() => true), late]);
    cancel();
    return isOver;
  }

  #finish(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const stream of [this.#child?.stdin, this.#child?.stdout, this.#child?.stderr])
      stream?.destroy();
    this.onclose?.();
  }
}
