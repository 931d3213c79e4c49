/**
 * A well-behaved client beside the others, over a socket and over HTTP. It must be served all the
 * time.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { GatewayClient } from "../../src/gateway/client/client.ts";
import type { Target } from "./attacks.ts";

export interface Healthy {
  /**
   * Stops the client. A request still pending after `patienceMs` is a fault. Resolves with the
   * faults and the sorted response times in milliseconds.
   */
  stop(patienceMs: number): Promise<{
    readonly faults: readonly string[];
    readonly waits: readonly number[];
    readonly runs: number;
  }>;
}

export async function startHealthy({ port, token }: Target): Promise<Healthy> {
  const client = new GatewayClient({ url: `ws://127.0.0.1:${port}`, token, WebSocket });
  const faults: string[] = [];
  const waits: number[] = [];
  const end = new AbortController();
  let runs = 0;
  /** The current wait of each of the three loops. */
  const waiting = { asking: "", chatting: "", reading: "" };
  await client.ready();
  const stopState = client.onState(
    (state) => void faults.push(`the healthy client's connection is ${state}`),
  );
  const asking = guarded(async () => {
    const from = performance.now();
    waiting.asking = "health.check";
    await client.request("health.check", {});
    waits.push(performance.now() - from);
    await sleep(20);
  });
  const chatting = guarded(async () => {
    const message = `message ${runs}`;
    waiting.chatting = `the answer to "${message}"`;
    const run = await client.send({ sessionKey: "the healthy client's", message });
    waiting.chatting = `the end of ${run.runId}, "${message}"`;
    const { end: last, text } = await run.result();
    runs++;
    if (last.event !== "chat.final")
      faults.push(`the healthy client's run ended: ${JSON.stringify(last)}`);
    else if (!text.includes(message)) faults.push(`the healthy client got ${text} for ${message}`);
    await sleep(50);
  });
  const reading = guarded(async () => {
    const headers = { authorization: `Bearer ${token}`, connection: "close" };
    const message = `read ${runs}`;
    const body = JSON.stringify({ sessionKey: "the healthy reader's", message });
    waiting.reading = `the answer to "${message}" over HTTP`;
    const begun = await fetch(`http://127.0.0.1:${port}/api/chat`, {
      method: "POST",
      headers,
      body,
    });
    const { events } = (await begun.json()) as { readonly events: string };
    waiting.reading = `the end of ${events}, "${message}"`;
    const stream = await (await fetch(`http://127.0.0.1:${port}${events}`, { headers })).text();
    runs++;
    if (!stream.includes(message) || !/\nevent: chat\.final\ndata: .+\n\n$/.test(stream))
      faults.push(`the healthy reader got ${stream} for ${message}`);
    await sleep(50);
  });
  return {
    async stop(patienceMs) {
      end.abort();
      const limit = sleep(patienceMs, "late", { ref: false });
      for (const [what, loop] of Object.entries({ asking, chatting, reading }))
        if ((await Promise.race([loop, limit])) === "late")
          faults.push(
            `the healthy client still waits for ${waiting[what as keyof typeof waiting]}`,
          );
      stopState();
      client.close();
      return { faults, waits: waits.toSorted((a, b) => a - b), runs };
    },
  };

  async function guarded(turn: () => Promise<void>): Promise<void> {
    while (!end.signal.aborted && faults.length === 0)
      await turn().catch((error: unknown) => void faults.push(String(error)));
  }
}
