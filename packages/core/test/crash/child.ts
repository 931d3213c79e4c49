/**
 * A process that is killed while its agent works: `child.ts <folder> <session> <base URL>`. Starts
 * or resumes the task. Writes in lines of JSON which entries were acknowledged and, at the end, how
 * it ended. Tools write their effects to a ledger beside the session: one line per execution, on
 * the disk before the tool continues. Some tools steer the run while they run; the process reports
 * each steering message that is in the log.
 */
import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import {
  Agent,
  createCompaction,
  defineTool,
  requireApproval,
  type AgentTool,
} from "../../src/agent/index.ts";
import { isBowlineError } from "../../src/errors.ts";
import { streamOpenaiChat } from "../../src/providers/openai-chat/index.ts";
import { getModel } from "../../src/providers/vendors.ts";
import {
  attachSession,
  createSession,
  openSession,
  type Session,
  type SessionWriter,
} from "../../src/session/index.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";

const [folder, id = "", baseUrl = ""] = process.argv.slice(2);
if (folder !== undefined) say(await work(folder)); // without a folder it is only compiled

/** Writes synchronously, so that the line survives a kill. */
function say(value: unknown): void {
  writeSync(1, `${JSON.stringify(value)}\n`);
}

function aWhile(atMost: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * atMost));
}

async function work(path: string): Promise<unknown> {
  say("begun");
  const store = createJsonlStore(path);
  const acknowledging = async (opening: Promise<SessionWriter>): Promise<SessionWriter> => {
    const writer = await opening;
    const append: SessionWriter["append"] = async (entries) => {
      await writer.append(entries);
      say({ acknowledged: entries.map((entry) => entry.id) });
    };
    return Object.create(writer, { append: { value: append } }) as SessionWriter;
  };
  const kept = {
    ...store,
    open: (name: string) => acknowledging(store.open(name)),
    create: (...args: Parameters<typeof store.create>) => acknowledging(store.create(...args)),
  };
  const session = await openSession(kept, id).catch((error: unknown): Promise<Session> => {
    if (!isBowlineError(error) || error.code !== "not_found") throw error;
    return createSession(kept, { id });
  });
  const { run: before } = await session.state();
  const agent = createAgent(join(path, `${id}.ledger`));
  const attached = await attachSession(agent, session);
  agent.subscribe((event) => {
    if (event.type !== "tool_execution_start" || Math.random() < 0.7) return;
    const note = randomUUID();
    const turn = /^t\d+/.exec(event.toolCallId)?.[0] ?? "";
    agent.steer({
      role: "user",
      content: `Note ${turn} of Task ${id}: ${note}`,
      timestamp: Date.now(),
    });
    void attached.queued().then(() => say({ queued: note }));
  });
  const run =
    (await attached.resume()) ??
    (before?.reason === "done" ? undefined : await agent.prompt(`Task ${id}`));
  await session.close();
  return { ended: run?.reason ?? "done", error: run?.error };
}

function createAgent(ledger: string): Agent {
  const tool = (name: string, replay: AgentTool["replay"]): AgentTool => ({
    ...defineTool({
      name,
      description: `The tool ${name}.`,
      parameters: {
        type: "object",
        properties: { number: { type: "number" } },
        required: ["number"],
      },
      async execute({ number }, { idempotencyKey }) {
        await aWhile(10);
        const file = openSync(ledger, "a");
        writeSync(file, `${idempotencyKey}\n`);
        fsyncSync(file);
        closeSync(file);
        await aWhile(10);
        return `${name} ${number}: ${"done ".repeat(150)}`;
      },
    }),
    replay: replay ?? "never",
  });
  const compaction = createCompaction({ keepRecentTokens: 800, maxSummaryTokens: 100 });
  const agent = new Agent({
    initialState: {
      model: { ...getModel("openai", "m"), baseUrl, contextWindow: 3000 },
      tools: [tool("pay", "never"), tool("look", "safe"), tool("send", "never")],
    },
    getApiKey: () => "sk-test",
    beforeToolCall: requireApproval({ needed: ({ toolCall }) => toolCall.name === "send" }),
    steeringMode: "all",
    transformContext: compaction.transformContext,
    streamFn: compaction.wrap(streamOpenaiChat),
  });
  agent.subscribe(async (event) => {
    if (event.type !== "approval_request") return;
    void aWhile(4).then(() => agent.answer(event.approvalId, { decision: "allow" }));
  });
  return agent;
}
