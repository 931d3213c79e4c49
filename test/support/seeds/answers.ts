/** Loopback answers on the wires that the seeds' programs use. */
import { streamed, type Handler } from "../loopback.ts";

/** The fields that tests read of a request on either wire. */
export interface SentBody {
  readonly model: string;
  readonly system?: unknown;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly {
    readonly input_schema?: unknown;
    readonly function?: { readonly parameters: unknown };
  }[];
  readonly thinking?: { readonly budget_tokens: number };
}

/** The parts of one message of a request. */
export function partsOf(body: SentBody, index: number): Record<string, unknown>[] {
  return body.messages[index]?.content as Record<string, unknown>[];
}

/** A text block in these deltas, or a call of a tool. */
type Block = readonly string[] | { readonly name: string; readonly input: object };

const start = {
  type: "message_start",
  message: { id: "msg_1", role: "assistant", content: [], usage: { input_tokens: 9 } },
};

function blockEvents(block: Block, index: number): object[] {
  const delta = (value: object): object => ({ type: "content_block_delta", index, delta: value });
  if (!("name" in block)) {
    return [
      { type: "content_block_start", index, content_block: { type: "text", text: "" } },
      ...block.map((text) => delta({ type: "text_delta", text })),
    ];
  }
  const { name, input } = block;
  return [
    {
      type: "content_block_start",
      index,
      content_block: { type: "tool_use", id: `call_${index}`, name, input: {} },
    },
    delta({ type: "input_json_delta", partial_json: JSON.stringify(input) }),
  ];
}

/** Text and calls, `call_0` and so on, on the Messages wire. */
export function messagesAnswer(...blocks: readonly Block[]): Handler {
  const isCall = blocks.some((block) => "name" in block);
  return streamed(
    start,
    ...blocks.flatMap((block, index) => [
      ...blockEvents(block, index),
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: isCall ? "tool_use" : "end_turn" },
      usage: { output_tokens: 5 },
    },
    { type: "message_stop" },
  );
}

/** Text in these pieces. */
export function says(...deltas: readonly string[]): Handler {
  return messagesAnswer(deltas);
}

/** Tool calls and nothing else. */
export function calls(...tools: readonly (readonly [name: string, input: object])[]): Handler {
  return messagesAnswer(...tools.map(([name, input]) => ({ name, input })));
}

/** The first words of an answer, after which the server stays silent. */
export function saysAndFallsSilent(...deltas: readonly string[]): Handler {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of [start, ...blockEvents(deltas, 0)])
      response.write(`data: ${JSON.stringify(event)}\n\n`);
  };
}

/** Text in the format between a page and its proxy. */
export function proxySays(text: string): Handler {
  return streamed(
    { type: "start" },
    { type: "text_start", contentIndex: 0 },
    { type: "text_delta", contentIndex: 0, delta: text },
    { type: "text_end", contentIndex: 0 },
    { type: "done", reason: "stop", usage: { input: 1, output: 1 } },
  );
}
