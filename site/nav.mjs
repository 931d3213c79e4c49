// The navigation, in the order in which a user needs the pages. Paths are below docs/.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pages as reference } from "../scripts/reference/pages.mjs";

const docs = join(import.meta.dirname, "../docs");

const guide = [
  ["Start", "start"],
  ["Agents", "agent"],
  ["Tools", "agent#tools"],
  ["MCP servers", "mcp"],
  ["Runs and events", "runs"],
  ["Sessions", "sessions"],
  ["Sessions in PostgreSQL", "postgres"],
  ["Durable runs on Restate", "restate"],
  ["Structured output", "structured-output"],
  ["Images and files", "files"],
  ["Sub-agents", "sub-agents"],
  ["Errors and limits", "limits"],
  ["Long conversations", "context"],
  ["Testing your agent", "testing"],
  ["Models and servers", "models"],
  ["Tools of the vendor", "provider-tools"],
];

const terminal = [
  ["The conversation", "chat"],
  ["Writing messages", "editor"],
  ["Projects and settings", "projects"],
  ["Permissions", "permissions"],
  ["A day's work", "day"],
  ["The command", "cli"],
  ["The command's tools", "tools"],
  ["The practice model", "practice"],
];

const serving = [
  ["Serving: the gateway", "gateway"],
  ["Events of a cluster", "cluster"],
  ["Operating a cluster", "cluster-operation"],
  ["A cluster in containers", "kubernetes"],
  ["The chat page", "page"],
  ["A page with useChat", "web"],
  ["Security", "security"],
];

const comingFrom = [
  ["AI SDK, OpenAI Agents, LangGraph, pi", "coming-from"],
  ["karl, codelet and gai", "other-shapes"],
];

const link = ([text, path]) => ({ text, link: `/${path}` });

export const sidebar = [
  { text: "Guide", items: guide.map(link) },
  { text: "In the terminal", items: terminal.map(link) },
  { text: "Serving", items: serving.map(link) },
  { text: "Coming from", items: comingFrom.map(link) },
  {
    text: "Reference",
    collapsed: true,
    items: [
      link(["Overview", "reference/"]),
      ...reference.map(({ title, file }) => link([title, `reference/${file}`])),
    ],
  },
  {
    text: "Project",
    collapsed: true,
    items: [
      link(["Changelog", "changelog"]),
      link(["Security policy", "security-policy"]),
      ...listed("project"),
      { text: "Decisions", collapsed: true, items: listed("project/decisions") },
      { text: "Quirks", collapsed: true, items: listed("project/quirks") },
    ],
  },
];

/** The pages of a folder that changes more often than this file, each by its first heading. */
function listed(folder) {
  return globSync(`${folder}/*.md`, { cwd: docs })
    .toSorted()
    .map((file) => {
      const [, title = file] = /^# (.+)$/m.exec(readFileSync(join(docs, file), "utf8")) ?? [];
      return link([title.replaceAll("`", ""), file.replace(/(?:README)?\.md$/, "")]);
    });
}
