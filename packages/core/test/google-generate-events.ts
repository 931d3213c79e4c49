/** Hand-written streams of generateContent chunks, and what they come to. */
import assert from "node:assert/strict";
import { reduceEvents, type AssistantMessageEvent } from "../src/llm/event.ts";
import type { AssistantContent, AssistantMessage } from "../src/llm/message.ts";
import { googleGenerate } from "../src/providers/google-generate/index.ts";
import { byteByByte, cut, decode, type Decoded } from "./recordings.ts";

export type Json = Record<string, unknown>;

/** Decodes a body whole, at every single cut and byte by byte; all must agree, and so must the reducer. */
export function read(body: string, toolNames: readonly string[] = []): Decoded {
  const bytes = new TextEncoder().encode(body);
  const whole = decode(googleGenerate, [bytes], toolNames);
  const expected = JSON.stringify(whole.events);
  const same = (chunks: Iterable<Uint8Array>, how: string): void =>
    assert.equal(JSON.stringify(decode(googleGenerate, chunks, toolNames).events), expected, how);
  for (let at = 1; at < bytes.length; at++) same(cut(bytes, [at]), `cut at ${at}`);
  same(byteByByte(bytes), "byte by byte");
  assert.deepEqual(
    reduceEvents(JSON.parse(expected) as AssistantMessageEvent[]),
    JSON.parse(JSON.stringify(whole.message)),
  );
  assert.deepEqual(reduceEvents(whole.events), whole.message);
  return whole;
}

export const answer = (...chunks: (object | string)[]): AssistantMessage => read(sse(...chunks)).message;

/** Chunks as the reference server writes them, which ends lines with CRLF (Q001). */
export const sse = (...chunks: (object | string)[]): string =>
  chunks.map((chunk) => `data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\r\n\r\n`).join("");

export const parts = (...list: object[]): object => ({ candidates: [{ content: { role: "model", parts: list } }] });
export const text = (...pieces: string[]): object[] => pieces.map((piece) => parts({ text: piece }));
export const call = (functionCall: object, fields: object = {}): object => parts({ functionCall, ...fields });
export const piece = (jsonPath: string, value: unknown, willContinue?: boolean): object => ({
  jsonPath,
  ...(typeof value === "string" ? { stringValue: value } : (value as object)),
  ...(willContinue !== undefined && { willContinue }),
});
export const end = (finishReason: unknown = "STOP", fields: object = {}): object => ({
  candidates: [{ finishReason, ...fields }],
});

export const calls = (message: AssistantMessage): unknown[] =>
  message.content.flatMap((part) => (part.type === "toolCall" ? [[part.id, part.name, part.arguments]] : []));
export const opaque = (raw: unknown): AssistantContent => ({ type: "opaque", protocol: "google-generate", raw });
export const ending = (message: AssistantMessage): unknown[] => [
  message.stopReason,
  message.rawStopReason,
  message.error?.code,
];
export const said: AssistantContent[] = [{ type: "text", text: "Hello" }];
