// The server of a page with `useChat` on Express: tools, approvals, stop, reload and resume.
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { Agent, defineTool, getModel, requireApproval } from "@bowline/core";
import { ChatRuns, type ChatAgent } from "@bowline/core/ui-stream";
import express, { type Response as Answer } from "express";
import { z } from "zod";

const pay = defineTool({
  name: "pay",
  description: "Pays a bill",
  parameters: z.object({ to: z.string(), euros: z.number() }),
  needsApproval: true,
  execute: ({ to, euros }) => `Paid ${euros} EUR to ${to}.`,
});
const model = getModel("openai", "gpt-5-mini", { baseUrl: process.env.MODEL_URL });
const beforeToolCall = requireApproval({ needed: () => false });
const agents = new Map<string, ChatAgent>(); // yours: with sessions, and without those that are done
function agentOf(id: string): ChatAgent {
  const chat = agents.get(id) ?? { agent: new Agent({ model, tools: [pay], beforeToolCall }) };
  agents.set(id, chat); // yours: may the caller use this chat?
  return chat;
}
function send(answer: Answer, response: Response): void {
  answer.status(response.status).setHeaders(response.headers);
  if (!response.body) return void answer.end();
  const body = Readable.fromWeb(response.body as ReadableStream);
  answer.on("close", () => body.destroy()); // a page that leaves does not stop the run
  body.on("error", () => answer.destroy()).pipe(answer);
}

const chats = new ChatRuns();
const app = express().use(express.json({ limit: "50mb" }));
app.post("/api/chat", async (c, to) => send(to, await chats.post(c.body, agentOf)));
app.get("/api/chat/:id", async (c, to) => {
  to.json(await chats.messages(c.params.id, agentOf));
});
app.get("/api/chat/:id/stream", async (c, to) =>
  send(to, await chats.resume(c.params.id, agentOf)),
);
app.post("/api/chat/:id/stop", (c, to) => void to.json({ stopped: chats.stop(c.params.id) }));
app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
