// The server of a page with `useChat`: tools, approvals, stop, reload and resume. Chats are on disk.
import { serve } from "@hono/node-server";
import { Agent, defineTool, getModel, requireApproval } from "@bowline/core";
import { attachSession, openSession } from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";
import { ChatRuns, type ChatAgent } from "@bowline/core/ui-stream";
import { Hono } from "hono";
import { z } from "zod";

const pay = defineTool({
  name: "pay",
  description: "Pays a bill",
  parameters: z.object({ to: z.string(), euros: z.number() }),
  needsApproval: true,
  execute: ({ to, euros }) => `Paid ${euros} EUR to ${to}.`,
});
const store = createJsonlStore("./chats");
const agents = new Map<string, Promise<ChatAgent>>();
async function open(id: string): Promise<ChatAgent> {
  const model = getModel("openai", "gpt-5-mini", { baseUrl: process.env.MODEL_URL });
  const beforeToolCall = requireApproval({ needed: () => false });
  const agent = new Agent({ model, tools: [pay], beforeToolCall });
  const session = await openSession(store, id, { create: true });
  return { agent, session: await attachSession(agent, session) };
}
function agentOf(id: string): Promise<ChatAgent> {
  const chat = agents.get(id) ?? open(id); // yours: may the caller use this chat?
  agents.set(id, chat);
  chat.catch(() => agents.delete(id));
  return chat;
}

const chats = new ChatRuns();
const app = new Hono();
app.post("/api/chat", async (c) => chats.post(await c.req.json(), agentOf));
app.get("/api/chat/:id", async (c) => c.json(await chats.messages(c.req.param("id"), agentOf)));
app.get("/api/chat/:id/stream", (c) => chats.resume(c.req.param("id"), agentOf));
app.post("/api/chat/:id/stop", (c) => c.json({ stopped: chats.stop(c.req.param("id")) }));
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT ?? 3000) });
