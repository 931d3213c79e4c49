// The pages of docs/reference/ in order. A declaration goes to the page that names its package and
// the longest part of its file's path.

/** `first` lists the most important declarations, in order. The others follow by name. */
export const pages = [
  {
    file: "agent",
    title: "Agent",
    about: "The agent, its options, the result of a run, budgets, and the loop without an agent.",
    holds: { core: ["index", "agent/", "check-names"] },
    first: [
      "Agent",
      "AgentOptions",
      "PromptOptions",
      "RunResult",
      "AgentStream",
      "AgentStreamOptions",
    ],
  },
  {
    file: "tools",
    title: "Tools",
    about: "Tools of your own: how they are defined, what they get and return, who is asked first.",
    holds: {
      core: [
        "agent/define-tool",
        "agent/contract/tool",
        "agent/agent-tool",
        "agent/approval",
        "providers/provider-tool",
        "providers/user-location",
        "providers/anthropic-messages/tools",
        "providers/openai-responses/tools",
        "providers/google-generate/tools",
        "schema",
        "infer-schema",
        "json-",
      ],
    },
    first: ["defineTool", "ToolDefinition", "ToolRun", "createAgentTool", "AgentToolOptions"],
  },
  {
    file: "events",
    title: "Events of a run",
    about:
      "What a listener of an agent and a reader of `agent.stream()` get. `AgentEventBody` has the table of all events.",
    holds: {
      core: [
        "agent/contract/event",
        "agent/contract/compaction-event",
        "agent/contract/tool-event",
      ],
    },
    first: ["AgentEvent", "AgentEventBody", "CompactionEvent"],
  },
  {
    file: "partial",
    title: "Values while they arrive",
    about:
      "Structured output and the arguments of tools while the model writes them: `@bowline/core/partial`.",
    holds: { core: ["partial/"] },
    first: [
      "partialOutput",
      "PartialOutputEvent",
      "partialArguments",
      "PartialArgumentsEvent",
      "anyOutput",
      "applyIncrement",
    ],
  },
  {
    file: "messages",
    title: "Messages",
    about: "The transcript, and the events of one model call.",
    holds: { core: ["llm/message", "llm/event", "llm/usage", "llm/stream"] },
    first: [
      "Message",
      "UserMessage",
      "AssistantMessage",
      "ToolResultMessage",
      "AssistantMessageEvent",
    ],
  },
  {
    file: "sessions",
    title: "Sessions",
    about: "Transcripts that survive the process: sessions, stores and exports.",
    holds: { core: ["session/"] },
    first: ["attachSession", "resumeSession", "createSession", "openSession", "Session"],
  },
  {
    file: "long-conversations",
    title: "Long conversations",
    about: "Compaction, pruning and token counts.",
    holds: { core: ["agent/context"] },
    first: ["createCompaction", "CompactionOptions", "Compaction"],
  },
  {
    file: "ui-stream",
    title: "UI message stream",
    about: "A run for `useChat` of the AI SDK: `@bowline/core/ui-stream`.",
    holds: { core: ["ui-stream/"] },
    first: ["ChatRuns", "openChats", "toUIMessageResponse", "toUIMessageStream", "fromUIMessages"],
  },
  {
    file: "errors",
    title: "Errors",
    about: "Every failure is a `BowlineError` with one of these codes.",
    holds: { core: ["errors"] },
    first: ["BowlineError", "isBowlineError", "ErrorInfo"],
  },
  {
    file: "testing",
    title: "Testing",
    about: "The scripted model, checks of requests, recordings, and the checks of a session store.",
    holds: {
      core: ["testing/", "transport/record", "transport/match", "clock"],
    },
    first: ["createScriptedModel", "scriptedToolCall", "createRecorder"],
  },
  {
    file: "models",
    title: "Models and servers",
    about: "Models, vendors, the options of a model call, stream functions and the proxy.",
    holds: { core: ["llm/", "providers/", "protocols", "transport/", "prices", "custom-prices"] },
    first: ["getModel", "Model", "complete", "streamByProtocol", "StreamOptions", "StreamTimeouts"],
  },
  {
    file: "gateway",
    title: "Gateway",
    about: "The server of agents: `bowline/gateway`.",
    holds: {
      bowline: [
        "gateway/agents",
        "gateway/access",
        "gateway/runs",
        "gateway/server",
        "models/",
        "page/",
        "policy/",
        "serve/",
      ],
    },
    first: [
      "createGateway",
      "MountOptions",
      "startGateway",
      "GatewayOptions",
      "serve",
      "ServeOptions",
    ],
  },
  {
    file: "engine",
    title: "Engine of a gateway",
    about:
      "The gateway's entry points over runs that another process executes, such as a worker of a cluster: `bowline/engine`.",
    holds: {
      bowline: [
        "engine",
        "gateway/engine/",
        "gateway/remote/",
        "gateway/log/",
        "gateway/approvals/",
        "gateway/runs/",
        "gateway/sessions/",
        "is-missing",
        "secrets",
      ],
    },
    first: ["startEngine", "mountEngine", "CreateEngine", "Engine", "RunFeed", "RunFeedOptions"],
  },
  {
    file: "cluster",
    title: "Cluster",
    about: "Gateways and workers on several machines: `@bowline/cluster`.",
    holds: { cluster: [""] },
    first: ["connectNats", "NatsOptions", "RunPublisher", "Relay", "RelayOptions"],
  },
  {
    file: "client",
    title: "Gateway client",
    about: "The client of the gateway for programs and pages: `bowline/client`.",
    holds: { bowline: ["gateway/client"] },
    first: ["GatewayClient", "ClientOptions", "RunHandle"],
  },
  {
    file: "conversation",
    title: "Conversation",
    about: "The gateway's history and events as what a page shows: `bowline/conversation`.",
    holds: { bowline: ["page/conversation", "page/state/"] },
    first: ["newConversation", "withHistory", "withEvent", "runsOf", "Conversation", "RunView"],
  },
  {
    file: "use-chat",
    title: "Chats for useChat",
    about: "A session of a gateway for `ChatRuns`: `bowline/use-chat`.",
    holds: { bowline: ["use-chat/"] },
    first: ["remoteChat", "RemoteChat"],
  },
  {
    file: "gateway-protocol",
    title: "Gateway protocol",
    about:
      "Frames, methods, events and limits that the server and its clients share. [The gateway](../gateway.md#frames) has the tables of methods, events, error kinds and close codes.",
    holds: { bowline: ["gateway/protocol"] },
    first: ["GatewayLimits", "Methods", "EventData"],
  },
  {
    file: "workspace-tools",
    title: "Workspace tools",
    about: "read, write, edit, bash, grep and glob: `bowline/tools`.",
    holds: { bowline: ["tools/"] },
    first: ["createTools", "ToolsOptions", "ToolLimits"],
  },
  {
    file: "mcp",
    title: "MCP servers",
    about: "Tools of MCP servers: `@bowline/mcp`.",
    holds: { mcp: [""] },
    first: [
      "connectMcp",
      "McpOptions",
      "McpLimits",
      "McpServerEntry",
      "Mcp",
      "McpServerState",
      "McpEvent",
    ],
  },
  {
    file: "postgres",
    title: "PostgreSQL",
    about: "Sessions in PostgreSQL: `@bowline/postgres`.",
    holds: { postgres: [""] },
    first: [
      "createPostgresStore",
      "PostgresStoreOptions",
      "PostgresStore",
      "DurableSessions",
      "isSessionFenced",
    ],
  },
  {
    file: "restate",
    title: "Restate",
    about: "Runs that survive the death of their process: `@bowline/restate`.",
    holds: { restate: [""] },
    first: [
      "createRestateRuns",
      "RestateRunsOptions",
      "createRestateClient",
      "RestateClient",
      "createRestateAdmin",
    ],
  },
  ...["karl", "codelet", "gai", "gateway"].map((face) => ({
    file: `compat-${face}`,
    title: `Compatibility: ${face}`,
    about: `The types and functions of \`@bowline/compat/${face}\`.`,
    holds: { compat: face === "gai" ? ["gai/", "parts"] : [`${face}/`] },
    first: [],
  })),
];

/** Returns the page of a file such as `core/agent/agent.d.ts`. */
export function pageOf(path) {
  const [, name, rest] = /^([^/]+)\/(.*)$/.exec(path) ?? [];
  const [page] = pages
    .flatMap(({ file, holds }) => (holds[name] ?? []).map((beginning) => ({ file, beginning })))
    .filter(({ beginning }) => rest.startsWith(beginning))
    .toSorted((a, b) => b.beginning.length - a.beginning.length);
  if (page === undefined)
    throw new Error(
      `No page of the reference holds ${path}. Name it in scripts/reference/pages.mjs.`,
    );
  return page.file;
}
