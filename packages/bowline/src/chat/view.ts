/**
 * Draws a conversation: finished blocks as lines for the terminal's scrollback, and the state as
 * live lines. A stored session is drawn by the same code.
 */
import type { ErrorInfo } from "@bowline/core";
import type { Colours } from "../screen/colours.ts";
import { approvalLines } from "../screen/text/approval.ts";
import { diffLines } from "../screen/text/diff-lines.ts";
import { Highlighter } from "../screen/text/highlight.ts";
import { MarkdownStream } from "../screen/text/markdown-stream.ts";
import { wrapCode } from "../screen/text/wrap-code.ts";
import { wrapStyled } from "../screen/text/wrap.ts";
import { oneLine, printable } from "../terminal.ts";
import type { Block, CompactionBlock, ShellBlock } from "./block.ts";
import { bytesText, durationText, plural, tokensText, usageText } from "./text.ts";
import { toolLines } from "./tool-lines.ts";

export interface ViewOptions {
  readonly colours: Colours;
  readonly columns: () => number;
  readonly linkStyle: "osc8" | "text";
  /** How a person reads the hidden lines of the last call. Absent: they cannot here. */
  readonly unfold?: string;
}

/** Lines of a message or an output that the transcript shows; the rest is folded. */
const MAX_USER_LINES = 30;
const MAX_SHELL_LINES = 40;

type BlockOf<T extends Block["type"]> = Extract<Block, { type: T }>;

export class View {
  readonly #options: ViewOptions;
  readonly #highlighter: Highlighter;
  #answer: MarkdownStream | undefined;
  /** True after a blank line, so that no second one follows. */
  #isBlank = true;
  #last: Block["type"] | undefined;

  constructor(options: ViewOptions) {
    this.#options = options;
    this.#highlighter = new Highlighter(options.colours);
  }

  /** Returns the lines that are finished with this block. */
  lines(block: Block): string[] {
    if (block.type === "text") return this.#noted(this.#text(block.delta));
    const before = this.#noted(this.#endText());
    if (block.type === "text_end") return before;
    const lines = this.#block(block);
    // A step begins with its calls, after the line of its request.
    if (block.type === "tool" && this.#last === "request") lines.unshift("");
    this.#last = block.type;
    return [...before, ...this.#noted(this.#isBlank && lines[0] === "" ? lines.slice(1) : lines)];
  }

  #noted(lines: string[]): string[] {
    if (lines.length > 0) this.#isBlank = lines.at(-1) === "";
    return lines;
  }

  /** True while an answer streams. */
  get isAnswering(): boolean {
    return this.#answer !== undefined;
  }

  /** The unfinished end of the answer, for the live area. */
  tail(rows: number): string[] {
    return this.#answer?.tail(rows) ?? [];
  }

  #text(delta: string): string[] {
    if (this.#answer !== undefined) return this.#answer.push(delta);
    if (delta.trim() === "") return [];
    this.#answer = new MarkdownStream({ ...this.#options, highlighter: this.#highlighter });
    this.#last = "text";
    return [...(this.#isBlank ? [] : [""]), ...this.#answer.push(delta)];
  }

  #endText(): string[] {
    const lines = this.#answer?.end() ?? [];
    const isOpen = this.#answer !== undefined;
    this.#answer = undefined;
    return isOpen && lines.at(-1) !== "" ? [...lines, ""] : lines;
  }

  #block(block: Exclude<Block, { type: "text" | "text_end" }>): string[] {
    const { dim } = this.#options.colours;
    switch (block.type) {
      case "user":
        return this.#user(block);
      case "thought":
        return [
          dim(
            block.words === 0
              ? "thought (not shown by the vendor)"
              : `thought: ${plural(block.words, "word")}`,
          ),
        ];
      case "tool":
        return toolLines(block, this.#columns, this.#options.colours, this.#options.unfold);
      case "request":
        return this.#wrap(dim(requestText(block)));
      case "retry":
        return this.#wrap(
          `retry ${block.attempt} ${delayText(block.delayMs)}: ${errorText(block.error)}`,
          "yellow",
        );
      case "failover":
        return this.#wrap(
          `${oneLine(block.from, 100)} failed: ${errorText(block.error)}; asking ${oneLine(block.to, 100)}`,
          "yellow",
        );
      case "compaction":
        return this.#wrap(compactionText(block), block.outcome === "none" ? "yellow" : undefined);
      case "compaction_undone":
        return this.#wrap(
          `compaction undone: ${sizesText(block)}; requests contain the earlier messages again`,
        );
      case "asked":
        return this.#asked(block);
      case "answered":
        return this.#wrap(dim(answeredText(block)));
      case "ended":
        return [...this.#wrap(endText(block), block.reason === "aborted" ? "yellow" : "red"), ""];
      case "model":
        return this.#wrap(dim(`model: ${oneLine(block.why ?? block.model, 500)}`));
      case "shell":
        return this.#shell(block);
      case "notice": {
        const colour = ({ info: undefined, warning: "yellow", error: "red" } as const)[block.level];
        return block.text.split("\n").flatMap((line) => this.#row(printable(line), colour));
      }
    }
  }

  get #columns(): number {
    return this.#options.columns();
  }

  #wrap(text: string, colour?: "yellow" | "red"): string[] {
    const { colours } = this.#options;
    return wrapStyled(colour === undefined ? text : colours[colour](text), this.#columns);
  }

  /** Keeps the indent of a line, and wraps the last column of a table below itself. */
  #row(line: string, colour?: "yellow" | "red"): string[] {
    const { colours } = this.#options;
    const [, column = "", last = line] = /^(\s*\S.*\s{2,}|\s+)(\S.*)$/.exec(line) ?? [];
    const hasRoom = column.length <= this.#columns / 2;
    const mark = hasRoom ? column : (/^\s*/.exec(line)?.[0] ?? "");
    const text = hasRoom ? last : line.trim();
    return wrapStyled(colour === undefined ? text : colours[colour](text), this.#columns, { mark });
  }

  #user({ text, media, added = [] }: BlockOf<"user">): string[] {
    const { dim } = this.#options.colours;
    const all = printable(text).split("\n");
    const shown = all.slice(0, MAX_USER_LINES);
    const hidden = all.length - shown.length;
    return [
      "",
      ...shown.flatMap((line, index) => this.#userLine(line, index === 0 ? "> " : "  ")),
      ...(hidden > 0
        ? [dim(`  ${plural(hidden, "more line")} (${bytesText(Buffer.byteLength(text))} in all)`)]
        : []),
      ...(media > 0 ? [dim(`  ${plural(media, "attachment")}`)] : []),
      ...added.flatMap((line) => this.#row(`  + ${oneLine(line, 300)}`).map(dim)),
      "",
    ];
  }

  /** A pasted program keeps its indents and its columns. */
  #userLine(line: string, mark: string): string[] {
    const { bold } = this.#options.colours;
    const text = line.replaceAll("\t", "    ");
    const indent = /^ */.exec(text)?.[0].slice(0, this.#columns >> 1) ?? "";
    const options = { mark: bold(mark) + indent, keepsSpaces: true };
    return wrapStyled(bold(text.trimStart()), this.#columns, options);
  }

  #asked({ toolName, args, reason, parts, rules, change }: BlockOf<"asked">): string[] {
    const { colours } = this.#options;
    const details = change && {
      details: (columns: number) =>
        diffLines(change.before, change.after, change.path, columns, colours),
    };
    const view = { tool: toolName, args, reason, parts, rules, ...details };
    return ["", ...approvalLines(view, this.#columns, colours)];
  }

  #shell({ command, output, end, isHidden }: ShellBlock): string[] {
    const { colours } = this.#options;
    const { bold, dim } = colours;
    const lines = printable(output).replace(/\n$/, "").split("\n");
    const shown = lines.slice(-MAX_SHELL_LINES);
    const hidden = lines.length - shown.length;
    return [
      "",
      ...this.#wrap(bold(`! ${oneLine(command, 1000)}`)),
      ...(hidden > 0 ? [dim(`  ${plural(hidden, "earlier line")} hidden`)] : []),
      ...(output === ""
        ? []
        : shown.flatMap((line) => wrapCode(line, this.#columns, colours, "  "))),
      dim(`  ${oneLine(end, 200)}${isHidden ? "; not shown to the model" : ""}`),
      "",
    ];
  }
}

function requestText({ model, usage, ms, within }: BlockOf<"request">): string {
  const by = within === undefined ? "" : `${oneLine(within, 60)}: `;
  return `${by}${oneLine(model, 100)} · ${usageText(usage)} · ${durationText(ms)}`;
}

function delayText(ms: number): string {
  return ms < 50 ? "at once" : `in ${durationText(ms)}`;
}

/** The server's own words, with status and request id. */
function errorText({ message, status, requestId }: ErrorInfo): string {
  const facts = [
    ...(status === undefined || message.includes(`HTTP ${status}`) ? [] : [`HTTP ${status}`]),
    ...(requestId === undefined ? [] : [`request id ${oneLine(requestId, 100)}`]),
  ];
  return `${oneLine(message, 1000).replace(/\.$/, "")}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`;
}

function compactionText({ before, after, outcome, usage, error }: CompactionBlock): string {
  const cost =
    usage === undefined || Object.keys(usage).length === 0 ? "" : ` · ${usageText(usage)}`;
  const why = error === undefined ? "" : ` · ${errorText(error)}`;
  const kept = outcome === "none" ? "" : "; the session keeps the old messages";
  return `compaction: ${sizesText({ before, after })}, ${outcome}${kept}${cost}${why}`;
}

function sizesText({
  before,
  after,
}: {
  before?: number | undefined;
  after?: number | undefined;
}): string {
  const size = (tokens: number | undefined): string =>
    tokens === undefined ? "?" : tokensText(tokens);
  return `${size(before)} → ${size(after)} tokens`;
}

function answeredText({ toolName, decision, by, reason }: BlockOf<"answered">): string {
  const words = { allow: "allowed", deny: "denied", expired: "not answered" } as const;
  const who = by === undefined ? "" : ` by ${oneLine(by, 200)}`;
  const why = reason === undefined ? "" : `: ${oneLine(reason, 500)}`;
  return `${oneLine(toolName, 60)} ${words[decision]}${who}${why}`;
}

function endText({ reason, error }: BlockOf<"ended">): string {
  const why = error === undefined ? "" : `: ${errorText(error)}`;
  switch (reason) {
    case "aborted":
      return "interrupted; a message or /continue goes on";
    case "interrupted":
      return "this run did not end: its process stopped, or the session was forked here";
    case "length":
      return "the answer was cut by the model's token limit";
    case "budget":
      return `the budget is used up${why}`;
    case "error":
      return `failed${why}; a message or /continue goes on`;
  }
}
