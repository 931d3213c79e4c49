/**
 * A model server on loopback that follows a script: it chooses each answer by what the request
 * holds, streams at a given rate, pauses where the script says, and records every request.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { checkChatRequest, checkMessagesRequest } from "@bowline/core/testing";
import { encoders, type Api, type Encoder } from "./vendor-wires.ts";

type Json = Record<string, unknown>;

/** One part of an answer. Neighbours of one kind form one block. */
export type Step =
  | { readonly thinking: string; readonly rate?: number }
  /** `rate`: tokens per second. Default: all at once. */
  | { readonly text: string; readonly rate?: number }
  | { readonly call: string; readonly args: object }
  /** Sends nothing more until the promise settles. */
  | { readonly until: Promise<unknown> };

export type Reply =
  | string
  | readonly Step[]
  | {
      readonly status: number;
      readonly body: object;
      readonly headers?: Readonly<Record<string, string>>;
    };

/** A request, read. */
export interface Asked {
  readonly api: Api;
  readonly body: Json;
  /** The request body as it came. */
  readonly raw: string;
  readonly headers: IncomingMessage["headers"];
  /** The texts of the messages; a result's text has the role "tool". */
  readonly messages: readonly { readonly role: string; readonly text: string }[];
  /** The text of the last message. */
  readonly last: string;
  /** Settles when the answer has been sent, or when the client has gone. */
  readonly ended: Promise<"sent" | "gone">;
}

/** `number` counts requests from 1. */
export type Play = (asked: Asked, number: number) => Reply;

export interface Vendor extends AsyncDisposable {
  /** For `--base-url` and a Chat Completions model. */
  readonly baseUrl: string;
  /** The address without a path, for `ANTHROPIC_BASE_URL`. */
  readonly origin: string;
  readonly asked: readonly Asked[];
  /** Every invalid request so far. */
  readonly problems: readonly string[];
  /** Replaces the script for later requests. */
  play(play: Play): void;
}

/** The length of a step of the pace. */
const TICK_MS = 4;
export const MODEL = "thinker-1";

export async function openVendor(first: Play): Promise<Vendor> {
  const asked: Asked[] = [];
  const problems: string[] = [];
  let play = first;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const raw = Buffer.concat(parts).toString("utf8");
      if (request.method !== "POST") return sendModels(response);
      const api: Api = request.url?.endsWith("/messages") ? "messages" : "chat";
      const one = read(api, raw, request.headers, response);
      asked.push(one);
      const check = api === "chat" ? checkChatRequest : checkMessagesRequest;
      problems.push(...check(one.body));
      void answer(response, encoders[api](asked.length, raw.length), play(one, asked.length));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl: `${origin}/v1`,
    origin,
    asked,
    problems,
    play: (next) => void (play = next),
    [Symbol.asyncDispose]: () => close(server),
  };
}

async function answer(response: ServerResponse, encoder: Encoder, reply: Reply): Promise<void> {
  if (typeof reply === "object" && "status" in reply) {
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(JSON.stringify(reply.body));
    return;
  }
  const steps = typeof reply === "string" ? [{ text: reply }] : reply;
  const gone = new Promise<void>((resolve) => response.once("close", resolve));
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  for (const step of steps) {
    if (response.destroyed) return;
    if ("until" in step) await Promise.race([step.until, gone]);
    else if ("call" in step) response.write(encoder.call(step.call, step.args));
    else await paced(response, step, encoder);
  }
  if (!response.destroyed) response.end(encoder.end());
}

async function paced(
  response: ServerResponse,
  step: { thinking: string; rate?: number } | { text: string; rate?: number },
  encoder: Encoder,
): Promise<void> {
  const kind = "text" in step ? "text" : "thinking";
  const tokens = tokensOf("text" in step ? step.text : step.thinking);
  const events = (some: readonly string[]): string =>
    some.map((token) => encoder[kind](token)).join("");
  if (step.rate === undefined) {
    response.write(events(tokens));
    return;
  }
  const started = performance.now();
  for (let sent = 0; sent < tokens.length && !response.destroyed;) {
    const due = Math.min(
      tokens.length,
      1 + Math.floor(((performance.now() - started) / 1000) * step.rate),
    );
    if (due > sent) response.write(events(tokens.slice(sent, due)));
    sent = Math.max(sent, due);
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
}

/** Splits a text into pieces of about the size of a token. */
export function tokensOf(text: string): string[] {
  return text.match(/\s?\S{1,5}|\s/gu) ?? [];
}

function read(
  api: Api,
  raw: string,
  headers: IncomingMessage["headers"],
  response: ServerResponse,
): Asked {
  const body = JSON.parse(raw) as Json;
  const messages = (body.messages as Json[]).map(({ role, content }) => ({
    role: isResult(content) ? "tool" : String(role),
    text: textOf(content),
  }));
  const ended = new Promise<"sent" | "gone">((resolve) => {
    response.once("finish", () => resolve("sent"));
    response.once("close", () => resolve("gone"));
  });
  return { api, body, raw, headers, messages, last: messages.at(-1)?.text ?? "", ended };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as Json[])
    .map((part) => (typeof part.text === "string" ? part.text : textOf(part.content)))
    .join("\n");
}

/** Results of Messages are in a user's message. */
function isResult(content: unknown): boolean {
  return Array.isArray(content) && (content as Json[]).some(({ type }) => type === "tool_result");
}

function sendModels(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ object: "list", data: [{ id: MODEL, object: "model" }] }));
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
