/**
 * Probes tool calls: whether the model makes them, how they are written, and whether results are
 * accepted.
 */
import type { Examination } from "./examination.ts";
import { isRefused, whatWentWrong, type Reply } from "./reply.ts";
import { writingFindings } from "./call-writing.ts";
import { isCallInText } from "./calls.ts";
import type { ToolFinding } from "./finding.ts";
import {
  callsOf,
  inventedCall,
  questions,
  resultsFor,
  toolNames,
  tools,
} from "./tool-questions.ts";

export async function probeTools(server: Examination): Promise<void> {
  const note = (finding: ToolFinding): void => server.note({ ...finding, area: "tools" });
  const { reply: one, forced } = await askForCall(server);
  const first = firstCallFinding(one, server.model);
  note(first);
  if (forced && callsOf(one.message).length > 0) {
    const means = "this model may answer where a tool would have helped";
    note({
      id: "tool-forced",
      mark: "differs",
      says: "it made a call only when required to (tool_choice required)",
      means,
    });
  }
  if (first.blocks !== undefined || server.isOver) return;
  const hasCall = callsOf(one.message).length > 0;
  const several = hasCall ? await probeSeveral(server, note) : undefined;
  if (hasCall) {
    for (const finding of writingFindings(one, several)) note(finding);
    await probeArguments(server, note);
  }
  if (!server.isOver)
    await probeResults(
      server,
      [several, one].find(
        (reply) =>
          reply !== undefined &&
          reply.message.error === undefined &&
          callsOf(reply.message).length > 0,
      ),
      note,
    );
}

/** Asks for one call. Repeats with `tool_choice: required` if the model makes none. */
async function askForCall(
  server: Examination,
): Promise<{ readonly reply: Reply; readonly forced: boolean }> {
  const question = { about: "one tool call", messages: [questions.one], tools };
  const reply = await server.ask(question);
  const isAnswered = reply.message.error !== undefined || callsOf(reply.message).length > 0;
  if (isAnswered || isCallInText(reply.wire, toolNames)) return { reply, forced: false };
  const again = await server.ask({ ...question, toolChoice: "required" });
  return again.message.error === undefined
    ? { reply: again, forced: true }
    : { reply, forced: false };
}

/** Judges the first call. Pure. */
export function firstCallFinding(reply: Reply, model: string): ToolFinding {
  const id = "tool-call";
  const [call] = callsOf(reply.message);
  if (isRefused(reply)) {
    const says = `requests with tools are refused (${whatWentWrong(reply)})`;
    return { id, mark: "missing", says, blocks: "tools" };
  }
  if (reply.message.error !== undefined)
    return { id, mark: "failed", says: `with tools: ${whatWentWrong(reply)}`, blocks: "tools" };
  if (call !== undefined && call.argumentsError === undefined) {
    return { id, mark: "ok", says: `calls a tool: ${call.name} ${JSON.stringify(call.arguments)}` };
  }
  if (call !== undefined) {
    const means = "the model is told of the mistake and may try again";
    return {
      id,
      mark: "differs",
      says: `a call whose arguments are not a JSON object: ${call.argumentsError}`,
      means,
    };
  }
  if (isCallInText(reply.wire, toolNames)) {
    const says = "tool calls are written into the text, where nothing runs them";
    const means = "the server's tool call parser for this model must be enabled";
    return { id, mark: "failed", says, means, blocks: "tools" };
  }
  return {
    id,
    mark: "not seen",
    says: `${model} called no tool when asked to`,
    means: "another model may",
  };
}

async function probeSeveral(
  server: Examination,
  note: (finding: ToolFinding) => void,
): Promise<Reply | undefined> {
  const reply = await server.ask({
    about: "several tool calls",
    messages: [questions.several],
    tools,
  });
  note(severalFinding(reply));
  return reply.message.error === undefined ? reply : undefined;
}

/** Judges an answer to a question that needs several calls. Pure. */
export function severalFinding(reply: Reply): ToolFinding {
  const id = "tool-calls";
  const what = "several calls in one answer";
  const calls = callsOf(reply.message);
  if (reply.message.error !== undefined)
    return { id, mark: "failed", says: `${what}: ${whatWentWrong(reply)}` };
  if (
    calls.some(
      ({ argumentsError, arguments: { city } }) =>
        argumentsError !== undefined || typeof city !== "string",
    )
  ) {
    const means = "tools have to be called one at a time";
    return { id, mark: "failed", says: `${what} cannot be told apart`, means };
  }
  if (calls.length > 1) return { id, mark: "ok", says: `${what}: ${calls.length}` };
  return {
    id,
    mark: "not seen",
    says: what,
    means: "tools may be called one by one, in more turns",
  };
}

async function probeArguments(
  server: Examination,
  note: (finding: ToolFinding) => void,
): Promise<void> {
  const nothing = await server.ask({
    about: "a call without arguments",
    messages: [questions.none],
    tools,
  });
  note(
    argumentsFinding(
      nothing,
      "now",
      "a call without arguments",
      (args) => Object.keys(args).length === 0,
    ),
  );
  const nested = await server.ask({
    about: "a call with nested arguments",
    messages: [questions.nested],
    tools,
  });
  note(argumentsFinding(nested, "book_trip", "a call with nested arguments", isTrip));
}

/** Judges the arguments of a call. Pure. */
function argumentsFinding(
  reply: Reply,
  name: string,
  what: string,
  isRight: (args: Record<string, unknown>) => boolean,
): ToolFinding {
  const id = `tool-${name === "now" ? "no-arguments" : "nested"}`;
  if (reply.message.error !== undefined)
    return { id, mark: "failed", says: `${what}: ${whatWentWrong(reply)}` };
  const call = callsOf(reply.message).find((candidate) => candidate.name === name);
  if (call === undefined) return { id, mark: "not seen", says: what };
  if (call.argumentsError !== undefined)
    return { id, mark: "differs", says: `${what}: ${call.argumentsError}` };
  if (isRight(call.arguments)) return { id, mark: "ok", says: what };
  return { id, mark: "differs", says: `${what}: ${JSON.stringify(call.arguments).slice(0, 120)}` };
}

function isTrip({ trip }: Record<string, unknown>): boolean {
  if (typeof trip !== "object" || trip === null) return false;
  const { travellers } = trip as { travellers?: unknown };
  return (
    Array.isArray(travellers) &&
    travellers.every((who) => typeof who === "object" && who !== null && "age" in who)
  );
}

/** Probes whether tool results are accepted. Invents a call if the model made none. */
async function probeResults(
  server: Examination,
  called: Reply | undefined,
  note: (finding: ToolFinding) => void,
): Promise<void> {
  const id = "tool-results";
  const message = called?.message ?? inventedCall(server.model, 0);
  const ask = (compat = {}): Promise<Reply> =>
    server.ask({
      about: "tool results",
      messages: [questions.one, message, ...resultsFor(message)],
      tools,
      compat,
    });
  let reply = await ask();
  if (isRefused(reply) && /reasoning|thinking/i.test(whatWentWrong(reply))) {
    const why = whatWentWrong(reply);
    const again = await ask({ replayReasoning: true });
    if (again.message.error === undefined) {
      reply = again;
      server.compat.replayReasoning = true;
      note({
        id: "replay-reasoning",
        mark: "differs",
        says: `wants its reasoning back (${why})`,
        means: "the profile sends it",
      });
    }
  }
  if (isRefused(reply)) {
    const says = `tool results are refused (${whatWentWrong(reply)})`;
    return note({ id, mark: "failed", says, blocks: "tools" });
  }
  const { error } = reply.message;
  if (error !== undefined)
    return note({ id, mark: "failed", says: `with tool results: ${whatWentWrong(reply)}` });
  const used = /snow|4/i.test(reply.wire.text);
  const says = used
    ? "tool results are accepted and used"
    : "tool results are accepted; the answer does not show them";
  note({ id, mark: used ? "ok" : "not seen", says });
}
