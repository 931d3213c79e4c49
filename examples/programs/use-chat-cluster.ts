// The server of a page with `useChat` whose runs are in a cluster. Start as many as you like.
import { serve } from "@hono/node-server";
import { ChatRuns, type ChatAgent } from "@bowline/core/ui-stream";
import { GatewayClient } from "bowline/client";
import { remoteChat } from "bowline/use-chat";
import { Hono } from "hono";

const url = process.env.GATEWAY_URL ?? "ws://127.0.0.1:3000/agents";
const client = new GatewayClient({ url, token: process.env.GATEWAY_TOKEN ?? "" });
// yours: may the caller use this chat?
const agentOf = (id: string): Promise<ChatAgent> => remoteChat(client, `web/${id}`);

const chats = new ChatRuns();
const app = new Hono();
app.post("/api/chat", async (c) => chats.post(await c.req.json(), agentOf));
app.get("/api/chat/:id", async (c) => c.json(await chats.messages(c.req.param("id"), agentOf)));
app.get("/api/chat/:id/stream", (c) => chats.resume(c.req.param("id"), agentOf));
app.post("/api/chat/:id/stop", async (c) => {
  const sessionKey = `web/${c.req.param("id")}`;
  const { aborted } = await client.request("chat.abort", { sessionKey });
  return c.json({ stopped: aborted });
});
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT ?? 3000) });
