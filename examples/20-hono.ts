// A chat server on Hono: POST /chats/:id streams a run as server-sent events, DELETE stops it, each
// chat is a session on the disk, and a reader that is too slow ends its own run only.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, isBowlineError } from "@bowline/core";
import { attachSession, createSession, openSession, type Session } from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";
import { createScriptedModel } from "@bowline/core/testing";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";

const answer = createScriptedModel(["Hello.", "Once upon a time. ".repeat(500)], { delayMs: 5 });
const folder = await mkdtemp(join(tmpdir(), "chats-")); // yours: a folder that stays
const store = createJsonlStore(folder);
const running = new Map<string, Agent>();
const app = new Hono();

const open = (id: string): Promise<Session> =>
  openSession(store, id).catch((error: unknown) => {
    if (isBowlineError(error) && error.code === "not_found") return createSession(store, { id });
    throw error;
  });

app.post("/chats/:id", async (c) => {
  const id = c.req.param("id"); // yours: whether it is one of the caller's
  const prompt = await c.req.text();
  const session = await open(id); // during another run of the chat: session_locked
  const { model, streamFn } = answer;
  const agent = new Agent({ model, streamFn, hookTimeoutMs: 30_000 }); // the slowest reader
  await attachSession(agent, session);
  running.set(id, agent);
  return streamSSE(c, async (sse) => {
    sse.onAbort(() => agent.abort()); // the client has gone
    agent.subscribe(async (event) => {
      // The run waits until the client has read this.
      if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta")
        await sse.writeSSE({ data: JSON.stringify(event.assistantMessageEvent.delta) });
      if (event.type === "agent_end") await sse.writeSSE({ event: "end", data: event.reason });
    });
    await agent.prompt(prompt);
    running.delete(id);
    await session.close();
  });
});
app.delete("/chats/:id", (c) => {
  running.get(c.req.param("id"))?.abort();
  return c.body(null, 204);
});
app.onError((error, c) => {
  const isBusy = isBowlineError(error) && error.code === "session_locked";
  return isBusy ? c.text("A run goes on.", 409) : c.text("Failed.", 500);
});

// To listen: serve({ fetch: app.fetch, port: 3000 }) of @hono/node-server.
const ask = (method: string, body?: string): Promise<Response> =>
  Promise.resolve(app.request("/chats/ann", { method, ...(body !== undefined && { body }) }));
console.log((await (await ask("POST", "Hi.")).text()).trim().replaceAll("\n\n", "\n"));
const story = await ask("POST", "A story, please.");
const second = await ask("POST", "Now!");
console.log(second.status, await second.text());
await ask("DELETE");
console.log((await story.text()).trim().split("\n").slice(-2).join(" "));
await rm(folder, { recursive: true });

/* Prints:
data: "Hello."
event: end
data: done
409 A run goes on.
event: end data: aborted
*/
