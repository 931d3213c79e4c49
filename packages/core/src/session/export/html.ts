/**
 * Exports a session as one HTML file for people: no scripts, no external resources, all content
 * escaped.
 */
import type { FileContent, ImageContent, SourceContent } from "../../llm/message.ts";
import type { Session } from "../session.ts";
import {
  toTranscript,
  type Transcript,
  type TranscriptBlock,
  type TranscriptSection,
} from "./transcript.ts";

/** Returns the path to `at` (default: the head) as an HTML document. */
export async function sessionToHtml(session: Session, at?: string): Promise<string> {
  return page(await toTranscript(session, at));
}

/** Image types that a browser shows without running scripts. */
const SHOWN_IMAGES = /^image\/(?:png|jpeg|gif|webp)$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem;color:#1c1e21;background:#fff}
h1{font-size:1.5rem}h2{font-size:1rem;margin:0}time{color:#667;font-size:.8rem}
section{border-left:3px solid #ccd;margin:1.5rem 0;padding-left:1rem}
section.user{border-color:#36c}section.assistant{border-color:#2a7}section.tool{border-color:#b83}
p,pre{white-space:pre-wrap;overflow-wrap:anywhere}pre{background:#f4f5f7;padding:.75rem;border-radius:4px;font-size:.85rem}
.error{color:#a11}img{max-width:100%}
@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#17181a}pre{background:#23252a}.error{color:#f88}}`;

function page({ title, id, createdAt, sections }: Transcript): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>${escape(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escape(title)}</h1>
<p>Session <code>${escape(id)}</code>, started ${timeElement(createdAt)}</p>
${sections.map(section).join("\n")}
</body>
</html>
`;
}

function section({ role, heading, time, blocks }: TranscriptSection): string {
  const title = role === "tool" ? `Result of ${heading}` : heading;
  return `<section class="${role}"><h2>${escape(title)}</h2>${timeElement(time)}${blocks.map(block).join("")}</section>`;
}

function block(part: TranscriptBlock): string {
  switch (part.type) {
    case "prose":
      return `<p>${escape(part.text)}</p>`;
    case "added":
      return `<details><summary>Added: ${escape(part.label)}</summary><pre>${escape(part.text)}</pre></details>`;
    case "thinking":
      return `<details><summary>Thinking</summary><p>${escape(part.text)}</p></details>`;
    case "code":
      return `<pre>${escape(part.text)}</pre>`;
    case "call":
      return `<details open><summary>Call of <code>${escape(part.name)}</code></summary><pre>${escape(part.args)}</pre></details>`;
    case "image":
    case "file":
      return `<p>${media(part.part)}</p>`;
    case "source":
      return `<p>Source: ${source(part.source)}</p>`;
    case "error":
      return `<p class="error">${escape(part.text)}</p>`;
  }
}

/** Shows an image. A file is a download, which a browser does not open. */
function media(part: ImageContent | FileContent): string {
  const { type, url, data = "", mimeType = "" } = part;
  const name = part.type === "file" ? (part.name ?? "") : "";
  const about = [name, mimeType].filter((text) => text !== "").join(", ");
  const what = `${type === "image" ? "An image" : "A file"}${about && ` (${escape(about)})`}`;
  if (url !== undefined) return `${what}: ${/^https?:/.test(url) ? link(url) : escape(url)}`;
  if (!BASE64.test(data)) return what;
  if (type === "image")
    return SHOWN_IMAGES.test(mimeType)
      ? `<img alt="" src="data:${mimeType};base64,${data}">`
      : what;
  return `<a download="${escape(name)}" href="data:application/octet-stream;base64,${data}">${what}</a>`;
}

function source({ title, name, url }: SourceContent): string {
  const words = title ?? name;
  const where = url === undefined ? "" : /^https?:/i.test(url) ? link(url) : escape(url);
  return words === undefined || words === url ? where : `${escape(words)} ${where}`;
}

function link(url: string): string {
  return `<a rel="noreferrer" href="${escape(url)}">${escape(url)}</a>`;
}

function timeElement(time: string): string {
  return `<time datetime="${escape(time)}">${escape(time)}</time>`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}
