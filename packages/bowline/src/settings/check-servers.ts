/** Checks the MCP servers of a settings file. Nothing is started or replaced by this. */
import type { ServerEntry, SettingsScope } from "./keys.ts";
import { didYouMean } from "./nearest-name.ts";
import { NAME_RULE, toolPrefix } from "./server-name.ts";
import {
  isRecord,
  isRelativeProgram,
  isText,
  show,
  WRITE_ABSOLUTE,
  type Fail,
  type Path,
} from "./shapes.ts";

type Kind = "text" | "texts" | "map" | "switch" | "type";

const fields: Readonly<Record<keyof ServerEntry, Kind>> = {
  type: "type",
  command: "text",
  args: "texts",
  env: "map",
  cwd: "text",
  url: "text",
  headers: "map",
  disabled: "switch",
  includeTools: "texts",
  excludeTools: "texts",
};

const types = ["stdio", "http", "sse"];
const MAX_SERVERS = 50;
const MAX_LIST = 500;

const words: Readonly<Record<Kind, string>> = {
  text: "a text",
  texts: `a list of at most ${MAX_LIST} texts`,
  map: "an object of texts",
  switch: "true or false",
  type: `one of ${types.map(show).join(", ")}`,
};

interface ServerCheck {
  readonly scope: SettingsScope;
  readonly fail: Fail;
}

/** Returns the servers by name. Calls `fail` for everything that is unknown. */
export function checkServers(
  path: Path,
  given: unknown,
  { scope, fail }: ServerCheck,
): Readonly<Record<string, ServerEntry>> {
  if (!isRecord(given) || Object.keys(given).length > MAX_SERVERS)
    return fail(path, `${path.join(".")} takes an object of at most ${MAX_SERVERS} servers.`);
  for (const [name, entry] of Object.entries(given)) {
    const at = [...path, name];
    if (toolPrefix(name) === undefined) fail(at, `The server ${show(name)} ${NAME_RULE}.`);
    if (!isRecord(entry)) fail(at, `The server ${show(name)} takes an object, not ${show(entry)}.`);
    else {
      checkEntry(at, name, entry, fail);
      const { command, cwd } = entry;
      const isRelative = isText(command) && isRelativeProgram(command) && cwd === undefined;
      if (scope === "user" && isRelative)
        fail(
          [...at, "command"],
          `${show(command)} would be a file of each project. ${WRITE_ABSOLUTE}`,
        );
    }
  }
  return given as Readonly<Record<string, ServerEntry>>;
}

function checkEntry(path: Path, name: string, entry: Record<string, unknown>, fail: Fail): void {
  for (const [field, value] of Object.entries(entry)) {
    if (!Object.hasOwn(fields, field))
      fail(
        [...path, field],
        `A server has no ${show(field)}.${didYouMean(field, Object.keys(fields))}`,
      );
    const kind = fields[field as keyof ServerEntry];
    if (!fits(kind, value))
      fail([...path, field], `${field} of a server takes ${words[kind]}, not ${show(value)}.`);
  }
  const { type, command, url } = entry;
  if ((command === undefined) === (url === undefined))
    fail(path, `The server ${show(name)} needs either a command or a url.`);
  if (type !== undefined && (type === "stdio") !== (command !== undefined))
    fail(
      [...path, "type"],
      `The type ${show(type)} does not fit a ${command ? "command" : "url"}.`,
    );
}

function fits(kind: Kind, value: unknown): boolean {
  switch (kind) {
    case "text":
      return isText(value);
    case "texts":
      return (
        Array.isArray(value) &&
        value.length <= MAX_LIST &&
        value.every((one) => typeof one === "string")
      );
    case "map":
      return isRecord(value) && Object.values(value).every((one) => typeof one === "string");
    case "switch":
      return typeof value === "boolean";
    case "type":
      return types.some((one) => one === value);
  }
}
