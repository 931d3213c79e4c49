/** A model server in this process that answers by a plan and records what it billed. */
import { costOf, type Prices } from "../../src/llm/usage.ts";

type Json = Record<string, unknown>;

/** How one request is answered. */
export interface AnswerPlan {
  readonly kind:
    | "text"
    | "tool"
    | "agent"
    | "output"
    | "empty"
    | "cut"
    | "broken"
    | "tooLong"
    | "refused"
    | "down"
    | "hangs";
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  /** Whether the usage has a total, for the wire that has a field for it. */
  readonly hasTotal: boolean;
}

/** The sum of what was billed, and the number of calls. */
export interface Bill {
  calls: number;
  tokens: number;
  cost: number;
}

export interface MockServer {
  readonly fetch: typeof fetch;
  readonly bill: Bill;
}

export interface MockServerOptions {
  /** The answer to each request. Further requests get a text. */
  readonly answers: readonly AnswerPlan[];
  /** The prices of each host. */
  readonly prices: Readonly<Record<string, Prices>>;
  /** Makes the client of a hanging request disconnect. */
  readonly onHang: () => void;
}

const last: AnswerPlan = { kind: "text", input: 1, output: 1, cached: 0, hasTotal: true };

export function createMockServer({ answers, prices, onHang }: MockServerOptions): MockServer {
  const bill: Bill = { calls: 0, tokens: 0, cost: 0 };
  let next = 0;
  const charge = ({ input, output, cached }: AnswerPlan, host: string): void => {
    bill.calls++;
    bill.tokens += input + cached + output;
    const cost = costOf({ input, output, cacheRead: cached }, prices[host] as Prices);
    bill.cost += cost?.total ?? 0;
  };
  const answer: typeof fetch = async (address, init) => {
    const { host, pathname } = new URL(address as string);
    const plan = fitted(answers[next++] ?? last, JSON.parse(init?.body as string) as Json);
    if (plan.kind === "down") return new Response("no", { status: 503 });
    const events = pathname.endsWith("/messages") ? messagesEvents(plan) : chatEvents(plan);
    let at = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (at === 1) charge(plan, host); // the client has the usage from the first event
          const event = events[at++];
          if (event !== undefined) controller.enqueue(new TextEncoder().encode(event));
          else if (plan.kind === "hangs") onHang();
          else controller.close();
        },
        cancel() {
          if (at === 1) charge(plan, host);
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  return { fetch: answer, bill };
}

/** Replaces a call of an undeclared tool, which would only be answered as unknown, by a text. */
function fitted(plan: AnswerPlan, { tools = [] }: Json): AnswerPlan {
  const declared = JSON.stringify(tools).includes(`"${toolOf[plan.kind] ?? ""}"`);
  return plan.kind in toolOf && !declared ? { ...plan, kind: "text" } : plan;
}

const toolOf: Partial<Record<AnswerPlan["kind"], string>> = {
  tool: "look",
  agent: "ask",
  output: "final_answer",
};
const argsOf: Partial<Record<AnswerPlan["kind"], Json>> = {
  agent: { prompt: "Do it." },
  output: { value: 1 },
};

/** The first event has the whole usage, so that the usage of a cut answer is known, too. */
function chatEvents({ kind, input, output, cached, hasTotal }: AnswerPlan): string[] {
  const usage = {
    prompt_tokens: input + cached,
    completion_tokens: output,
    prompt_tokens_details: { cached_tokens: cached },
    ...(hasTotal && { total_tokens: input + cached + output }),
  };
  const chunk = (delta: Json, finish_reason: string | null = null): string =>
    data({ id: "c", choices: [{ index: 0, delta, finish_reason }], usage });
  const text = chunk({ content: "Some words." });
  const end = data("[DONE]");
  const name = toolOf[kind];
  if (name !== undefined) {
    const call = { name, arguments: JSON.stringify(argsOf[kind] ?? {}) };
    const tool_calls = [{ index: 0, id: "call_1", type: "function", function: call }];
    return [chunk({ tool_calls }), chunk({}, "tool_calls"), end];
  }
  const others: Partial<Record<AnswerPlan["kind"], string[]>> = {
    empty: [chunk({}), chunk({}, "stop"), end],
    tooLong: [chunk({}), chunk({}, "length"), end],
    refused: [text, chunk({}, "content_filter"), end],
    broken: [text, data({ error: { message: "overloaded", code: 503 } })],
    cut: [text],
    hangs: [text],
  };
  return others[kind] ?? [text, chunk({}, "stop"), end];
}

function messagesEvents({ kind, input, output, cached }: AnswerPlan): string[] {
  const typed = (event: Json): string => `event: ${event.type as string}\n${data(event)}`;
  const usage = { input_tokens: input, output_tokens: output, cache_read_input_tokens: cached };
  const message = { id: "m", type: "message", role: "assistant", content: [], usage };
  const start = typed({ type: "message_start", message });
  const block = (content_block: Json, delta: Json): string[] => [
    typed({ type: "content_block_start", index: 0, content_block }),
    typed({ type: "content_block_delta", index: 0, delta }),
    typed({ type: "content_block_stop", index: 0 }),
  ];
  const text = block({ type: "text", text: "" }, { type: "text_delta", text: "Some words." });
  const end = (stop_reason: string): string[] => [
    typed({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: output } }),
    typed({ type: "message_stop" }),
  ];
  const name = toolOf[kind];
  if (name !== undefined) {
    const partial_json = JSON.stringify(argsOf[kind] ?? {});
    const call = { type: "tool_use", id: "call_1", name, input: {} };
    return [start, ...block(call, { type: "input_json_delta", partial_json }), ...end("tool_use")];
  }
  const overloaded = { type: "error", error: { type: "overloaded_error", message: "no" } };
  const others: Partial<Record<AnswerPlan["kind"], string[]>> = {
    empty: [start, ...end("end_turn")],
    tooLong: [start, ...end("max_tokens")],
    refused: [start, ...text, ...end("refusal")],
    broken: [start, typed(overloaded)],
    cut: [start, ...text.slice(0, 2)],
    hangs: [start, ...text.slice(0, 2)],
  };
  return others[kind] ?? [start, ...text, ...end("end_turn")];
}

function data(value: unknown): string {
  return `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
}
