/**
 * Formats a session for a terminal. Each message shows the id of its entry, at which the session
 * can be forked.
 */
import { isLlmMessage, type AssistantContent, type UserContent } from "@bowline/core";
import {
  isKnownEntry,
  type AnyEntry,
  type Session,
  type SessionMessage,
} from "@bowline/core/session";
import { CommandError } from "../command-error.ts";
import { oneLine, printable, type Style } from "../terminal.ts";
import { timeText } from "./time-text.ts";

/** Characters shown of a tool's result. An export contains all of it. */
const LONGEST_RESULT = 2000;

export async function transcriptText(session: Session, style: Style): Promise<string> {
  const { id, createdAt, origin } = session.header;
  const from = origin && `, forked from ${oneLine(origin.sessionId, 100)}`;
  const facts = style.dim(`session ${oneLine(id, 100)}, begun ${timeText(createdAt)}${from ?? ""}`);
  const sections = (await session.path()).flatMap((entry) => sectionOf(entry, style));
  const { queued = [] } = await session.state();
  const waiting = queued.map(({ message }) =>
    style.dim(`— waits: ${oneLine(messageOf(message, style).text, 200)}`),
  );
  return `${[facts, ...sections, ...waiting].join("\n\n")}\n`;
}

/** Finds an entry by its id or a prefix. Throws `CommandError` for no match and for several. */
export async function findEntry(session: Session, reference: string): Promise<string> {
  const found: string[] = [];
  for await (const { id } of session.entries()) {
    if (id === reference) return id;
    if (id.startsWith(reference)) found.push(id);
  }
  const [id] = found;
  if (id !== undefined && found.length === 1) return id;
  const what = found.length === 0 ? "no entry has" : `${found.length} entries have`;
  throw new CommandError(`--at: ${what} the id ${JSON.stringify(reference)}.`);
}

function sectionOf(entry: AnyEntry, style: Style): string[] {
  if (!isKnownEntry(entry)) return [];
  const { bold, dim, red } = style;
  const place = dim(`${timeText(entry.timestamp)}  ${oneLine(entry.id.slice(0, 8), 8)}`);
  switch (entry.type) {
    case "message": {
      const { heading, text } = messageOf(entry.message, style);
      return [`${bold(heading)}  ${place}${text === "" ? "" : `\n${text}`}`];
    }
    case "compaction":
      return [`${bold("Summary for the model")}  ${place}\n${printable(entry.summary)}`];
    case "compaction_undo":
      return [`${dim("— the summary was withdrawn; the model gets the messages again")}  ${place}`];
    case "model_change": {
      const { provider, model, agent } = entry;
      const now =
        model === "" && agent !== undefined
          ? `agent is now ${agent}`
          : `model is now ${provider}/${model}`;
      return [`${dim(`— the ${oneLine(now, 200)}`)}  ${place}`];
    }
    case "run_end": {
      if (entry.reason === "done") return [];
      const why = entry.error === undefined ? "" : `: ${oneLine(entry.error.message, 1000)}`;
      return [`${red(`— the run ended: ${entry.reason}${why}`)}  ${place}`];
    }
    case "approval_answer":
      return [
        `${dim(`— ${entry.decision}${entry.by === undefined ? "" : ` by ${oneLine(entry.by, 100)}`}`)}  ${place}`,
      ];
    case "label":
      return [
        `${dim(`— label of ${entry.targetId.slice(0, 8)}: ${oneLine(entry.label, 100)}`)}  ${place}`,
      ];
    case "run_start":
    case "reopen":
    case "queued":
    case "queue_remove":
    case "queue_clear":
    case "streamed_text": // the answer's message replaces it
    case "title":
    case "tool_intent":
    case "tool_result":
    case "approval_request":
    case "abort":
    case "usage":
      return [];
  }
}

function messageOf(
  message: SessionMessage,
  style: Style,
): { readonly heading: string; readonly text: string } {
  if (!isLlmMessage(message))
    return { heading: oneLine(message.role, 100), text: printable(JSON.stringify(message)) };
  switch (message.role) {
    case "user":
      return { heading: "You", text: userText(message.content) };
    case "assistant": {
      const parts = message.content.flatMap((part) => partText(part, style));
      if (message.errorMessage !== undefined)
        parts.push(style.red(oneLine(message.errorMessage, 1000)));
      return { heading: oneLine(message.model, 100), text: parts.join("\n") };
    }
    case "toolResult": {
      const mark = message.isError ? style.red("✗") : style.green("✓");
      const text = userText(message.content);
      const rest = text.length - LONGEST_RESULT;
      const shown =
        rest > 0
          ? `${text.slice(0, LONGEST_RESULT)}\n… ${rest} more characters; bowline sessions export has them`
          : text;
      return { heading: `${mark} ${oneLine(message.toolName, 100)}`, text: style.dim(shown) };
    }
  }
}

function userText(content: string | readonly UserContent[]): string {
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const media = parts.filter((part) => part.type !== "text");
  const texts = parts.filter((part) => part.type === "text");
  const added = texts.flatMap(({ shownAs }) => shownAs ?? []);
  const written = texts.filter(({ shownAs }) => shownAs === undefined);
  return [
    printable(written.map(({ text }) => text).join("")),
    ...added.map((label) => `(added: ${oneLine(label, 300)})`),
    ...media.map((part) =>
      part.type === "file" ? `(a file: ${printable(part.name ?? part.mimeType)})` : "(an image)",
    ),
  ]
    .filter((part) => part !== "")
    .join("\n");
}

function partText(part: AssistantContent, { dim }: Style): string[] {
  switch (part.type) {
    case "text":
      return [printable(part.text)];
    case "thinking":
      return part.thinking === "" ? [] : [dim(printable(part.thinking))];
    case "toolCall": {
      const args =
        part.argumentsError === undefined ? JSON.stringify(part.arguments) : part.argumentsText;
      return [dim(`→ ${oneLine(`${part.name} ${args ?? ""}`, 1000)}`)];
    }
    case "opaque":
      return [];
    case "source": {
      const { title, url, name } = part;
      const words = [title ?? name, url].filter((text) => text !== undefined);
      return [dim(`  source: ${oneLine(words.join(" "), 1000)}`)];
    }
    case "image":
      return ["(an image)"];
    case "file":
      return ["(a file)"];
  }
}
