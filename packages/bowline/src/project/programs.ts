/**
 * The programs and addresses that a project's servers and hooks would use, for a person who decides
 * about trust. Read leniently: the files may be a stranger's, and have no effect yet.
 */
import { JsonError, readJson } from "../settings/json-text.ts";
import { isRecord } from "../settings/shapes.ts";
import { oneLine } from "../terminal.ts";
import type { BroughtFiles } from "./project-files.ts";

const MAX_LINE = 300;

/** Returns a line for each server and each hook of the files. */
export function programsOf({ settings, servers, hooks }: BroughtFiles): string[] {
  const texts = settings.flatMap(({ file }) => (file.kind === "text" ? [file.text] : []));
  const values = [...texts, ...(servers === undefined ? [] : [servers.text])].map(valueOf);
  const lines = [
    ...values.flatMap(({ mcpServers }) => serverLines(mcpServers)),
    ...values.flatMap((value) => hookLines(value.hooks)),
    ...hooks.flatMap((file) => (file.isDisabled ? [] : hookLines(file.hooks))),
  ];
  return [...new Set(lines)].map((line) => oneLine(line, MAX_LINE));
}

function valueOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const { value } = readJson(text);
    return isRecord(value) ? value : {};
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return {}; // a file that is broken starts nothing
  }
}

function serverLines(given: unknown): string[] {
  if (!isRecord(given)) return [];
  return Object.entries(given).flatMap(([name, entry]) => {
    if (!isRecord(entry)) return [];
    const { command, args, url, httpUrl, serverUrl } = entry;
    const address = url ?? httpUrl ?? serverUrl;
    const server = `MCP server ${JSON.stringify(name)}`;
    if (command === undefined) return [`${server} at ${String(address)}`];
    const words = [command, ...(Array.isArray(args) ? (args as unknown[]) : [])].map(String);
    return [`${server}: ${words.join(" ")}`];
  });
}

function hookLines(given: unknown): string[] {
  if (!isRecord(given)) return [];
  return Object.entries(given).flatMap(([event, groups]) =>
    listOf(groups)
      .flatMap((group) => listOf(isRecord(group) ? group.hooks : undefined))
      .flatMap((hook) =>
        isRecord(hook) && typeof hook.command === "string"
          ? [`hook ${event}: ${hook.command}`]
          : [],
      ),
  );
}

function listOf(given: unknown): readonly unknown[] {
  return Array.isArray(given) ? given : [];
}
