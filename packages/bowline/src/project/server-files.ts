/** The MCP servers of the user and of a project, from their settings and from `.mcp.json`. */
import { join } from "node:path";
import { showPath } from "../escape.ts";
import { readBounded } from "../settings/bounded-file.ts";
import { JsonError, readJson } from "../settings/json-text.ts";
import { NAME_RULE, toolPrefix } from "../settings/server-name.ts";
import { isRecord, show } from "../settings/shapes.ts";
import type { SettingsSource } from "../settings/settings.ts";
import type { Owner } from "./skills.ts";

export const SERVER_FILE = ".mcp.json";
const MAX_SERVERS = 50;

/** A server that takes effect. */
export interface ServerSetting {
  readonly name: string;
  /** What the names of its tools begin with, before `__`. */
  readonly prefix: string;
  /** As it is written. That of `.mcp.json` is checked only when it is connected to. */
  readonly entry: unknown;
  readonly owner: Owner;
  /** The file that has it. */
  readonly path: string;
}

/** `.mcp.json` of a project, as read. */
export interface ServerFile {
  readonly path: string;
  readonly hash: string;
  readonly text: string;
}

type Notice = (text: string) => void;

/** Returns the file, or undefined without one that can be read. Nothing takes effect by this. */
export async function readServerFile(
  root: string,
  notice: Notice,
): Promise<ServerFile | undefined> {
  const path = join(root, SERVER_FILE);
  const file = await readBounded(path, root);
  if (file.kind === "refused") notice(`${showPath(path)} ${file.why}.`);
  return file.kind === "text" ? { path, hash: file.hash, text: file.text } : undefined;
}

/**
 * Joins the servers of all files that take effect. Of a project's, those of a later file replace
 * those of `.mcp.json`. A project cannot replace a server of the user, to whose tools the user's
 * rules apply.
 */
export function serversOf(
  sources: readonly SettingsSource[],
  file: ServerFile | undefined,
  notice: Notice,
): readonly ServerSetting[] {
  const known = new Map<string, ServerSetting>();
  const add = (name: string, entry: unknown, owner: Owner, path: string): void => {
    const prefix = toolPrefix(name);
    const what = `${showPath(path)}: the server ${show(name)}`;
    if (prefix === undefined) return notice(`${what} ${NAME_RULE}.`);
    const before = known.get(prefix);
    if (before !== undefined && owner === "project" && before.owner === "user")
      return notice(`${what} is not used: your own settings have a server of this name.`);
    if (before !== undefined && before.name !== name)
      return notice(`${what} is not used: the tools of ${show(before.name)} have the same names.`);
    if (before !== undefined) notice(`${what} replaces that of ${showPath(before.path)}.`);
    known.set(prefix, { name, prefix, entry, owner, path });
  };
  const from = (isUser: boolean): void => {
    for (const { path, scope, settings } of sources)
      if ((scope === "user") === isUser)
        for (const [name, entry] of Object.entries(settings?.mcpServers ?? {}))
          add(name, entry, isUser ? "user" : "project", path);
  };
  from(true);
  for (const [name, entry] of entriesOf(file, notice))
    add(name, entry, "project", file?.path ?? "");
  from(false);
  return [...known.values()];
}

function entriesOf(
  file: ServerFile | undefined,
  notice: Notice,
): readonly (readonly [string, unknown])[] {
  if (file === undefined) return [];
  const refuse = (why: string): [] => {
    notice(`${showPath(file.path)} is not used: ${why}.`);
    return [];
  };
  try {
    const { value } = readJson(file.text);
    const servers = isRecord(value) ? value.mcpServers : undefined;
    if (!isRecord(servers)) return refuse("it has no object mcpServers");
    const entries = Object.entries(servers);
    return entries.length > MAX_SERVERS
      ? refuse(`it has more than ${MAX_SERVERS} servers`)
      : entries;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return refuse(`line ${error.place.line}: ${error.message}`);
  }
}
