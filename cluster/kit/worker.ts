/** A worker of the tests: serves the runs of one agent. Its settings are in the environment. */
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { createServer } from "node:http2";
import {
  Agent,
  defineTool,
  requireApproval,
  streamByProtocol,
  type AssistantMessageEventStream,
  type StreamFn,
} from "@bowline/core";
import { createPostgresStore } from "@bowline/postgres";
import { connectNats, RunPublisher } from "@bowline/cluster";
import { createRestateRuns } from "@bowline/restate";
import { createSecretFilter } from "bowline/engine";
import { mockModel } from "./mock-model.ts";

/** Passed as JSON in `WORKER`. */
export interface WorkerSettings {
  readonly port: number;
  readonly postgres: string;
  /** The address of the model and of the tools. */
  readonly outside: string;
  /** The NATS server to which the events go. Default: none. */
  readonly nats?: string;
  readonly inactivityMs?: number;
  readonly maxStepMs?: number;
  readonly retentionMs?: number;
  /** The limit of approvals. Default 60,000. */
  readonly approvalMs?: number;
  /** Replaces settings of the agent. */
  readonly agent?: {
    readonly maxParallelTools?: number;
    readonly toolExecution?: "parallel" | "sequential";
    readonly maxRetries?: number;
    readonly abortGraceMs?: number;
    readonly budget?: { readonly maxTimeMs?: number; readonly maxTurns?: number };
  };
  /** Text before the tools' results: the version of the code. */
  readonly version?: string;
  /** Another order of steps, as of a changed program. */
  readonly isChanged?: boolean;
  /** Each event is appended to this file, as a line of JSON. */
  readonly events?: string;
  /**
   * The process kills itself: after an answer of the model, after the commit of one, after a run has
   * begun in the database, or when a question to a person is in the database.
   */
  readonly diesAfter?: "answer" | "commit" | "begin" | "question";
}

const settings = JSON.parse(process.env.WORKER ?? "{}") as WorkerSettings;
const { port, outside, inactivityMs, maxStepMs, retentionMs, version = "" } = settings;

const model = mockModel(outside);

interface Args {
  readonly script: string;
  readonly ms?: number;
  readonly size?: number;
}

const parameters = {
  type: "object",
  properties: {
    script: { type: "string" },
    ms: { type: "number" },
    size: { type: "number" },
  },
  required: ["script"],
} as const;

/** Calls the outside. With `isDeaf`, aborts do not reach it. */
function tool(
  name: string,
  options: { replay?: "safe"; isDeaf?: boolean; needsApproval?: boolean },
) {
  const { replay, isDeaf = false, needsApproval } = options;
  return defineTool({
    name,
    description: name,
    parameters,
    ...(replay && { replay }),
    ...(needsApproval && { needsApproval }),
    async execute({ script, ms = 0, size = 0 }: Args, { signal, idempotencyKey: key }) {
      const response = await fetch(`${outside}/tool`, {
        method: "POST",
        body: JSON.stringify({ script, name, key, ms }),
        ...(!isDeaf && { signal }),
      });
      await response.text();
      return `${version}${name} done${"x".repeat(size)}`;
    },
  });
}

const store = createPostgresStore({ connectionString: settings.postgres });
const die = (): void => void process.kill(process.pid, "SIGKILL");
const lastWords = { commit: '"role":"assistant"', question: '"type":"approval_request"' };
if (settings.diesAfter === "commit" || settings.diesAfter === "question") {
  const last = lastWords[settings.diesAfter];
  const { durable } = store;
  const append = durable.append.bind(durable);
  durable.append = async (...args) => {
    const entries = await append(...args);
    if (entries.some((entry) => JSON.stringify(entry).includes(last))) die();
    return entries;
  };
}

if (settings.diesAfter === "begin") {
  const { durable } = store;
  const begin = durable.begin.bind(durable);
  durable.begin = async (...args) => {
    const begun = await begin(...args);
    die();
    return begun;
  };
}

/** Dies when the answer is complete, before anyone can record it. */
const dyingStream: StreamFn = async (...args) => {
  const stream = await streamByProtocol(...args);
  void (stream as AssistantMessageEventStream).result().then(die);
  return stream;
};

const publisher =
  settings.nats === undefined
    ? undefined
    : new RunPublisher({
        bus: await connectNats({ servers: settings.nats }),
        filter: createSecretFilter([]),
        workingDir: "/work",
      });

const runs = createRestateRuns({
  store,
  inactivityMs,
  maxStepMs,
  retentionMs,
  onEvent(event, source) {
    const { type, runId } = event;
    const { sessionId: sessionKey, attempt, isRepeated } = source;
    // Events of nested runs belong to their tool's call.
    publisher?.tell({ sessionKey, attempt, isRepeated, runId: source.runId }, event);
    if (settings.events !== undefined)
      appendFileSync(settings.events, `${JSON.stringify({ type, ...source, runId })}\n`);
  },
  createAgent: () =>
    new Agent({
      model,
      apiKey: "none",
      systemPrompt: version,
      tools: [
        tool("never", {}),
        tool("safe", { replay: "safe" }),
        tool("deaf", { isDeaf: true }),
        tool("asks", { needsApproval: true }),
      ],
      beforeToolCall: requireApproval({
        needed: () => false,
        timeoutMs: settings.approvalMs ?? 60_000,
      }),
      maxRetries: 0,
      ...(settings.diesAfter === "answer" && { streamFn: dyingStream }),
      // Another decision between the steps, as in a changed program.
      ...(settings.isChanged && { shouldStopAfterTurn: () => randomUUID().length === 0 }),
      ...settings.agent,
    }),
});

const server = createServer(runs.endpoint({ logger: () => {} }));
server.listen(port, "127.0.0.1", () => console.log("listening"));
