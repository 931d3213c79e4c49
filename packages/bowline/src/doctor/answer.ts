/**
 * Probes a plain answer: which settings it needs, how it streams, how it ends, and its token
 * counts.
 */
import type { Compat } from "@bowline/core";
import { noteKeyHeader } from "./connection.ts";
import type { Examination } from "./examination.ts";
import { isRefused, whatWentWrong, type Reply } from "./reply.ts";
import type { Finding } from "./finding.ts";
import { noteStreaming } from "./streaming.ts";

const question = "Write the numbers from 1 to 20, separated by spaces, and nothing else.";

/** Asks a plain question and leaves out options that the server refuses, until it answers. */
export async function probeAnswer(server: Examination): Promise<void> {
  const asked = (compat: Compat): Promise<Reply> =>
    server.ask({ about: "a plain answer", messages: [question], compat });
  const first = await asked({});
  let reply = first;
  for (const compat of remedies(first, server)) {
    reply = await asked(compat);
    if (reply.message.error !== undefined) continue;
    noteRefused(server, compat, whatWentWrong(first));
    Object.assign(server.compat, compat);
    break;
  }
  if (reply.message.error !== undefined) reply = first;
  if (reply.message.error !== undefined) return noteFailure(server, reply);
  noteStreaming(server, reply);
  noteText(server, reply);
  noteFinish(server, reply);
  noteUsage(server, reply);
}

/** Returns settings that may make a refused request acceptable. */
function remedies(reply: Reply, { options, compat }: Examination): Compat[] {
  const { code } = reply.message.error ?? {};
  const isKey = code === "authentication_failed" || code === "permission_denied";
  if (isKey && options.apiKey !== undefined && compat.keyHeader === undefined)
    return [{ keyHeader: "api-key" }];
  if (!isRefused(reply) || code === "not_found" || code === "unexpected_response") return [];
  return relaxations(whatWentWrong(reply));
}

/** Returns settings to try; first those that the refusal names. */
export function relaxations(refusal: string): Compat[] {
  const noUsage: Compat = { streamUsage: false };
  const developer: Compat = { systemRole: "developer" };
  const both: Compat = { ...noUsage, ...developer };
  const namesRole =
    /\brole\b|\bsystem\b/i.test(refusal) && !/stream_options|include_usage/i.test(refusal);
  return namesRole ? [developer, noUsage, both] : [noUsage, developer, both];
}

function noteRefused(
  server: Examination,
  { streamUsage, systemRole, keyHeader }: Compat,
  why: string,
): void {
  if (keyHeader !== undefined) noteKeyHeader(server, keyHeader);
  if (streamUsage === false) {
    const says = `stream_options is refused (${why})`;
    server.note({
      id: "stream-options",
      area: "options",
      mark: "missing",
      says,
      means: "the profile omits it",
    });
  }
  if (systemRole === "developer") {
    const says = `the system role is refused (${why})`;
    server.note({
      id: "system-role",
      area: "options",
      mark: "missing",
      says,
      means: "the profile uses developer",
    });
  }
}

function noteFailure(server: Examination, reply: Reply): void {
  const { code } = reply.message.error ?? {};
  const why = whatWentWrong(reply);
  const means =
    code === "timeout"
      ? "a slow or loading model may answer later; --timeout allows more time"
      : code === "authentication_failed" && server.options.apiKey === undefined
        ? "name the key's variable with --api-key-env"
        : undefined;
  const finding: Finding = {
    id: "answer",
    area: "answer",
    mark: "failed",
    says: why,
    blocks: "use",
  };
  server.note({ ...finding, ...(means !== undefined && { means }) });
}

function noteText(server: Examination, { message, wire }: Reply): void {
  const text = message.content
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("");
  const flat = text.replace(/\s+/g, " ").trim();
  const answers =
    flat === ""
      ? "an answer without text"
      : `answers: ${flat.slice(0, 60)}${flat.length > 60 ? "…" : ""}`;
  server.note({
    id: "answer",
    area: "answer",
    mark: flat === "" ? "differs" : "ok",
    says: answers,
  });
  if (wire.reasoning.length > 0) {
    const means = "Bowline reads it as thinking";
    const says = `reasoning comes in ${wire.reasoning.join(" and ")}`;
    server.note({ id: "reasoning", area: "answer", mark: "ok", says, means });
  } else if (/^\s*<think(?:ing)?>|<\/think(?:ing)?>/.test(text)) {
    const means =
      "it is shown as part of the answer; a reasoning parser in the server would separate it";
    server.note({
      id: "reasoning",
      area: "answer",
      mark: "differs",
      says: "reasoning is written into the text",
      means,
    });
  }
}

function noteFinish(server: Examination, { wire }: Reply): void {
  const { finishReasons: reasons, finishOnEvery } = wire;
  const id = "finish-reason";
  if (finishOnEvery) {
    const means = "Bowline reads to the end; a client that stops at the first one loses the rest";
    const says = `every piece carries a finish reason (${reasons.join(", ")})`;
    return server.note({ id, area: "answer", mark: "differs", says, means });
  }
  if (reasons.length === 0) {
    const means = "only [DONE] marks the end";
    return server.note({ id, area: "answer", mark: "differs", says: "no finish reason", means });
  }
  const isKnown = reasons.length === 1 && (reasons[0] === "stop" || reasons[0] === "length");
  const says = `ends with the finish reason ${reasons.join(", then ")}`;
  server.note({
    id,
    area: "answer",
    mark: isKnown ? "ok" : "differs",
    says,
    ...(!isKnown && { means: "Bowline treats it as a stop" }),
  });
}

const places = {
  "own chunk": "in a separate chunk",
  "last chunk": "in the last chunk",
  "every chunk": "in every chunk",
  choice: "inside the choice",
  x_groq: "in x_groq",
} as const;

function noteUsage(server: Examination, { message, wire }: Reply): void {
  const { input, output } = message.usage;
  const asked =
    server.compat.streamUsage === false
      ? "without stream_options"
      : "as requested with stream_options";
  if (wire.usage !== "nowhere" && (input !== undefined || output !== undefined)) {
    const says = `token counts ${places[wire.usage]}, ${asked} (${input ?? "?"} in, ${output ?? "?"} out)`;
    return server.note({ id: "usage", area: "answer", mark: "ok", says });
  }
  const means = "--max-tokens and --max-cost cannot stop a run; turns and time can";
  server.note({ id: "usage", area: "answer", mark: "missing", says: "no token counts", means });
}
