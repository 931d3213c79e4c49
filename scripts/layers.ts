/**
 * The allowed imports of each package. `npm run layers` and lint check the sources against them,
 * and test/layers.test.ts checks the built files. A layer is a folder or a file below the package's
 * `src`. A file belongs to the longest layer that contains it.
 */

export interface PackageRules {
  /** The folder of the sources. */
  readonly source: string;
  /** The layers that each layer may import besides itself. */
  readonly layers: Readonly<Record<string, readonly string[]>>;
  /** Whether only folders named node/ may import `node:` modules. */
  readonly isWebOnly: boolean;
  /** Packages above this one, which it loads when they are installed. They are no dependencies. */
  readonly loads?: readonly string[];
}

const bottom = [
  "errors",
  "check-names",
  "infer-schema",
  "json-value",
  "pattern",
  "schema-links",
  "json-type",
  "schema-walk",
  "json-schema",
  "schema",
  "clock",
] as const;

const core: PackageRules = {
  source: "packages/core/src",
  isWebOnly: true,
  layers: {
    ...each(bottom, bottom),
    transport: bottom,
    llm: [...bottom, "transport"],
    // The properties of wires that are needed without loading them.
    protocols: [...bottom, "llm"],
    providers: [...bottom, "transport", "llm", "protocols"],
    agent: [...bottom, "llm", "protocols"],
    session: [...bottom, "llm", "agent"],
    // An entry of its own: what is read from the events of a run.
    partial: [...bottom, "llm", "agent"],
    "ui-stream": [...bottom, "llm", "agent", "session"],
    "custom-prices": [...bottom, "llm"],
    // A separate entry, because of its dependency.
    prices: [...bottom, "llm", "custom-prices"],
    // Only the main entry imports both agent and providers.
    index: [...bottom, "transport", "llm", "protocols", "providers", "agent", "session"],
    testing: [...bottom, "transport", "llm", "providers", "agent", "session", "index"],
  },
};

const shapes = ["parts", "transcript", "run-call", "run-end", "pull-events"] as const;

/** Each compatibility layer imports the shared files, but no other compatibility layer. */
const compat: PackageRules = {
  source: "packages/compat/src",
  isWebOnly: true,
  layers: {
    ...each(shapes, shapes),
    karl: shapes,
    codelet: shapes,
    gai: shapes,
    gateway: shapes,
  },
};

/** Options, states and events are at the bottom. Servers and their tools are above them. */
const mcp: PackageRules = {
  source: "packages/mcp/src",
  isWebOnly: false,
  layers: {
    config: [],
    wire: ["config"],
    "cut-text": [],
    described: ["cut-text"],
    event: ["wire"],
    "server-state": ["wire"],
    options: ["config", "event"],
    server: ["config", "wire", "cut-text", "options", "server-state"],
    tools: ["wire", "cut-text", "options", "server"],
    resources: ["cut-text", "described", "server", "tools"],
    prompts: ["described", "server", "tools"],
    mcp: ["server-state", "resources", "prompts"],
    "server-group": [
      "wire",
      "event",
      "options",
      "server-state",
      "server",
      "tools",
      "resources",
      "prompts",
      "mcp",
    ],
    "connect-mcp": ["config", "options", "server", "mcp", "server-group"],
    index: [
      "config",
      "wire",
      "event",
      "options",
      "server-state",
      "resources",
      "prompts",
      "mcp",
      "connect-mcp",
    ],
  },
};

/**
 * A worker and a gateway know the messages and the bus, and not each other. The engine joins them with
 * the database and with Restate.
 */
const cluster: PackageRules = {
  source: "packages/cluster/src",
  isWebOnly: false,
  layers: {
    bus: [],
    wire: [],
    worker: ["bus", "wire"],
    relay: ["bus", "wire"],
    engine: ["bus", "wire", "worker", "relay"],
    "create-cluster": ["wire", "engine"],
    status: ["bus"],
    index: ["bus", "worker", "relay", "engine", "create-cluster", "status"],
  },
};

/** Rows and statements are at the bottom. The store is above its writers and connections. */
const postgres: PackageRules = {
  source: "packages/postgres/src",
  isWebOnly: false,
  layers: {
    options: [],
    errors: [],
    sql: ["options", "errors"],
    rows: ["options", "sql"],
    schema: ["sql", "rows"],
    context: ["sql", "rows"],
    connection: ["options", "errors", "sql", "rows", "context"],
    append: ["errors", "sql", "rows", "context"],
    writer: ["errors", "rows", "context", "append"],
    "create-session": ["rows", "context"],
    "open-writer": ["connection", "sql", "rows", "context", "create-session", "writer"],
    "list-sessions": ["options", "sql", "rows", "context"],
    "delete-sessions": ["options", "rows", "context"],
    durable: ["options", "errors", "sql", "rows", "context", "create-session"],
    "server-info": ["sql"],
    store: [
      "options",
      "server-info",
      "sql",
      "schema",
      "rows",
      "context",
      "connection",
      "open-writer",
      "list-sessions",
      "delete-sessions",
      "durable",
    ],
    index: [
      "options",
      "errors",
      "open-writer",
      "delete-sessions",
      "durable",
      "server-info",
      "store",
    ],
  },
};

/** The engine's port and the data are at the bottom. Runs are above them, and the SDK's service on top. */
const restate: PackageRules = {
  source: "packages/restate/src",
  isWebOnly: false,
  layers: {
    wire: [],
    options: ["wire"],
    engine: [],
    run: ["wire", "options", "engine"],
    "read-input": ["wire"],
    handlers: ["wire", "run"],
    "create-runs": ["wire", "options", "engine", "run", "read-input", "handlers"],
    "client-error": [],
    "client-message": ["wire", "options"],
    client: ["client-message", "wire", "options", "client-error"],
    "admin-requests": ["client-error"],
    "restate-status": ["admin-requests"],
    admin: ["wire", "options", "client-error", "admin-requests", "restate-status"],
    index: [
      "wire",
      "options",
      "create-runs",
      "client-message",
      "client",
      "admin",
      "restate-status",
    ],
  },
};

/** Files that all layers may import: network, data folders, secrets and safe output. */
const ground = [
  "network",
  "home",
  "secrets",
  "environment",
  "escape",
  "terminal",
  "command-error",
  "replace-file",
  "is-missing",
  "is-http",
  "is-like",
  "defined",
] as const;

/**
 * The layers of the gateway from the bottom up. The client is separate, since it runs in a page.
 */
const gateway = [
  "protocol",
  "log",
  "access",
  "agents",
  "engine",
  "approvals",
  "runs",
  "sessions",
  "remote",
  "server",
];
const rooms = gateway.map((room) => `gateway/${room}`);
const roomsBelow = (room: string): string[] => rooms.slice(0, rooms.indexOf(`gateway/${room}`));

const bowline: PackageRules = {
  source: "packages/bowline/src",
  isWebOnly: false,
  loads: ["@bowline/cluster"],
  layers: {
    ...each(ground, ground),
    tools: ground,
    practice: ground,
    doctor: ground,
    record: ground,
    models: [...ground, "practice", "doctor"],
    policy: ground,
    // `bowline.json`, from the user, the project and the project's local file.
    settings: [...ground, "policy"],
    trust: ground,
    // What a folder brings: instructions, skills, commands and sub-agents.
    project: [...ground, "policy", "settings", "trust"],
    // The MCP servers of the user and of a project.
    mcp: [...ground, "settings", "project"],
    // The programs that run at events, as Claude Code has them.
    hooks: [...ground, "tools", "record", "settings", "project"],
    // The terminal: keys, the live area, the editor, Markdown. It knows no agent.
    screen: ground,
    // The conversation: what is shown, asked and typed while an agent works.
    chat: [
      ...ground,
      "tools",
      "record",
      "models",
      "policy",
      "settings",
      "trust",
      "project",
      "mcp",
      "hooks",
      "screen",
    ],
    "gateway/protocol": [],
    "gateway/client": ["gateway/protocol"],
    "gateway/log": [...ground, "gateway/protocol"],
    "gateway/access": [...ground, "gateway/protocol"],
    "gateway/agents": [...ground, "models", "gateway/protocol", "gateway/access"],
    "gateway/engine": [...ground, "models", ...roomsBelow("engine")],
    "gateway/approvals": [...ground, "tools", "policy", ...roomsBelow("approvals")],
    "gateway/runs": [...ground, "models", "policy", ...roomsBelow("runs")],
    "gateway/sessions": [...ground, "models", ...roomsBelow("sessions")],
    "gateway/remote": [...ground, "models", "policy", ...roomsBelow("remote")],
    "gateway/server": [...ground, "models", "policy", ...roomsBelow("server")],
    // Runs in a browser. Imports only the gateway's protocol and client, and the functions that
    // make text safe to show.
    page: ["escape", "gateway/protocol", "gateway/client"],
    "page/node": [],
    // Runs in a web server, over the gateway's client.
    "use-chat": ["gateway/protocol", "gateway/client"],
    serve: [
      ...ground,
      "tools",
      "models",
      "policy",
      "settings",
      "trust",
      "project",
      "mcp",
      "hooks",
      ...rooms,
      "page/node",
    ],
    engine: [...ground, ...rooms],
    gateway: [...ground, "models", "policy", ...rooms, "page/node", "serve"],
    cli: [
      ...ground,
      "tools",
      "practice",
      "doctor",
      "record",
      "models",
      "policy",
      "settings",
      "trust",
      "project",
      "mcp",
      "hooks",
      "screen",
      "chat",
      "serve",
    ],
  },
};

/** The rules by package folder. */
export const packages: Readonly<Record<string, PackageRules>> = {
  core,
  compat,
  mcp,
  postgres,
  restate,
  bowline,
  cluster,
};

function each(
  names: readonly string[],
  allowed: readonly string[],
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(names.map((name) => [name, allowed]));
}
