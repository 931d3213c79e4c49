/** A working directory in a temporary folder, next to a folder that must stay unreachable. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentToolResult } from "@bowline/core";
import { createTools, type ToolsOptions } from "../../src/tools/index.ts";
import { processesIn } from "./processes.ts";

export interface Outcome {
  readonly text: string;
  readonly isError: boolean;
  /** Whether the tool threw. */
  readonly thrown: boolean;
  readonly details: Readonly<Record<string, unknown>>;
  readonly content: NonNullable<AgentToolResult["content"]>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onUpdate?: (text: string) => void;
}

export interface Folder {
  readonly root: string;
  readonly outside: string;
  /** The folder for bash's long output. */
  readonly outputs: string;
  at(name: string): string;
  put(name: string, content: string | Uint8Array): string;
  get(name: string): string;
  call(tool: string, args: object, options?: CallOptions): Promise<Outcome>;
}

/** How long a killed process may take to disappear, in milliseconds. */
const LEFTOVER_MS = 20_000;

/**
 * Creates the folder. The test fails if a process still works in the folder at its end, after
 * `LEFTOVER_MS`.
 */
export function createFolder(
  context: TestContext,
  options: Omit<ToolsOptions, "root"> = {},
): Folder {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "bowline-tools-")));
  const [root, outside, outputs] = [
    join(base, "root"),
    join(base, "outside"),
    join(base, ".outputs"),
  ];
  for (const folder of [root, outside, outputs]) mkdirSync(folder);
  context.after(async () => {
    for (const end = Date.now() + LEFTOVER_MS; processesIn(base).length > 0 && Date.now() < end;)
      await sleep(20);
    const left = processesIn(base);
    rmSync(base, { recursive: true, force: true });
    assert.deepEqual(left, [], "a process was left running");
  });
  const tools = createTools({ root, outputFolder: outputs, ...options });
  const at = (name: string): string => join(root, name);
  return {
    root,
    outside,
    outputs,
    at,
    put(name, content) {
      mkdirSync(dirname(at(name)), { recursive: true });
      writeFileSync(at(name), content);
      return at(name);
    },
    get: (name) => readFileSync(at(name), "utf8"),
    async call(name, args, { signal, onUpdate } = {}) {
      const tool = tools.find((candidate) => candidate.name === name);
      if (tool === undefined) throw new Error(`no tool ${name}`);
      try {
        const result = await tool.execute("call-1", args, signal, ({ content }) =>
          onUpdate?.(textOf(content)),
        );
        const { content = [], details, isError = false } = result;
        return {
          text: textOf(content),
          isError,
          thrown: false,
          details: details as Outcome["details"],
          content,
        };
      } catch (error) {
        return {
          text: (error as Error).message,
          isError: true,
          thrown: true,
          details: {},
          content: [],
        };
      }
    },
  };
}

function textOf(content: AgentToolResult["content"] = []): string {
  return content.map((part) => (part.type === "text" ? part.text : `<${part.mimeType}>`)).join("");
}
