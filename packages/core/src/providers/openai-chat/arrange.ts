/** Arranges messages in the order and form that a server accepts. */
import { asRecord, list } from "../../json-value.ts";
import type { Compat } from "../../llm/model.ts";
import { reasoningFields, type WireMessage } from "./messages.ts";

export function arrangeMessages(messages: readonly WireMessage[], compat: Compat): WireMessage[] {
  const wire: WireMessage[] = [];
  const calls = callsOf(messages, compat.callIdDigits);
  for (const message of messages) {
    const last = wire.at(-1);
    if (message.role === "user" && last?.role === "user" && compat.mergeUsers) {
      wire[wire.length - 1] = { role: "user", content: join(last.content, message.content) };
      continue;
    }
    if (message.role === "user" && last?.role === "tool" && compat.assistantAfterTool)
      wire.push({ role: "assistant", content: "I have the results." });
    wire.push(adapt(message, calls, compat));
  }
  const last = wire.at(-1);
  // The model should continue a trailing answer (Q126). `last` is a copy, so it can be changed.
  if (compat.prefill !== undefined && last?.role === "assistant" && last.tool_calls === undefined) {
    if (compat.prefill === "none") wire.push({ role: "user", content: "Go on." });
    else last[compat.prefill] = true;
  }
  return wire;
}

/** The id that each call gets, and the name of its tool. */
type Calls = ReadonlyMap<unknown, { readonly id: unknown; readonly name: unknown }>;

function callsOf(messages: readonly WireMessage[], digits: number | undefined): Calls {
  const calls = messages.flatMap((message) => list(message.tool_calls)).map(asRecord);
  return new Map(
    calls.map(({ id, function: fn }, index) => {
      const number = String(index + 1).padStart(digits ?? 0, "0");
      return [id, { id: digits === undefined ? id : number, name: asRecord(fn).name }];
    }),
  );
}

function adapt(message: WireMessage, calls: Calls, compat: Compat): WireMessage {
  if (message.role === "tool") {
    const { id, name } = calls.get(message.tool_call_id) ?? {
      id: message.tool_call_id,
      name: undefined,
    };
    return { ...message, tool_call_id: id, ...(compat.toolResultName && { name }) };
  }
  if (message.role !== "assistant") return message;
  const unthought = compat.replayReasoning && !reasoningFields.some((field) => field in message);
  return {
    ...message,
    ...(message.content === null && compat.noNullContent && { content: "" }),
    ...(unthought && { reasoning_content: "" }), // some servers require the field on every answer (Q132)
    ...(message.tool_calls !== undefined && {
      tool_calls: list(message.tool_calls).map((call) => {
        const { id, ...rest } = asRecord(call);
        return { id: calls.get(id)?.id, ...rest };
      }),
    }),
  };
}

/** Joins two contents. Two texts give a text. */
function join(first: unknown, second: unknown): unknown {
  if (typeof first === "string" && typeof second === "string") return `${first}\n${second}`;
  return [first, second].flatMap((content) =>
    typeof content === "string" ? [{ type: "text", text: content }] : content,
  );
}
