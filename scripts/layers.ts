/**
 * The direction of imports, written once for each package: `npm run layers` and lint hold the
 * sources to it, test/layers.test.ts the built files. A layer is a folder or a file below the
 * package's `src`; a file belongs to the layer with the longest name that it lies in.
 */

export interface PackageRules {
  /** The folder of the sources. */
  readonly source: string;
  /** What each layer may import besides itself. */
  readonly layers: Readonly<Record<string, readonly string[]>>;
  /** Whether `node:` modules are for folders named node/ alone. */
  readonly isWebOnly: boolean;
}

const bottom = [
  "errors",
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
    // What is known of a wire without loading it.
    protocols: [...bottom, "llm"],
    providers: [...bottom, "transport", "llm", "protocols"],
    agent: [...bottom, "llm", "protocols"],
    session: [...bottom, "llm", "agent"],
    "custom-prices": [...bottom, "llm"],
    // An entry of its own, for what it needs of others.
    prices: [...bottom, "llm", "custom-prices"],
    // The main entry is the one place where agent and providers meet.
    index: [...bottom, "transport", "llm", "protocols", "providers", "agent", "session"],
    testing: [...bottom, "transport", "llm", "providers", "agent", "session", "index"],
  },
};

const shapes = ["parts", "transcript", "run-call", "run-end", "pull-events"] as const;

/** The faces know what they share and nothing of each other. */
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

/** How servers are reached, where data lies, what must not be told and what may be printed. */
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

/** The gateway from the bottom up, its doors last. The client is apart: it runs in a page. */
const gateway = ["protocol", "log", "access", "agents", "approvals", "runs", "sessions", "server"];
const rooms = gateway.map((room) => `gateway/${room}`);
const roomsBelow = (room: string): string[] => rooms.slice(0, rooms.indexOf(`gateway/${room}`));

const bowline: PackageRules = {
  source: "packages/bowline/src",
  isWebOnly: false,
  layers: {
    ...each(ground, ground),
    tools: ground,
    practice: ground,
    doctor: ground,
    record: ground,
    models: [...ground, "practice", "doctor"],
    policy: ground,
    "gateway/protocol": [],
    "gateway/client": ["gateway/protocol"],
    "gateway/log": [...ground, "gateway/protocol"],
    "gateway/access": [...ground, "gateway/protocol"],
    "gateway/agents": [...ground, "models", "gateway/protocol", "gateway/access"],
    "gateway/approvals": [...ground, "tools", "policy", ...roomsBelow("approvals")],
    "gateway/runs": [...ground, "models", "policy", ...roomsBelow("runs")],
    "gateway/sessions": [...ground, "models", ...roomsBelow("sessions")],
    "gateway/server": [...ground, "models", "policy", ...roomsBelow("server")],
    // In a browser: of the gateway what clients need, of the rest what makes text safe to show.
    page: ["escape", "gateway/protocol", "gateway/client"],
    "page/node": [],
    serve: [...ground, "tools", "models", "policy", ...rooms, "page/node"],
    gateway: [...ground, "models", "policy", ...rooms, "page/node", "serve"],
    cli: [...ground, "tools", "practice", "doctor", "record", "models", "policy", "serve"],
  },
};

/** By the package's folder. */
export const packages: Readonly<Record<string, PackageRules>> = { core, compat, bowline };

function each(
  names: readonly string[],
  allowed: readonly string[],
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(names.map((name) => [name, allowed]));
}
