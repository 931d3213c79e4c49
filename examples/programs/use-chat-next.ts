// A route handler of Next.js for `useChat`: app/api/chat/[[...path]]/route.ts. It answers
// /api/chat, /api/chat/<id>, /api/chat/<id>/stream and /api/chat/<id>/stop.
import { Agent, defineTool, getModel, requireApproval } from "@bowline/core";
import { ChatRuns, type ChatAgent } from "@bowline/core/ui-stream";
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

/** Kept when the development server loads this module again. */
const kept = globalThis as { chats?: ChatRuns; agents?: Map<string, ChatAgent> };
const chats = (kept.chats ??= new ChatRuns());
const agents = (kept.agents ??= new Map<string, ChatAgent>());
function agentOf(id: string): ChatAgent {
  const chat = agents.get(id) ?? { agent: new Agent({ model, tools: [pay], beforeToolCall }) };
  agents.set(id, chat); // yours: may the caller use this chat?
  return chat;
}

interface Context {
  readonly params: Promise<{ readonly path?: string[] }>;
}

export async function POST(request: Request, { params }: Context): Promise<Response> {
  const { path: [id, action] = [] } = await params;
  if (id === undefined) return chats.post(await request.json(), agentOf);
  if (action === "stop") return Response.json({ stopped: chats.stop(id) });
  return new Response(null, { status: 404 });
}

export async function GET(_request: Request, { params }: Context): Promise<Response> {
  const { path: [id = "", action] = [] } = await params;
  if (action === "stream") return chats.resume(id, agentOf);
  return Response.json(await chats.messages(id, agentOf));
}
