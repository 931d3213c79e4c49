/**
 * What agents call: a model server in the protocol of OpenAI's chat, and a server for tools. Both run
 * in the tests' process and count, so that no worker can miscount by its death.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";

/** One answer of the model. */
export interface Turn {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args?: object }[];
  /** Time before the answer ends, in milliseconds. Default 0. */
  readonly ms?: number;
  /** The status of a response without an answer. */
  readonly status?: number;
}

export interface ToolUse {
  readonly name: string;
  readonly key: string;
  readonly startedAt: number;
  endedAt?: number;
}

/** What was seen of one script. */
export interface Seen {
  /** The turns for which the model was called, in order. */
  readonly turns: number[];
  /** The texts of the users' messages in each request. */
  readonly asked: string[][];
  readonly tools: ToolUse[];
  /** When connections of model calls were closed before their answer was complete. */
  readonly closedAt: number[];
}

interface Request {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
}

const PREFIX = "script:";

export class Outside implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;
  readonly #scripts = new Map<string, readonly Turn[]>();
  readonly #seen = new Map<string, Seen>();
  /** Resolves `when` after each event. */
  #changed = Promise.withResolvers<void>();

  constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      void this.#answer(request, response).catch(() => response.destroy());
    });
  }

  /** Sets the answers to the message that this returns. */
  script(name: string, turns: readonly Turn[]): string {
    this.#scripts.set(name, turns);
    this.#seen.set(name, { turns: [], asked: [], tools: [], closedAt: [] });
    return `${PREFIX}${name}`;
  }

  seen(name: string): Seen {
    const seen = this.#seen.get(name);
    if (seen === undefined) throw new Error(`There is no script ${name}.`);
    return seen;
  }

  /** Waits until `isTrue` holds for what was seen of a script. */
  async when(name: string, isTrue: (seen: Seen) => boolean, limitMs = 20_000): Promise<void> {
    const end = performance.now() + limitMs;
    while (!isTrue(this.seen(name))) {
      if (performance.now() > end)
        throw new Error(`not seen: ${JSON.stringify(this.seen(name))}, ${String(isTrue)}`);
      await Promise.race([this.#changed.promise, setTimeout(100)]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as never;
    if (request.url === "/tool") await this.#tool(body, response);
    else await this.#chat(body, response);
  }

  async #chat({ messages }: Request, response: ServerResponse): Promise<void> {
    const begin = messages.findLastIndex(
      ({ role, content }) => role === "user" && textOf(content).startsWith(PREFIX),
    );
    const name = textOf(messages[begin]?.content).slice(PREFIX.length);
    const seen = this.seen(name);
    const number = messages.slice(begin).filter(({ role }) => role === "assistant").length;
    const turn = this.#scripts.get(name)?.[number] ?? { text: "no more" };
    seen.turns.push(number);
    seen.asked.push(
      messages.filter(({ role }) => role === "user").map(({ content }) => textOf(content)),
    );
    let isComplete = false;
    response.on("close", () => {
      if (!isComplete) seen.closedAt.push(Date.now());
      this.#change();
    });
    this.#change();
    if (turn.status !== undefined) {
      response.writeHead(turn.status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: `status ${turn.status}` } }));
      isComplete = true;
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (delta: object, finish: string | null = null): void => {
      const choices = [{ index: 0, delta, finish_reason: finish }];
      response.write(
        `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", choices })}\n\n`,
      );
    };
    const parts = 10;
    send({ role: "assistant", content: "" });
    for (let part = 0; part < parts; part++) {
      if (turn.ms !== undefined) await setTimeout(turn.ms / parts);
      if (turn.text !== undefined && part === 0) send({ content: turn.text });
    }
    for (const [index, { name: tool, args = {} }] of (turn.calls ?? []).entries())
      send({
        tool_calls: [
          {
            index,
            id: `call_${number}_${index}`,
            type: "function",
            function: { name: tool, arguments: JSON.stringify(args) },
          },
        ],
      });
    send({}, turn.calls === undefined ? "stop" : "tool_calls");
    isComplete = true;
    response.end("data: [DONE]\n\n");
  }

  /** A tool's effect: takes its time, and ends whether or not anyone still listens. */
  async #tool(
    { script, name, key, ms }: { script: string; name: string; key: string; ms: number },
    response: ServerResponse,
  ): Promise<void> {
    const use: ToolUse = { name, key, startedAt: Date.now() };
    this.seen(script).tools.push(use);
    this.#change();
    await setTimeout(ms);
    use.endedAt = Date.now();
    response.end(JSON.stringify({ done: name }));
    this.#change();
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

export async function startOutside(): Promise<Outside> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  return new Outside(server);
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = (content ?? []) as readonly { readonly text?: string }[];
  return parts.map(({ text = "" }) => text).join("");
}
