// A backend. POST /chat streams a run as server-sent events, and each user has a session. At its
// start the server resumes the runs that an earlier process left open.
import { mkdtemp, rm } from "node:fs/promises";
import {
  createServer,
  request as sendRequest,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, BowlineError, isBowlineError, messageText, type AgentEvent } from "@bowline/core";
import { attachSession, createSession, openSession } from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";
import { createScriptedModel } from "@bowline/core/testing";

const folder = await mkdtemp(join(tmpdir(), "chats-")); // replace it with a permanent folder
const store = createJsonlStore(folder);

// A killed process has left a prompt without an answer.
const killed = await createSession(store, { id: "bob" });
await killed.append({
  type: "run_start",
  runId: "run1",
  model: { provider: "p", model: "m", thinkingLevel: "off" },
});
await killed.append({
  type: "message",
  runId: "run1",
  message: { role: "user", content: "Is it late?", timestamp: 0 },
});
await killed.close();

const agents = new Map<string, Promise<Agent>>();

/**
 * Returns a user's agent, which locks the session as long as the process lives. A second process
 * gets `session_locked`.
 */
function agentOf(user: string): Promise<Agent> {
  const known = agents.get(user) ?? openAgent(user);
  agents.set(user, known);
  known.catch(() => agents.delete(user));
  return known;
}

async function openAgent(user: string): Promise<Agent> {
  const { model, streamFn } = createScriptedModel([`Good evening, ${user}.`]);
  const agent = new Agent({
    model,
    streamFn,
    budget: { maxTurns: 20, maxTimeMs: 600_000 },
  });
  const session = await openSession(store, user, { create: true });
  const { resume } = await attachSession(agent, session);
  resume().catch(console.error); // resumes an open run; a prompt is refused until it ends
  return agent;
}

/**
 * Converts an event for a page. An error's message may name the model server, so users get only the
 * code, and the log gets the message.
 */
function toPage(event: AgentEvent): object | undefined {
  if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta")
    return { type: "text", text: event.assistantMessageEvent.delta };
  if (event.type === "tool_execution_end")
    return { type: "tool", name: event.toolName, outcome: event.outcome };
  if (event.type === "agent_end")
    return { type: "end", reason: event.reason, code: event.error?.code };
  return undefined;
}

const server = createServer((request, response) => void chat(request, response));

async function chat(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    // replace it with your authentication
    const agent = await agentOf(String(request.headers["x-user"]));
    let message = "";
    for await (const chunk of request.setEncoding("utf8")) message += chunk;
    // There is no await between this and `prompt`, so that the second of two tabs is refused.
    if (agent.state.isStreaming) throw new BowlineError("invalid_state", "A run goes on.");
    response.writeHead(200, { "content-type": "text/event-stream" });
    // without this line the run continues
    response.on("close", () => response.writableEnded || agent.abort());
    const unsubscribe = agent.subscribe((event) => {
      const shown = toPage(event);
      if (shown) response.write(`data: ${JSON.stringify(shown)}\n\n`);
    });
    await agent.prompt(message).finally(unsubscribe);
    response.end();
  } catch (error) {
    const code = isBowlineError(error) ? error.code : "internal_error";
    if (!response.headersSent)
      response.writeHead(/^(?:invalid_state|session_locked)$/.test(code) ? 409 : 500);
    response.end(JSON.stringify({ error: { code } }));
  }
}

// Finds open runs that no process has resumed. A store with many sessions should have its own list
// of open runs.
for (const { id } of (await store.list({ limit: 10_000 })).sessions) {
  const { run } = await (await openSession(store, id, { readOnly: true })).state();
  if (!run?.hasBegun || run.reason !== undefined || (await store.holder(id))) continue;
  const agent = await agentOf(id);
  await agent.waitForIdle(); // only for the output of this example; a server continues at once
  const last = agent.state.messages.at(-1);
  console.log(`${id}: ${last && messageText(last)}`);
}

await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as { port: number };
const page = { port, method: "POST", path: "/chat", headers: { "x-user": "ann" } };
const answer = await new Promise<IncomingMessage>((resolve) =>
  sendRequest(page, resolve).end("Hi."),
);
let events = "";
for await (const piece of answer.setEncoding("utf8")) events += piece;
console.log(events.trim().replaceAll("\n\n", "\n"));

// At SIGTERM: refuses new requests and stops the running agents. Without the abort the next process
// would resume their runs.
server.close();
for (const agent of await Promise.all(agents.values())) agent.abort();
await rm(folder, { recursive: true });

/* Prints:
bob: Good evening, bob.
data: {"type":"text","text":"Good eve"}
data: {"type":"text","text":"ning, an"}
data: {"type":"text","text":"n."}
data: {"type":"end","reason":"done"}
*/
