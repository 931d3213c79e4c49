/**
 * What a client shows of a run, folded from its events or from the stored transcript: both must be the
 * same.
 */
import type { EventFrame } from "bowline/client";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "@bowline/core";
import type { SessionMessage } from "@bowline/core/session";

export interface FoldedRun {
  readonly users: readonly string[];
  /** The texts of answers by turn. Turns without text are absent. */
  readonly texts: ReadonlyMap<number, string>;
  /** The ends of tools by the calls' ids. Undefined while a tool runs. */
  readonly tools: ReadonlyMap<string, ToolEnd | undefined>;
}

export interface ToolEnd {
  readonly isError: boolean;
  /** The beginning of its output, since events cut a long one. */
  readonly output: string;
}

/** How much of a tool's output is compared, in characters. */
const COMPARED = 300;
const NOT_RUN = "Not run: The run was aborted.";

export class RunFold implements FoldedRun {
  users: string[] = [];
  texts = new Map<number, string>();
  tools = new Map<string, ToolEnd | undefined>();

  take({ event, data }: EventFrame): void {
    if (event === "chat.snapshot") {
      this.users = [];
      this.texts = new Map();
      this.tools = new Map();
      for (const block of data.blocks) {
        if (block.type === "user") this.users.push(block.text);
        else if (block.type === "text") this.#add(block.turn, block.text);
        else if (block.type === "tool_call")
          this.tools.set(
            block.toolCallId,
            block.state === "running" ? undefined : end(block.state === "failed", block.output),
          );
      }
    } else if (event === "chat.user") this.users.push(data.text);
    else if (event === "chat.delta") this.#add(data.turn, data.text);
    else if (event === "chat.tool_call") this.tools.set(data.toolCallId, undefined);
    else if (event === "chat.tool_result")
      this.tools.set(data.toolCallId, end(data.isError, data.output));
  }

  #add(turn: number, text: string): void {
    this.texts.set(turn, (this.texts.get(turn) ?? "") + text);
  }
}

export function foldMessages(messages: readonly SessionMessage[]): FoldedRun {
  const fold = new RunFold();
  let turn = 0;
  for (const message of messages) {
    if (message.role === "user") fold.users.push(textOf((message as UserMessage).content));
    else if (message.role === "assistant") {
      const { content } = message as AssistantMessage;
      const text = textOf(content);
      if (text !== "") fold.texts.set(turn, text);
      turn++;
    } else if (message.role === "toolResult") {
      const { toolCallId, isError, content } = message as ToolResultMessage;
      fold.tools.set(toolCallId, end(isError, textOf(content)));
    }
  }
  return fold;
}

/** Returns how two folds of a run differ. Empty if they are the same. */
export function differences(seen: FoldedRun, stored: FoldedRun): string[] {
  const found: string[] = [];
  const compare = (what: string, a: unknown, b: unknown): void => {
    const [own, other] = [JSON.stringify(a), JSON.stringify(b)];
    if (own !== other) found.push(`${what}: the client has ${own}, the transcript has ${other}`);
  };
  compare("users", seen.users, stored.users);
  for (const turn of new Set([...seen.texts.keys(), ...stored.texts.keys()]))
    compare(`text of turn ${turn}`, seen.texts.get(turn), stored.texts.get(turn));
  for (const id of new Set([...seen.tools.keys(), ...stored.tools.keys()])) {
    const [own, other] = [seen.tools.get(id), stored.tools.get(id)];
    // A call that an abort kept from starting has a result for the model, and no events.
    const hasNotStarted = own === undefined && other?.output.startsWith(NOT_RUN) === true;
    if (!hasNotStarted) compare(`tool ${id}`, own, other);
  }
  return found;
}

export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = (content ?? []) as readonly { readonly type?: string; readonly text?: string }[];
  return parts.map(({ type, text = "" }) => (type === "text" ? text : "")).join("");
}

function end(isError: boolean, output: string): ToolEnd {
  return { isError, output: output.slice(0, COMPARED) };
}
