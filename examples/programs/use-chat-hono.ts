// The server of a page with `useChat`: tools, approvals, stop, reload and resume. Chats are on disk.
import { serve } from "@hono/node-server";
import { Agent, defineTool, getModel } from "@bowline/core";
import { createJsonlStore } from "@bowline/core/session/node";
import { ChatRuns, openChats } from "@bowline/core/ui-stream";
import { Hono, type Context } from "hono";
import { z } from "zod";

const pay = defineTool({
  name: "pay",
  description: "Pays a bill",
  parameters: z.object({ to: z.string(), euros: z.number() }),
  needsApproval: true,
  execute: ({ to, euros }) => `Paid ${euros} EUR to ${to}.`,
});
const model = getModel("openai", "gpt-5-mini", { baseUrl: process.env.MODEL_URL });
const agents = () => new Agent({ model, tools: [pay] });
const mayUse = (_chatId: string, _caller: Context) => true; // yours: called for each request
const open = openChats({ agents, mayUse, store: createJsonlStore("./chats") });

const chats = new ChatRuns();
const app = new Hono();
app.post("/api/chat", async (c) => chats.post(await c.req.json(), open(c)));
app.get("/api/chat/:id", async (c) => c.json(await chats.messages(c.req.param("id"), open(c))));
app.get("/api/chat/:id/stream", (c) => chats.resume(c.req.param("id"), open(c)));
app.post("/api/chat/:id/stop", async (c) => {
  return c.json({ stopped: await chats.stop(c.req.param("id"), open(c)) });
});
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT ?? 3000) });
