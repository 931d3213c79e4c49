/**
 * Plays a conversation with the practice model against real files in a temporary folder, with
 * minimal tools.
 */
import { execSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { plan } from "../../src/practice/index.ts";
import type { PracticeMessage, PracticeReply } from "../../src/practice/index.ts";

export type Arguments = Readonly<Record<string, string | number | boolean | undefined>>;
export type Tool = (args: Arguments) => string;
export const toolNames = ["read", "write", "edit", "bash", "grep", "glob"] as const;

const folders: string[] = [];
process.once("exit", () =>
  folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })),
);

export function createFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "practice-"));
  folders.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/**
 * The tools for a folder. `limits` truncates the results of read and glob, as the real tools do.
 */
export function createTools(
  folder: string,
  limits: { lines?: number; paths?: number } = {},
): Record<string, Tool> {
  const at = (path: unknown): string => join(folder, typeof path === "string" ? path : ".");
  const text = (path: unknown): string => {
    if (!existsSync(at(path))) throw new Error(`No such file: ${String(path)}`);
    if (statSync(at(path)).isDirectory()) throw new Error(`${String(path)} is a folder; list it`);
    return readFileSync(at(path), "utf8");
  };
  const walk = (path: string): string[] =>
    readdirSync(at(path), { withFileTypes: true }).flatMap((entry) => {
      const name = path === "" ? entry.name : `${path}/${entry.name}`;
      return entry.isDirectory() ? [`${name}/`, ...walk(name)] : [name];
    });
  const glob: Tool = ({ pattern, path, kind = "file", sizes, limit }) => {
    const base = path === "." ? "" : `${String(path)}/`;
    if (!existsSync(at(path))) throw new Error(`No such folder: ${String(path)}`);
    const expression = toExpression(String(pattern));
    const all = walk("").filter((name) => {
      const isKind = kind === "any" || (kind === "directory") === name.endsWith("/");
      return (
        isKind &&
        name.startsWith(base) &&
        name !== base &&
        expression.test(name.slice(base.length).replace(/\/$/, ""))
      );
    });
    const shown = all.toSorted().slice(0, Number(limit ?? limits.paths ?? 500));
    const lines = shown.map((name) => (sizes ? `${statSync(at(name)).size}\t${name}` : name));
    if (shown.length < all.length)
      lines.push(`[${shown.length} of ${all.length} shown; narrow the pattern]`);
    return lines.join("\n") || "[no matches]";
  };
  return {
    glob,
    read: ({ path, offset = 1, limit }) => {
      const whole = text(path);
      if (whole === "") return "[empty file]";
      const lines = whole.replace(/\n$/, "").split("\n");
      const start = Number(offset) - 1;
      if (start >= lines.length)
        throw new Error(`Offset ${String(offset)} is beyond the ${lines.length} lines`);
      const shown = lines.slice(
        start,
        start + Math.min(Number(limit ?? Infinity), limits.lines ?? 2000),
      );
      const end = start + shown.length;
      if (end === lines.length) return start === 0 ? whole : shown.join("\n");
      return `${shown.join("\n")}\n[lines ${start + 1}-${end} of ${lines.length}; read on with offset ${end + 1}]`;
    },
    write: ({ path, content }) => {
      const verb = existsSync(at(path)) ? "Replaced" : "Created";
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), String(content));
      return `${verb} ${String(path)} (${statSync(at(path)).size} bytes)`;
    },
    edit: ({ path, oldText, newText, replaceAll }) => {
      const parts = text(path).split(String(oldText));
      if (parts.length === 1) throw new Error(`oldText is not in ${String(path)}`);
      if (parts.length > 2 && !replaceAll)
        throw new Error(`oldText is ${parts.length - 1} times in ${String(path)}`);
      writeFileSync(at(path), parts.join(String(newText)));
      const line = (parts[0] ?? "").split("\n").length;
      const count = parts.length - 1;
      return `Edited ${String(path)}: ${count} replacement${count === 1 ? "" : "s"} (first at line ${line})`;
    },
    bash: ({ command }) => {
      try {
        return (
          execSync(String(command), { cwd: folder, encoding: "utf8", stdio: "pipe" }) ||
          "[no output]"
        );
      } catch (error) {
        const { stdout, stderr, status } = error as {
          stdout: string;
          stderr: string;
          status: number;
        };
        return `${stdout}${stderr}[exit code ${status}]`;
      }
    },
    grep: ({ pattern, path, glob: names = "*", ignoreCase, literal }) => {
      if (!existsSync(at(path))) throw new Error(`No such file or folder: ${String(path)}`);
      const source = literal
        ? String(pattern).replaceAll(/[^\w\s]/g, String.raw`\$&`)
        : String(pattern);
      const expression = new RegExp(source, ignoreCase ? "i" : "");
      const isFile = statSync(at(path)).isFile();
      const paths = isFile
        ? [String(path)]
        : walk(path === "." ? "" : String(path)).filter((name) => !name.endsWith("/"));
      const hits = paths
        .filter((name) => toExpression(String(names)).test(name.replace(/.*\//, "")))
        .flatMap((name) =>
          text(name)
            .split("\n")
            .map((line, index) => ({ name, line, at: index + 1 })),
        )
        .filter(({ line }) => expression.test(line));
      return hits.map((hit) => `${hit.name}:${hit.at}:${hit.line}`).join("\n") || "[no matches]";
    },
  };
}

/** Converts a glob with ** * ? {a,b} and \ escapes to a regular expression. */
function toExpression(pattern: string): RegExp {
  const parts: Record<string, string> = {
    "**/": "(?:.*/)?",
    "**": ".*",
    "*": "[^/]*",
    "?": "[^/]",
    "{": "(?:",
    "}": ")",
    ",": "|",
  };
  const source = pattern.replaceAll(/\\.|\*\*\/|\*\*|[*?{},]|[^\w]/g, (part) => {
    return parts[part] ?? (part.length === 2 ? part : `\\${part}`);
  });
  return new RegExp(`^${source}$`);
}

export interface Talk {
  /** Returns the final answer to one more user message. */
  say(text: string): string;
  readonly messages: PracticeMessage[];
  /** The calls of the last task, one item per turn: `read {"path":"a.txt"}`. */
  readonly turns: string[][];
  readonly replies: PracticeReply[];
}

export function createTalk(
  tools: Readonly<Record<string, Tool>>,
  offered: readonly string[] = toolNames,
): Talk {
  const messages: PracticeMessage[] = [{ role: "system", content: "You are helpful." }];
  const talk: Talk = { messages, turns: [], replies: [], say };
  function say(text: string): string {
    messages.push({ role: "user", content: text });
    talk.turns.length = 0;
    talk.replies.length = 0;
    for (let turn = 1; turn <= 12; turn++) {
      const reply = plan({
        messages,
        tools: offered.map((name) => ({ type: "function", function: { name } })),
      });
      talk.replies.push(reply);
      if (reply.toolCalls.length === 0) {
        messages.push({ role: "assistant", content: reply.text });
        return reply.text;
      }
      const wire = reply.toolCalls.map(({ id, name, arguments: args }) => ({
        id,
        type: "function",
        function: { name, arguments: JSON.stringify(args) },
      }));
      messages.push({ role: "assistant", content: reply.text, tool_calls: wire });
      talk.turns.push(
        reply.toolCalls.map(({ name, arguments: args }) => `${name} ${JSON.stringify(args)}`),
      );
      for (const call of reply.toolCalls)
        messages.push({
          role: "tool",
          tool_call_id: call.id,
          content: run(tools[call.name], call.arguments as Arguments),
        });
    }
    throw new Error(`no answer after 12 turns: ${text}`);
  }
  return talk;
}

function run(tool: Tool | undefined, args: Arguments): string {
  try {
    return tool === undefined ? "Error: no such tool" : tool(args);
  } catch (error) {
    const { message } = error as Error;
    return message.startsWith("Denied: ") ? message : `Error: ${message}`;
  }
}
