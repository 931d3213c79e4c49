/**
 * A task for tests of recorded runs: three turns, a batch of three tools, an approval, a
 * compaction, and crashes.
 */
import assert from "node:assert/strict";
import {
  Agent,
  createCompaction,
  defineTool,
  requireApproval,
  type AgentEvent,
  type AgentTool,
} from "../../src/agent/index.ts";
import {
  createSession,
  openSession,
  type AnyEntry,
  type Entry,
  type Session,
  type Store,
} from "../../src/session/index.ts";
import type { Context, Message } from "../../src/llm/message.ts";
import {
  createScriptedModel,
  scriptedToolCall,
  type ScriptedAnswer,
} from "../../src/testing/index.ts";
import { asksForSummary, sumOf } from "../agent/context/rig.ts";
import { collect } from "./support.ts";

/** One process: an agent, and what it did. */
export interface Life {
  readonly agent: Agent;
  /** The model's requests, without those for summaries. */
  readonly requests: Message[][];
  /** The keys of the executed calls. */
  readonly ran: string[];
  readonly events: AgentEvent[];
}

export const PROMPT = "Go";
const LONG = "word ".repeat(500);

/** The answer depends only on the request, so that any process can send it. */
function answer(context: Context): ScriptedAnswer {
  const usage = { input: sumOf(context.messages), output: 10 };
  const last = context.messages.at(-1);
  if (asksForSummary(context))
    return { content: [{ type: "text", text: "Goal: go. Done: a, b, c." }], usage };
  const calls = (...names: string[]): ScriptedAnswer => ({
    content: names.map((name) => scriptedToolCall(name, { of: name }, `call_${name}`)),
    usage,
  });
  if (last?.role !== "toolResult") return calls("a", "b", "c");
  return last.toolName === "d" ? { content: [{ type: "text", text: "Done." }], usage } : calls("d");
}

/** `decide` is the person who answers the approval request for `c` after a while. */
export function newLife(decide: () => "allow" | "deny" = () => "allow"): Life {
  const script = createScriptedModel(
    Array.from({ length: 20 }, () => answer),
    { deltaLength: 1000 },
  );
  const ran: string[] = [];
  const noted = (name: string, text: string, replay: "never" | "safe" = "never"): AgentTool => ({
    ...defineTool({
      name,
      description: `The tool ${name}.`,
      parameters: { type: "object", properties: { of: { type: "string" } }, required: ["of"] },
      execute: (_args, { idempotencyKey }) => {
        ran.push(idempotencyKey);
        return text;
      },
    }),
    replay,
  });
  const compaction = createCompaction({ keepRecentTokens: 700, maxSummaryTokens: 64 });
  const agent = new Agent({
    initialState: {
      model: { ...script.model, contextWindow: 1600 },
      tools: [
        noted("a", `A ${LONG}`),
        noted("b", "B", "safe"),
        noted("c", "C"),
        noted("d", `D ${LONG}`),
      ],
    },
    beforeToolCall: requireApproval({ needed: ({ toolCall }) => toolCall.name === "c" }),
    transformContext: compaction.transformContext,
    streamFn: compaction.wrap(script.streamFn),
  });
  const events: AgentEvent[] = [];
  agent.subscribe((event) => {
    events.push(event);
    if (event.type === "approval_request") {
      setImmediate(() => agent.answer(event.approvalId, { decision: decide(), by: "person" }));
    }
  });
  return {
    agent,
    get requests() {
      return script.calls
        .map(({ context }) => context)
        .flatMap((one) => (asksForSummary(one) ? [] : [one.messages]));
    },
    ran,
    events,
  };
}

/** A session that ends with these entries, as after a crash. */
export async function sessionOf(
  store: Store,
  id: string,
  entries: readonly AnyEntry[],
): Promise<void> {
  const writer = await store.create({ id, createdAt: 1 }, entries);
  await writer.close();
}

export async function entriesIn(store: Store, id: string): Promise<Entry[]> {
  const session = await openSession(store, id, { readOnly: true });
  const entries = await collect(session.entries());
  assert.deepEqual(session.damage, []);
  return entries as Entry[];
}

export const newSession = (store: Store, id = "s"): Promise<Session> =>
  createSession(store, { id });
