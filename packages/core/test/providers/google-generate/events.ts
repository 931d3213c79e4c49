/** Hand-written streams of generateContent chunks, and their decoded answers. */
import type { AssistantContent, AssistantMessage } from "../../../src/llm/message.ts";
import { googleGenerate } from "../../../src/providers/google-generate/index.ts";
import { decodeEveryWay, type Decoded } from "../decode.ts";

export type Json = Record<string, unknown>;

/** Decodes a body whole and in every other way that must give the same result. */
export const read = (body: string, toolNames: readonly string[] = []): Decoded =>
  decodeEveryWay(googleGenerate, body, toolNames);

export const answer = (...chunks: (object | string)[]): AssistantMessage =>
  read(sse(...chunks)).message;

/** Chunks as the reference server writes them, with CRLF line ends (Q001). */
export const sse = (...chunks: (object | string)[]): string =>
  chunks
    .map((chunk) => `data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\r\n\r\n`)
    .join("");

export const parts = (...list: object[]): object => ({
  candidates: [{ content: { role: "model", parts: list } }],
});
export const text = (...pieces: string[]): object[] =>
  pieces.map((piece) => parts({ text: piece }));
export const call = (functionCall: object, fields: object = {}): object =>
  parts({ functionCall, ...fields });
export const piece = (jsonPath: string, value: unknown, willContinue?: boolean): object => ({
  jsonPath,
  ...(typeof value === "string" ? { stringValue: value } : (value as object)),
  ...(willContinue !== undefined && { willContinue }),
});
export const end = (finishReason: unknown = "STOP", fields: object = {}): object => ({
  candidates: [{ finishReason, ...fields }],
});

export const calls = (message: AssistantMessage): unknown[] =>
  message.content.flatMap((part) =>
    part.type === "toolCall" ? [[part.id, part.name, part.arguments]] : [],
  );
export const opaque = (raw: unknown): AssistantContent => ({
  type: "opaque",
  protocol: "google-generate",
  raw,
});
export const ending = (message: AssistantMessage): unknown[] => [
  message.stopReason,
  message.rawStopReason,
  message.error?.code,
];
export const said: AssistantContent[] = [{ type: "text", text: "Hello" }];
