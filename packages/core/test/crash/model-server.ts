/**
 * The model server of the killed children: Chat Completions on loopback, with strict checks and
 * pauses.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { checkChatRequest } from "../../src/testing/index.ts";
import { loopback } from "../../../../test/support/loopback.ts";
import { eventsOf, type ScriptedTurn } from "../../../../test/support/strict-server.ts";

export const TURNS = 8;

export interface ModelServer extends AsyncDisposable {
  readonly baseUrl: string;
  /** All problems found in requests. */
  readonly problems: readonly string[];
  readonly counts: { requests: number; summaries: number };
}

interface Asked {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
}

export async function startModelServer(): Promise<ModelServer> {
  const problems: string[] = [];
  const counts = { requests: 0, summaries: 0 };
  const server = await loopback(async (response, _request, body) => {
    const request = JSON.parse(body) as { messages: Asked[] };
    const found = checkChatRequest(request);
    problems.push(...found);
    counts.requests++;
    if (found.length > 0) {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(
        JSON.stringify({ error: { message: found.join("; "), type: "invalid_request_error" } }),
      );
      return;
    }
    const isSummary = JSON.stringify(request.messages.at(-1)).includes("Write a summary");
    if (isSummary) counts.summaries++;
    await sleep(Math.random() * 8);
    const turn = isSummary ? { text: "Some was done." } : nextTurn(request.messages);
    const size = Math.ceil(body.length / 40); // as usage: ten times that many tokens
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of eventsOf("openai-chat", turn, size)) {
      if (Math.random() < 0.1) await sleep(1);
      response.write(event);
    }
    response.end();
  });
  return {
    baseUrl: server.baseUrl,
    problems,
    counts,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/**
 * Returns one to four calls that depend only on the task and the turn, so that a retried request
 * gets the same ones.
 */
function nextTurn(messages: readonly Asked[]): ScriptedTurn {
  const {
    role,
    content: said,
    tool_call_id: last = "",
  } = messages.at(-1) ?? { role: "", content: "" };
  const task =
    messages.map(({ content }) => /Task (\w+)/.exec(JSON.stringify(content))?.[1]).find(Boolean) ??
    "";
  const steered = /^Note t(\d+) /.exec(typeof said === "string" ? said : "")?.[1];
  const turn =
    role === "tool" || steered !== undefined
      ? Number(steered ?? /^t(\d+)_/.exec(last)?.[1]) + 1
      : 1;
  if (turn > TURNS) return { text: "All done." };
  const mixed = Buffer.from(`${task} ${turn}`).reduce((sum, byte) => (sum * 31 + byte) % 65_521, 7);
  const calls = Array.from({ length: 1 + (mixed % 4) }, (_, number) => ({
    id: `t${turn}_${number}`,
    name: ["pay", "look", "send", "pay", "look"][(mixed + number) % 5] ?? "pay",
    args: { number },
  }));
  return { text: mixed % 3 === 0 ? "On." : "", calls };
}
