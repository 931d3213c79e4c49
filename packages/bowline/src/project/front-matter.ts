/** Splits a Markdown file into its YAML front matter and its body. */
import { createRequire } from "node:module";
import type * as Yaml from "yaml";

/** Loads the YAML parser with the first file that needs it, because loading it delays the start. */
const load = createRequire(import.meta.url) as (name: "yaml") => typeof Yaml;

export interface MarkdownFile {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const MAX_LENGTH = 16_000;

/**
 * Returns undefined if the front matter is no mapping. Text that YAML refuses, such as a
 * description with a colon, is read line by line, as other tools do.
 */
export function parseFrontMatter(text: string): MarkdownFile | undefined {
  const plain = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const match = /^---[ \t]*\n([^]*?)(?:^|\n)---[ \t]*(?:\n|$)/.exec(plain);
  if (match === null) return { fields: {}, body: plain.trim() };
  const [all, matter = ""] = match;
  if (matter.length > MAX_LENGTH) return undefined;
  const fields = byYaml(matter) ?? byLine(matter);
  return fields && { fields, body: plain.slice(all.length).trim() };
}

function byYaml(matter: string): Record<string, unknown> | undefined {
  try {
    const document = load("yaml").parseDocument(matter, {
      schema: "core",
      logLevel: "silent",
      merge: false,
    });
    if (document.errors.length > 0) return undefined;
    // No aliases: a few nested ones expand to billions of values.
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    if (value === null) return {};
    return typeof value === "object" && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Reads `name: text` lines. Deeper values are left out. */
function byLine(matter: string): Record<string, unknown> | undefined {
  const lines = matter.split("\n").flatMap((line) => {
    const match = /^([A-Za-z][\w-]*):[ \t]+(.*)$/.exec(line);
    return match === null ? [] : [[match[1] ?? "", scalar((match[2] ?? "").trim())] as const];
  });
  return lines.length === 0 ? undefined : Object.fromEntries(lines);
}

function scalar(text: string): string | number | boolean {
  if (text === "true" || text === "false") return text === "true";
  if (/^\d{1,9}$/.test(text)) return Number(text);
  return /^(["']).*\1$/.test(text) && text.length > 1 ? text.slice(1, -1) : text;
}

/** Returns a field's text; undefined if it is absent, empty or something else. */
export function textField({ fields }: MarkdownFile, name: string): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" && text.trim() !== "" ? text.trim() : undefined;
}

/** Returns a field that is a list, or a text with commas. */
export function listField({ fields }: MarkdownFile, name: string): string[] | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (Array.isArray(value)) return value.filter((one) => typeof one === "string");
  // Commas inside parentheses belong to a rule: Bash(git log, git diff).
  return typeof value === "string"
    ? (value.match(/(?:[^,()]|\([^)]*\)?)+/g) ?? [])
        .map((one) => one.trim())
        .filter((one) => one !== "")
    : undefined;
}
