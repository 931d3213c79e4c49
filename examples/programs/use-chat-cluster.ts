// The server of a page with `useChat` whose runs are in a cluster. Start as many as you like.
import { serve } from "@hono/node-server";
import { ChatRuns } from "@bowline/core/ui-stream";
import { GatewayClient } from "bowline/client";
import { remoteChat } from "bowline/use-chat";
import { Hono, type Context } from "hono";

const url = process.env.GATEWAY_URL ?? "ws://127.0.0.1:3000/agents";
const client = new GatewayClient({ url, token: process.env.GATEWAY_TOKEN ?? "" });
// Called for each request. Yours: throw here unless the caller may use this chat.
const open = (_caller: Context) => (id: string) => remoteChat(client, `web/${id}`);

const chats = new ChatRuns();
const app = new Hono();
app.post("/api/chat", async (c) => chats.post(await c.req.json(), open(c)));
app.get("/api/chat/:id", async (c) => c.json(await chats.messages(c.req.param("id"), open(c))));
app.get("/api/chat/:id/stream", (c) => chats.resume(c.req.param("id"), open(c)));
app.post("/api/chat/:id/stop", async (c) => {
  return c.json({ stopped: await chats.stop(c.req.param("id"), open(c)) });
});
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT ?? 3000) });
