/**
 * Shows a run to a person: the answer on standard output; thinking, tool calls, waits and totals on
 * standard error.
 */
import {
  messageText,
  type AgentEvent,
  type ErrorInfo,
  type RunResult,
  type Usage,
} from "@bowline/core";
import { Retries, retryReason } from "./retries.ts";
import { StatusLine } from "./status-line.ts";
import { durationText, WaitingLine, type Awaited } from "./waiting-line.ts";
import {
  oneLine,
  printable,
  printableJson,
  styleFor,
  type Output,
  type Style,
} from "../terminal.ts";

export interface Report {
  event(event: AgentEvent): void;
  /** Shows a line about something beside the run. */
  note(line: string): void;
  /** Prints the end of the run. `advice` says what a person can do about a failure. */
  result(result: RunResult, advice?: string): void;
}

/** Prints the event log to standard output, one JSON object per line. */
export function jsonReport(stdout: Output, stderr: Output): Report {
  return {
    event: (event) => void stdout.write(`${printableJson(event)}\n`),
    note: (line) => void stderr.write(`${line}\n`),
    result: () => {},
  };
}

/** Text for people. Streams the answer on a terminal; a pipe receives only the final answer. */
export class TextReport implements Report {
  readonly #stdout: Output;
  readonly #stderr: Output;
  readonly #style: Style;
  readonly #started = Date.now();
  readonly #awaited: Awaited;
  readonly #status: StatusLine;
  readonly #waiting: WaitingLine;
  readonly #retries = new Retries();
  /** The kind of text the cursor is inside; undefined at the start of a line. */
  #inside: "text" | "thinking" | undefined;
  #streamed = "";
  #isCutOff = false;
  /** Start times of the running tool calls, by id. */
  readonly #begun = new Map<string, number>();

  constructor(
    stdout: Output,
    stderr: Output,
    env: Readonly<Record<string, string | undefined>>,
    awaited: Awaited,
  ) {
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.#style = styleFor(stderr, env);
    this.#awaited = awaited;
    this.#status = new StatusLine(stderr, env);
    this.#waiting = new WaitingLine(this.#status, this.#style, awaited);
  }

  event(event: AgentEvent): void {
    const { dim, red, green, yellow } = this.#style;
    switch (event.type) {
      case "turn_start":
        this.#streamed = "";
        return this.#waiting.start();
      case "message_update": {
        const update = event.assistantMessageEvent;
        if (update.type === "text_delta") this.#text(update.delta);
        else if (update.type === "thinking_delta") this.#thinking(update.delta);
        else if (update.type === "message_retract") this.#retract();
        return;
      }
      case "message_end": {
        const { message } = event;
        if (message.role !== "assistant") return; // the user's message arrives during the wait for the model
        const { stopReason } = message;
        // With text, it has answered before this.
        if (stopReason !== "error" && stopReason !== "aborted") this.#answered();
        this.#waiting.stop();
        this.#breakLine();
        // Text before tool calls is not the answer. On a terminal it was already streamed; print it
        // here for pipes.
        const text =
          this.#stdout.isTTY !== true && message.stopReason === "toolUse"
            ? messageText(message)
            : "";
        if (text !== "") this.#line(text);
        return;
      }
      case "tool_execution_start":
        this.#begun.set(event.toolCallId, Date.now());
        return this.#line(dim(`→ ${call(event)}`));
      case "tool_execution_end": {
        this.#begun.delete(event.toolCallId);
        const first = messageText({ content: event.result.content ?? [] });
        const word = stopWords[event.outcome];
        const mark = word === undefined ? red("✗") : yellow("■");
        const ended = word === undefined ? "" : ` ${yellow(word)}`;
        const took = dim(`(${event.durationMs} ms)`);
        return this.#line(
          event.isError
            ? `${mark} ${call({ ...event, args: {} })}${ended} ${took}: ${oneLine(first, 300)}`
            : `${green("✓")} ${event.toolName} ${took}`,
        );
      }
      case "request_retry":
        return this.#retry(event.error);
      case "model_failover": {
        const { from, to, error } = event;
        return this.#passing(
          `${from.provider}/${from.model}: ${oneLine(error.message, 300)}; asking ${to.provider}/${to.model}`,
        );
      }
      case "compaction_start":
        return this.#passing(
          `the conversation is long (${event.tokensBefore} tokens); making it shorter`,
        );
      case "compaction_end":
        return this.#passing(compactionText(event));
      case "tool_execution_update":
        return this.#progress(event);
      case "approval_request":
      case "approval_answer":
      case "agent_start":
      case "agent_end":
      case "turn_end":
      case "message_start":
        return;
    }
  }

  /** Ends a line that streams. What is waited for goes on. */
  note(line: string): void {
    this.#waiting.above(() => {
      this.#breakLine();
      this.#stderr.write(`${printable(line)}\n`);
    });
  }

  result(result: RunResult, advice?: string): void {
    this.#waiting.stop();
    this.#breakLine();
    const answer = result.text;
    if (this.#stdout.isTTY !== true && answer !== "")
      this.#stdout.write(answer.endsWith("\n") ? answer : `${answer}\n`);
    if (result.reason !== "done") this.#line(this.#style.red(`bowline: ${endOf(result, advice)}`));
    const { dim } = this.#style;
    this.#line(
      dim(
        `${count(result.turns, "turn")}, ${count(result.tools.length, "tool call")}, ${usageText(result.usage)}, ${((Date.now() - this.#started) / 1000).toFixed(1)} s`,
      ),
    );
  }

  /** Shows the last lines of a tool's output until the tool ends. */
  #progress({ toolCallId, toolName, partialResult }: ProgressEvent): void {
    const since = this.#begun.get(toolCallId);
    if (since === undefined || !this.#status.isOn) return;
    const lines = messageText({ content: partialResult.content ?? [] })
      .split("\n")
      .filter((line) => line.trim() !== "");
    this.#breakLine();
    this.#waiting.tool(toolName, lines.slice(-MAX_PROGRESS_LINES), since);
  }

  #text(delta: string): void {
    this.#answered();
    this.#waiting.stop();
    if (this.#stdout.isTTY !== true) return;
    if (this.#inside === "thinking") this.#breakLine();
    this.#inside = "text";
    this.#streamed = delta;
    this.#stdout.write(printable(delta));
  }

  #thinking(delta: string): void {
    this.#answered();
    this.#waiting.stop();
    if (this.#inside === "text") this.#breakLine();
    this.#inside = "thinking";
    this.#streamed = delta;
    this.#stderr.write(this.#style.dim(printable(delta)));
  }

  /** Shows one updating line on a terminal; elsewhere prints a line for each new reason. */
  #retry(error: ErrorInfo): void {
    const { server, retryMs } = this.#awaited;
    const reason = retryReason(error, server, this.#isCutOff);
    this.#isCutOff = false;
    const isNew = this.#retries.add(reason);
    if (this.#status.isOn) {
      this.#breakLine();
      this.#waiting.retry(reason, this.#retries.count, this.#retries.since);
    } else if (isNew) {
      const hasLimit = error.retryable && retryMs !== undefined;
      const limit = hasLimit ? ` for up to ${durationText(retryMs)}` : "";
      this.#line(this.#style.dim(`… ${reason}. Retrying${limit}.`));
    }
  }

  /** Notes that the partial answer is cut off here; the answer is generated again. */
  #retract(): void {
    this.#isCutOff = true;
    if (this.#inside !== undefined)
      this.#line(this.#style.dim("… cut off here; the answer starts again"));
  }

  #answered(): void {
    const text = this.#retries.end(this.#awaited.server);
    if (text !== undefined) this.#line(this.#style.dim(`… ${text}`));
  }

  /** Prints a line while the wait for the model continues. */
  #passing(text: string): void {
    this.#line(this.#style.dim(`… ${text}`));
    this.#waiting.start();
  }

  #line(text: string): void {
    this.#waiting.stop();
    this.#breakLine();
    this.#stderr.write(`${text.split("\n").map(printableKeepingStyle).join("\n")}\n`);
  }

  #breakLine(): void {
    if (this.#inside !== undefined && !this.#streamed.endsWith("\n"))
      (this.#inside === "text" ? this.#stdout : this.#stderr).write("\n");
    this.#inside = undefined;
  }
}

type CompactionEnd = Extract<AgentEvent, { type: "compaction_end" }>;
type ToolEnd = Extract<AgentEvent, { type: "tool_execution_end" }>;
type ProgressEvent = Extract<AgentEvent, { type: "tool_execution_update" }>;

/** Outcomes that are no failures of the tool itself. */
const stopWords: Partial<Record<ToolEnd["outcome"], string>> = {
  stopped: "stopped",
  left_running: "left running",
};

const MAX_ARGUMENTS = 300;
const MAX_PROGRESS_LINES = 5;

function call({ toolName, args }: { toolName: string; args?: unknown }): string {
  const text =
    args === undefined || Object.keys(args as object).length === 0
      ? ""
      : ` ${JSON.stringify(args)}`;
  return oneLine(`${toolName}${text}`, MAX_ARGUMENTS);
}

/** Makes a line printable again and keeps the program's own colours. */
function printableKeepingStyle(line: string): string {
  return line
    .split(/(\u001b\[\d+m)/)
    .map((piece, index) => (index % 2 === 1 ? piece : printable(piece)))
    .join("");
}

function endOf({ reason, error }: RunResult, advice: string | undefined): string {
  if (reason === "length") return "the answer was cut by the model's token limit";
  return oneLine(advised(error?.message ?? reason, advice), 1200);
}

/** Joins an error message and the advice for it. */
export function advised(message: string, advice: string | undefined): string {
  if (advice === undefined) return message;
  return `${message.slice(0, 900)}${/[.!?]$/.test(message) ? "" : "."} ${advice}`;
}

function usageText({ input, output, cacheRead, cost }: Usage): string {
  if (input === undefined && output === undefined) return "tokens unknown";
  const cached = cacheRead === undefined || cacheRead === 0 ? "" : ` (+${cacheRead} cached)`;
  return `${input ?? "?"} tokens in${cached}, ${output ?? "?"} out${cost === undefined ? "" : `, $${cost.total.toFixed(4)}`}`;
}

const compactions: Readonly<Record<CompactionEnd["outcome"], string>> = {
  summarized: "a summary replaces the older messages",
  dropped: "the older messages were left out, without a summary",
  shortened: "older tool results were cut",
  none: "nothing of the conversation could be left out",
};

function compactionText({ outcome, tokensBefore, tokensAfter }: CompactionEnd): string {
  const sizes =
    outcome === "none" ? `${tokensBefore} tokens` : `${tokensBefore} tokens became ${tokensAfter}`;
  return `${compactions[outcome]}: ${sizes}`;
}

function count(value: number, what: string): string {
  return `${value} ${what}${value === 1 ? "" : "s"}`;
}
