/** Reads the entries of servers: known fields only, checked shapes, variables replaced. */
import { BowlineError } from "@bowline/core";
import { checkNames } from "@bowline/core/agent";
import { expand, isSecretName, type Environment } from "./expand.ts";
import type { HttpConfig, ServerConfig, StdioConfig, ToolChoice } from "./server-config.ts";

/** Fields with a meaning here. Each alias is another tool's name for the field before it. */
const fields = [
  "type",
  "transportType",
  "command",
  "args",
  "env",
  "cwd",
  "url",
  "httpUrl",
  "serverUrl",
  "headers",
  "disabled",
  "enabled",
  "includeTools",
  "tools",
  "excludeTools",
  "disabledTools",
];

/**
 * Fields that other tools write, and that mean nothing here. None of them makes a tool run without
 * approval, and their time limits have different units.
 */
const ignored = [
  "alwaysAllow",
  "autoApprove",
  "description",
  "dev",
  "gallery",
  "icon",
  "initTimeout",
  "name",
  "networkTimeout",
  "note",
  "timeout",
  "title",
  "trust",
  "version",
];

const types: Readonly<Record<string, "stdio" | "http" | "sse">> = {
  stdio: "stdio",
  http: "http",
  "streamable-http": "http",
  streamableHttp: "http",
  sse: "sse",
};

/**
 * Reads the servers of the option, or of another tool's file with `mcpServers` or `servers`. Leaves
 * out those that are disabled. Throws `invalid_argument` for everything that is not understood.
 */
export function readServers(given: unknown, env: Environment): ServerConfig[] {
  const outer = record(given, "servers");
  const { mcpServers, servers } = outer;
  let entries = outer;
  if (isEntries(mcpServers)) entries = mcpServers;
  else if (isEntries(servers)) {
    checkNames(outer, ["servers", "inputs", "$schema"], "field beside servers:");
    entries = servers;
  }
  return Object.entries(entries).flatMap(([name, entry]) => readEntry(name, entry, env) ?? []);
}

/**
 * Whether a field of a file holds the servers. A server may itself have the field's name: its entry
 * has a command or a URL, which is a text.
 */
function isEntries(given: unknown): given is Record<string, unknown> {
  return isRecord(given) && Object.values(given).every((entry) => isRecord(entry));
}

/** Reads one entry. Returns undefined for one that is disabled. Throws as {@link readServers}. */
export function readEntry(
  name: string,
  given: unknown,
  env: Environment,
): ServerConfig | undefined {
  const where = `The server ${JSON.stringify(name.slice(0, 80))}`;
  if (name === "" || name.length > 200 || /\p{Cc}/u.test(name))
    throw refusal(`${where} needs a name of 1 to 200 characters without control characters.`);
  const entry = record(given, where);
  checkNames(
    Object.fromEntries(Object.entries(entry).filter(([field]) => !ignored.includes(field))),
    fields,
    `field of the server ${JSON.stringify(name)}:`,
  );
  if (flag(entry, "disabled", where) === true || flag(entry, "enabled", where) === false)
    return undefined;
  const referred: string[] = [];
  const filled = (value: string, what: string): string =>
    expand(value, env, `${where}: ${what}`, (secret) => referred.push(secret));
  const reach = readReach(entry, filled, where);
  const choice = readChoice(entry, where);
  return { name, reach, choice, secrets: secretsOf(reach, referred) };
}

/** Replaces the references in a text. `what` is its field. */
type Fill = (value: string, what: string) => string;

function readReach(
  entry: Record<string, unknown>,
  filled: Fill,
  where: string,
): StdioConfig | HttpConfig {
  const said = text(entry, "type", where) ?? text(entry, "transportType", where);
  const type = said === undefined ? undefined : types[said];
  if (said !== undefined && type === undefined)
    throw refusal(
      `${where} has the type ${JSON.stringify(said)}. Known types: ${Object.keys(types).join(", ")}.`,
    );
  const command = text(entry, "command", where);
  const address = ["url", "httpUrl", "serverUrl"]
    .map((field) => text(entry, field, where))
    .find((value) => value !== undefined);
  if ((command === undefined) === (address === undefined))
    throw refusal(`${where} needs either a command or a url.`);
  if ((type === "stdio") !== (command !== undefined) && type !== undefined)
    throw refusal(
      `${where} has the type ${type}, which does not fit its ${command ? "command" : "url"}.`,
    );
  if (command !== undefined) {
    const cwd = text(entry, "cwd", where);
    return {
      kind: "stdio",
      command: filled(command, "command"),
      args: (texts(entry, "args", where) ?? []).map((value) => filled(value, "args")),
      env: filledMap(entry, "env", where, filled),
      cwd: cwd === undefined ? undefined : filled(cwd, "cwd"),
    };
  }
  return {
    kind: type === "sse" || type === "http" ? type : "any",
    url: readUrl(filled(address ?? "", "url"), where),
    headers: filledMap(entry, "headers", where, filled),
  };
}

function readUrl(address: string, where: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw refusal(`${where} needs a url that begins with http:// or https://.`);
  if (url.username !== "" || url.password !== "")
    throw refusal(`${where} has a password in its url. Send it as a header instead.`);
  return url;
}

function readChoice(entry: Record<string, unknown>, where: string): ToolChoice {
  const only = texts(entry, "includeTools", where) ?? texts(entry, "tools", where);
  const without = [
    ...(texts(entry, "excludeTools", where) ?? []),
    ...(texts(entry, "disabledTools", where) ?? []),
  ];
  return { only: only?.includes("*") === true ? undefined : only, without };
}

/** What must not appear in messages. `referred` are the values of variables with secret names. */
function secretsOf(reach: StdioConfig | HttpConfig, referred: readonly string[]): string[] {
  const found =
    reach.kind === "stdio"
      ? Object.entries(reach.env).flatMap(([name, value]) => (isSecretName(name) ? [value] : []))
      : [
          // The scheme before a token is no secret.
          ...Object.values(reach.headers).flatMap((value) => [value, value.replace(/^\S+ /, "")]),
          ...[...reach.url.searchParams].flatMap(([name, value]) =>
            isSecretName(name) ? [value, encodeURIComponent(value)] : [],
          ),
          ...referred.map((value) => encodeURIComponent(value)),
        ];
  const secrets = [...found, ...referred].filter((value) => value.trim().length >= 8);
  return [...new Set(secrets)];
}

function filledMap(
  entry: Record<string, unknown>,
  field: string,
  where: string,
  filled: Fill,
): Record<string, string> {
  if (entry[field] === undefined || entry[field] === null) return {};
  return Object.fromEntries(
    Object.entries(record(entry[field], `${where}: ${field}`)).map(([name, value]) => {
      if (typeof value !== "string")
        throw refusal(`${where}: ${field} must map names to texts, and ${name} is not a text.`);
      return [name, filled(value, `${field}.${name}`)];
    }),
  );
}

function text(entry: Record<string, unknown>, field: string, where: string): string | undefined {
  const value = entry[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string" || value === "")
    throw refusal(`${where}: ${field} must be a text.`);
  return value;
}

function texts(
  entry: Record<string, unknown>,
  field: string,
  where: string,
): readonly string[] | undefined {
  const value = entry[field];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || !value.every((part) => typeof part === "string"))
    throw refusal(`${where}: ${field} must be a list of texts.`);
  return value;
}

function flag(entry: Record<string, unknown>, field: string, where: string): boolean | undefined {
  const value = entry[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "boolean") throw refusal(`${where}: ${field} must be true or false.`);
  return value;
}

function record(given: unknown, what: string): Record<string, unknown> {
  if (!isRecord(given)) throw refusal(`${what} must be an object.`);
  return given;
}

function isRecord(given: unknown): given is Record<string, unknown> {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

function refusal(message: string): BowlineError {
  return new BowlineError("invalid_argument", message);
}
