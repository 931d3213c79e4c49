/** Converts a session's path to blocks for people, shared by the Markdown and HTML exports. */
import {
  isLlmMessage,
  type AssistantContent,
  type FileContent,
  type ImageContent,
  type SourceContent,
  type UserContent,
} from "../../llm/message.ts";
import { isKnownEntry, type AnyEntry, type Entry, type SessionMessage } from "../entry.ts";
import type { Session } from "../session.ts";
import { addToSummary, summaryOf } from "../summary.ts";

export interface Transcript {
  readonly title: string;
  readonly id: string;
  /** In ISO 8601. */
  readonly createdAt: string;
  readonly sections: readonly TranscriptSection[];
}

export interface TranscriptSection {
  readonly role: "user" | "assistant" | "tool" | "note";
  readonly heading: string;
  /** In ISO 8601. */
  readonly time: string;
  readonly blocks: readonly TranscriptBlock[];
}

export type TranscriptBlock =
  | { readonly type: "prose"; readonly text: string }
  /** A text that a program added to a person's message. */
  | { readonly type: "added"; readonly label: string; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "code"; readonly text: string; readonly language: "json" | "" }
  | { readonly type: "call"; readonly name: string; readonly args: string }
  | { readonly type: "image" | "file"; readonly part: ImageContent | FileContent }
  | { readonly type: "source"; readonly source: SourceContent }
  | { readonly type: "error"; readonly text: string };

/**
 * Returns the path to `at` (default: the head). Leaves out internal entries: intents, usage, and
 * run boundaries without new information.
 */
export async function toTranscript(session: Session, at?: string): Promise<Transcript> {
  const path = await session.path(at);
  const { title } = path.reduce(addToSummary, summaryOf(session.header));
  const { id, createdAt } = session.header;
  return {
    title: title ?? id,
    id,
    createdAt: toTime(createdAt),
    sections: path.flatMap(sectionsOf),
  };
}

function sectionsOf(entry: AnyEntry): TranscriptSection[] {
  if (!isKnownEntry(entry)) return [];
  const time = toTime(entry.timestamp);
  const note = (heading: string, ...blocks: TranscriptBlock[]): TranscriptSection[] => [
    { role: "note", heading, time, blocks },
  ];
  switch (entry.type) {
    case "message":
      return [{ ...sectionOf(entry.message), time }];
    case "compaction":
      if (entry.summary === "") return []; // only tool results were shortened
      return note("Earlier messages were summarised for the model", {
        type: "prose",
        text: entry.summary,
      });
    case "compaction_undo":
      return note("The summary was withdrawn: the model gets the earlier messages again");
    case "model_change":
      return note(
        entry.model === "" && entry.agent !== undefined
          ? `The agent is now ${entry.agent}`
          : `The model is now ${entry.provider}/${entry.model}`,
      );
    case "run_end":
      return entry.reason === "done"
        ? []
        : note(`The run ended: ${entry.reason}`, ...errorBlock(entry));
    case "approval_answer":
      return note(`Approval: ${entry.decision}${entry.by === undefined ? "" : ` by ${entry.by}`}`);
    case "streamed_text": // the answer's message replaces it
    case "run_start":
    case "reopen":
    case "queued":
    case "queue_remove":
    case "queue_clear":
    case "label":
    case "title":
    case "tool_intent":
    case "tool_result":
    case "approval_request":
    case "abort":
    case "usage":
      return [];
  }
}

/** Formats a timestamp. Returns the number if it is not a valid date. */
function toTime(timestamp: number): string {
  return Number.isNaN(new Date(timestamp).getTime())
    ? String(timestamp)
    : new Date(timestamp).toISOString();
}

function errorBlock({ error }: Entry & { type: "run_end" }): TranscriptBlock[] {
  return error === undefined ? [] : [{ type: "error", text: error.message }];
}

function sectionOf(message: SessionMessage): Omit<TranscriptSection, "time"> {
  if (!isLlmMessage(message)) {
    const block: TranscriptBlock = {
      type: "code",
      text: JSON.stringify(message, null, 2),
      language: "json",
    };
    return { role: "note", heading: message.role, blocks: [block] };
  }
  switch (message.role) {
    case "user":
      return { role: "user", heading: "User", blocks: userBlocks(message.content) };
    case "assistant": {
      const blocks = message.content.flatMap(assistantBlocks);
      if (message.errorMessage !== undefined)
        blocks.push({ type: "error", text: message.errorMessage });
      return { role: "assistant", heading: `Assistant (${message.model})`, blocks };
    }
    case "toolResult": {
      const heading = `${message.toolName}${message.isError ? " failed" : ""}`;
      const blocks = userBlocks(message.content).map((block) =>
        block.type === "prose"
          ? ({ type: "code", text: block.text, language: "" } as const)
          : block,
      );
      return { role: "tool", heading, blocks };
    }
  }
}

function userBlocks(content: string | readonly UserContent[]): TranscriptBlock[] {
  if (typeof content === "string") return [{ type: "prose", text: content }];
  return content.map((part): TranscriptBlock => {
    if (part.type !== "text") return { type: part.type, part };
    const { text, shownAs: label } = part;
    return label === undefined ? { type: "prose", text } : { type: "added", label, text };
  });
}

function assistantBlocks(part: AssistantContent): TranscriptBlock[] {
  switch (part.type) {
    case "text":
      return [{ type: "prose", text: part.text }];
    case "thinking":
      return part.thinking === "" ? [] : [{ type: "thinking", text: part.thinking }];
    case "toolCall": {
      const args =
        part.argumentsError === undefined
          ? JSON.stringify(part.arguments, null, 2)
          : part.argumentsText;
      return [{ type: "call", name: part.name, args: args ?? "" }];
    }
    case "opaque":
      return [];
    case "source":
      return [{ type: "source", source: part }];
    case "image":
    case "file":
      return [{ type: part.type, part }];
  }
}
