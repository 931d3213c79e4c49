/**
 * Tells what happens to MCP servers and hooks during `bowline run`, for the program that reads its output.
 * These lines are no events of the run. They wait for the line of the session, which comes first.
 */
import type { HookNews } from "../hooks/news.ts";
import type { ServerNews } from "../mcp/news.ts";
import { oneLine, printableJson, type Output } from "../terminal.ts";
import type { OutputFormat } from "./run-options.ts";

export type SideLine = ServerNews | HookNews;

/** More lines than a program reads. A server that fails again and again must not fill the memory. */
const MAX_LINES = 1_000;

export class SideLog {
  readonly #output: OutputFormat;
  readonly #stdout: Output;
  readonly #lines: SideLine[] = [];
  #say: (line: string) => void;
  #hasBegun = false;

  constructor(output: OutputFormat, { stdout, stderr }: Pick<NodeJS.Process, "stdout" | "stderr">) {
    this.#output = output;
    this.#stdout = stdout;
    this.#say = (line) => void stderr.write(`${line}\n`);
  }

  /** Shows a line to the person. */
  say(line: string): void {
    this.#say(`bowline: ${oneLine(line, 1000)}`);
  }

  /** From now on lines go through the report, which may be in the middle of a line. */
  through(say: (line: string) => void): void {
    this.#say = say;
  }

  add(line: SideLine): void {
    if (this.#lines.length < MAX_LINES) this.#lines.push(line);
    if (this.#hasBegun) this.#write(line);
  }

  /** Called when the line of the session has been written. */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    for (const line of this.#lines) this.#write(line);
  }

  /** All lines so far, at most 1,000, for the one object of `--output-format json`. */
  get lines(): readonly SideLine[] {
    return this.#lines;
  }

  #write(line: SideLine): void {
    if (this.#output === "stream-json") this.#stdout.write(`${printableJson(line)}\n`);
  }
}
