/** Exports a session as Markdown for people. */
import type { FileContent, ImageContent, SourceContent } from "../../llm/message.ts";
import type { Session } from "../session.ts";
import { toTranscript, type TranscriptBlock, type TranscriptSection } from "./transcript.ts";

/** Returns the path to `at` (default: the head) as Markdown. Images and files are named but not
 * included. */
export async function sessionToMarkdown(session: Session, at?: string): Promise<string> {
  const { title, id, createdAt, sections } = await toTranscript(session, at);
  const facts = `Session ${code(id)}, started ${createdAt}`;
  return `${[`# ${oneLine(title)}`, facts, ...sections.map(section)].join("\n\n")}\n`;
}

function section({ heading, role, blocks }: TranscriptSection): string {
  const title = role === "tool" ? `### Result of ${code(heading)}` : `## ${oneLine(heading)}`;
  return [title, ...blocks.map(block)].join("\n\n");
}

function block(part: TranscriptBlock): string {
  switch (part.type) {
    case "prose":
      return part.text;
    case "added":
      return `*Added:* ${code(part.label)}\n\n${fence(part.text, "")}`;
    case "thinking":
      return quote(part.text);
    case "code":
      return fence(part.text, part.language);
    case "call":
      return `### Call of ${code(part.name)}\n\n${fence(part.args, "json")}`;
    case "image":
    case "file":
      return `*${media(part.part)}*`;
    case "source":
      return `*Source: ${source(part.source)}*`;
    case "error":
      return quote(`Error: ${part.text}`);
  }
}

function source({ title, name, url }: SourceContent): string {
  const words = title ?? name ?? url ?? "";
  return url === undefined || url === words ? code(words) : `${code(words)}, ${code(url)}`;
}

function media(part: ImageContent | FileContent): string {
  const { url, data = "", mimeType } = part;
  const size = url ?? `${Math.ceil((data.length * 3) / 4)} bytes`;
  const about = [part.type === "file" ? part.name : undefined, mimeType, size];
  const known = about.filter((text) => text !== undefined).map(oneLine);
  return `${part.type === "image" ? "An image" : "A file"} (${known.join(", ")})`;
}

/**
 * Returns a run of backticks longer than any in the text, so that the text cannot end the block.
 */
function ticks(text: string, least: number): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  return "`".repeat(Math.max(least, longest + 1));
}

function fence(text: string, language: string): string {
  const mark = ticks(text, 3);
  return `${mark}${language}\n${text}\n${mark}`;
}

function code(text: string): string {
  const mark = ticks(text, 1);
  const pad = mark.length > 1 ? " " : "";
  return `${mark}${pad}${oneLine(text)}${pad}${mark}`;
}

function quote(text: string): string {
  return text.replaceAll(/^/gm, "> ");
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
