/** The options of `bowline serve` and their parser. */
import { UsageError } from "../command-error.ts";
import { roles, type Role } from "../serve/cluster/config-fields.ts";
import { parseByTable, type Option } from "./options.ts";

export const serveOptions: readonly Option[] = [
  {
    name: "port",
    short: "p",
    value: "number",
    help: "default BOWLINE_PORT, else 18789; 0 takes any free one",
  },
  { name: "host", value: "address", help: "default BOWLINE_HOST, else 127.0.0.1" },
  { name: "expose", help: "allow other machines, by --host or through a proxy on this machine" },
  {
    name: "trust-proxy",
    value: "address",
    help: "trust this proxy for the client's address and the path; may be given again",
    repeated: true,
  },
  {
    name: "workspace",
    short: "w",
    value: "folder",
    help: "folder of AGENTS.md, in which tools work; also BOWLINE_WORKSPACE",
  },
  { name: "init", help: "create AGENTS.md, SOUL.md and TOOLS.md in the folder of --workspace" },
  {
    name: "fallback",
    value: "provider/model",
    help: "model to use when an agent's own model has no key; also BOWLINE_FALLBACK",
  },
  {
    name: "cluster",
    value: "file",
    help: "share the runs with other processes, as this file says; needs @bowline/cluster",
  },
  {
    name: "role",
    value: "role",
    help: "of this process in the cluster: both, gateway or worker (default that of the file)",
  },
  { name: "json", help: "print one JSON object when ready, instead of text" },
  { name: "help", short: "h", help: "show this help" },
];

export interface ServeCommand {
  readonly port?: number;
  readonly host?: string;
  readonly exposed: boolean;
  readonly trustProxy?: readonly string[];
  readonly workspace?: string;
  readonly init: boolean;
  readonly fallback?: string;
  readonly cluster?: string;
  readonly role?: Role;
  readonly json: boolean;
  readonly help: boolean;
}

/** Throws `UsageError` with one line that says what is wrong. */
export function parseServeOptions(args: readonly string[]): ServeCommand {
  const { values, positionals, text } = parseByTable(args, serveOptions, "serve");
  if (positionals.length > 0)
    throw new UsageError(`bowline serve takes no ${JSON.stringify(positionals[0])}.`);
  const [port, host, workspace, fallback, cluster] = [
    text("port"),
    text("host"),
    text("workspace"),
    text("fallback"),
    text("cluster"),
  ];
  const role = roleOf(text("role"));
  if (role !== undefined && cluster === undefined)
    throw new UsageError("--role goes with --cluster <file>.");
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65_535))
    throw new UsageError(`--port takes a number up to 65535, not ${JSON.stringify(port)}.`);
  return {
    exposed: values.expose === true,
    init: values.init === true,
    json: values.json === true,
    help: values.help === true,
    ...(port !== undefined && { port: Number(port) }),
    ...(host !== undefined && { host }),
    ...(Array.isArray(values["trust-proxy"]) && { trustProxy: values["trust-proxy"].map(String) }),
    ...(workspace !== undefined && { workspace }),
    ...(fallback !== undefined && { fallback }),
    ...(cluster !== undefined && { cluster }),
    ...(role !== undefined && { role }),
  };
}

function roleOf(text: string | undefined): Role | undefined {
  const role = roles.find((name) => name === text);
  if (text !== undefined && role === undefined)
    throw new UsageError(`--role takes ${roles.join(", ")}, not ${JSON.stringify(text)}.`);
  return role;
}
