/**
 * Helpers for tests of sessions: temporary folders, other processes, entries that are easy to
 * compare.
 */
import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { compileCache } from "../../../../test/support/compile-cache.ts";
import type { AnyEntry, EntryBody, Session } from "../../src/session/index.ts";
import type { AppendableFile } from "../../src/session/node/file.ts";

/** A temporary folder, removed at the end. */
export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "bowline-session-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Texts of very different lengths that depend only on the number. */
export function textFor(seq: number): string {
  return `${seq} ${"äx🪢".repeat((seq * 7919) % (seq % 10 === 0 ? 5000 : 50))}`;
}

export function user(text: string, timestamp = 1): EntryBody {
  return { type: "message", message: { role: "user", content: text, timestamp } };
}

/** Appends messages with these texts, and returns their ids. */
export async function say(session: Session, ...texts: string[]): Promise<string[]> {
  const entries = await Promise.all(texts.map((text) => session.append(user(text))));
  return entries.map(({ id }) => id);
}

export async function collect<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of iterable) all.push(one);
  return all;
}

export const seqs = (entries: readonly AnyEntry[]): number[] => entries.map(({ seq }) => seq);

/** `0` to `count - 1`. */
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

type Bytes = Uint8Array;

/** A file in memory that can be made to fail. Records its bytes and the calls on it. */
export class MemoryFile implements AppendableFile {
  bytes: Buffer;
  /** The maximum length of the file. */
  room = Infinity;
  /** Error codes, each thrown by the next call of that name. */
  readonly failures: Partial<Record<"write" | "truncate" | "datasync", string>> = {};
  readonly calls: string[] = [];
  bytesRead = 0;
  /** After this many bytes reads reject, so that endless reading fails. */
  readLimit = Infinity;

  constructor(bytes: Buffer = Buffer.alloc(0)) {
    this.bytes = bytes;
  }

  async stat(): Promise<{ size: number; mtimeMs: number; nlink: number }> {
    return { size: this.bytes.length, mtimeMs: 0, nlink: 1 };
  }

  readonly read: AppendableFile["read"] = (async (
    into: Bytes,
    offset: number,
    length: number,
    position: number,
  ) => {
    if (this.bytesRead > this.readLimit) throw new Error(`${this.bytesRead} bytes were read.`);
    const part = this.bytes.subarray(position, position + length);
    part.copy(into, offset);
    this.bytesRead += part.length;
    return { bytesRead: part.length, buffer: into };
  }) as AppendableFile["read"];

  readonly write: AppendableFile["write"] = (async (
    from: Bytes,
    offset: number,
    length: number,
  ) => {
    await this.#call("write");
    const taken = Math.min(length, this.room - this.bytes.length);
    if (taken <= 0) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    this.bytes = Buffer.concat([this.bytes, from.subarray(offset, offset + taken)]);
    return { bytesWritten: taken, buffer: from };
  }) as AppendableFile["write"];

  async truncate(length = 0): Promise<void> {
    await this.#call("truncate");
    this.bytes = this.bytes.subarray(0, length);
  }

  async datasync(): Promise<void> {
    await this.#call("datasync");
  }

  async close(): Promise<void> {
    this.calls.push("close");
  }

  /** Asynchronous, as on a disk. */
  async #call(name: "write" | "truncate" | "datasync"): Promise<void> {
    this.calls.push(name);
    await new Promise((resolve) => setImmediate(resolve));
    const code = this.failures[name];
    delete this.failures[name];
    if (code !== undefined) throw Object.assign(new Error(`${name} failed`), { code });
  }
}

export interface Child extends AsyncDisposable {
  readonly process: ChildProcess;
  /** All lines so far. */
  readonly said: unknown[];
  /** Resolves with the next line, or undefined at the end. */
  next(): Promise<unknown>;
  /** Kills the process; resolves when it has ended and all its lines are read. */
  kill(): Promise<void>;
  /** All lines up to its end; rejects when it fails. */
  end(): Promise<unknown[]>;
}

/** The program that {@link startChild} starts. */
export const childSource = join(import.meta.dirname, "child.ts");

/** Starts child.ts, or a bundle of it. `before` is a command that runs it. */
export function startChild(
  args: readonly string[],
  options: SpawnOptions = {},
  before: readonly string[] = [],
  script = childSource,
): Child {
  const node = [process.execPath, "--conditions=@bowline/source", script];
  const [program = "", ...rest] = [...before, ...node, ...args];
  const child = spawn(program, rest, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...compileCache },
    ...options,
  });
  const closed = once(child, "close");
  closed.catch(() => {});
  const said: unknown[] = [];
  let complaint = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  // Ignores a line that was cut by a kill.
  lines.on("line", (line) => void (isWhole(line) && said.push(JSON.parse(line))));
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await closed;
  };
  return {
    process: child,
    said,
    async next() {
      const count = said.length;
      while (said.length === count && child.exitCode === null && child.signalCode === null) {
        await Promise.race([once(lines, "line"), closed]);
      }
      return said[count];
    },
    kill,
    async end() {
      const [code] = (await closed) as [number | null];
      if (code !== 0) throw new Error(`the other process failed: ${complaint}`);
      return said;
    },
    [Symbol.asyncDispose]: kill,
  };
}

function isWhole(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
