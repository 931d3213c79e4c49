/** Probes request options: which ones the server accepts, refuses, or accepts and ignores. */
import type { Examination } from "./examination.ts";
import { isRefused, whatWentWrong, type Reply } from "./reply.ts";
import { parse, record } from "./wire.ts";

export async function probeOptions(server: Examination): Promise<void> {
  for (const probe of [
    probeDeveloper,
    probeLimit,
    probeTemperature,
    probeThinking,
    probeImage,
    probeSchema,
  ]) {
    if (server.isOver) return;
    await probe(server);
  }
}

async function probeDeveloper(server: Examination): Promise<void> {
  if (server.compat.systemRole === "developer") return; // already found to be the only accepted role
  const reply = await server.ask({
    about: "the developer role",
    messages: ["Say yes."],
    compat: { systemRole: "developer" },
  });
  const base = { id: "developer-role", area: "options" } as const;
  if (isRefused(reply)) {
    const says = `the developer role is refused (${whatWentWrong(reply)})`;
    server.note({
      ...base,
      mark: "missing",
      says,
      means: "Bowline uses system, which is accepted",
    });
  } else
    noteUnlessFailed(server, base, reply, "the system and the developer role are both accepted");
}

async function probeLimit(server: Examination): Promise<void> {
  const ask = (maxTokensField: "max_tokens" | "max_completion_tokens"): Promise<Reply> =>
    server.ask({
      about: maxTokensField,
      messages: ["Write the numbers from 1 to 100, separated by spaces."],
      maxTokens: 16,
      compat: { maxTokensField },
    });
  const base = { id: "max-tokens", area: "options" } as const;
  let field: "max_tokens" | "max_completion_tokens" = "max_tokens";
  let reply = await ask(field);
  if (isRefused(reply)) {
    const why = whatWentWrong(reply);
    field = "max_completion_tokens";
    reply = await ask(field);
    if (isRefused(reply)) {
      const means = "the length of answers cannot be limited";
      const says = `neither max_tokens nor max_completion_tokens is accepted (${why})`;
      return server.note({ ...base, mark: "missing", says, means });
    }
    server.compat.maxTokensField = field;
    const means = "the profile uses max_completion_tokens";
    server.note({ ...base, mark: "differs", says: `max_tokens is refused (${why})`, means });
  }
  const cut = limitOf(reply);
  const obeyed = { id: "max-tokens-obeyed", area: "options" } as const;
  if (cut === "obeyed") server.note({ ...obeyed, mark: "ok", says: `${field} cuts the answer` });
  else if (cut === "unsaid") {
    const means = "a cut answer looks complete";
    const says = `${field} cuts the answer, which then ends as if it were complete`;
    server.note({ ...obeyed, mark: "differs", says, means });
  } else if (cut === "ignored")
    server.note({ ...obeyed, mark: "differs", says: `${field} is accepted and ignored` });
  else
    noteUnlessFailed(
      server,
      obeyed,
      reply,
      `${field} is accepted; the answer was short anyway`,
      "not seen",
    );
}

/** Judges the effect of a limit of 16 tokens on the numbers from 1 to 100. Pure. */
export function limitOf({
  message,
  wire,
}: Pick<Reply, "message" | "wire">): "obeyed" | "unsaid" | "ignored" | "unknown" {
  if (message.stopReason === "length") return "obeyed";
  if (message.stopReason !== "stop") return "unknown";
  if (/\b100\b/.test(wire.text) && wire.text.length > 160) return "ignored";
  const isCounting = /\b1\D+2\D+3\b/.test(wire.text);
  return isCounting && !/\b50\b/.test(wire.text) && !/…|\.\.\./.test(wire.text)
    ? "unsaid"
    : "unknown";
}

async function probeTemperature(server: Examination): Promise<void> {
  const reply = await server.ask({ about: "temperature", messages: ["Say yes."], temperature: 0 });
  const base = { id: "temperature", area: "options" } as const;
  if (isRefused(reply)) {
    server.compat.noTemperature = true;
    const says = `temperature is refused (${whatWentWrong(reply)})`;
    server.note({ ...base, mark: "missing", says, means: "the profile omits it" });
  } else noteUnlessFailed(server, base, reply, "temperature is accepted");
}

async function probeThinking(server: Examination): Promise<void> {
  const reply = await server.ask({
    about: "reasoning_effort",
    messages: ["Say yes."],
    reasoning: "low",
  });
  const base = { id: "thinking", area: "options" } as const;
  if (isRefused(reply)) {
    server.compat.thinkingFormat = "none";
    const says = `reasoning_effort is refused (${whatWentWrong(reply)})`;
    const means = "the profile omits it; for a thinking model set compat.thinkingFormat";
    return server.note({ ...base, mark: "missing", says, means });
  }
  const { reasoning } = reply.wire;
  const seen =
    reasoning.length === 0
      ? "no reasoning was shown"
      : `reasoning comes in ${reasoning.join(" and ")}`;
  noteUnlessFailed(
    server,
    base,
    reply,
    `reasoning_effort is accepted; ${seen}`,
    reasoning.length === 0 ? "not seen" : "ok",
  );
}

/** A red square of 32 by 32 pixels. */
const redSquare =
  "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAJ0lEQVR42u3NsQkAAAjAsP7/tF7hIASyp6lTCQQCgUAgEAgEgi/BAjLD/C5w/SM9AAAAAElFTkSuQmCC";

async function probeImage(server: Examination): Promise<void> {
  const reply = await server.ask({
    about: "an image",
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "Which colour is this picture? Answer with one word." },
          { type: "image", data: redSquare, mimeType: "image/png" },
        ],
        timestamp: 0,
      },
    ],
  });
  const base = { id: "images", area: "options" } as const;
  if (isRefused(reply)) {
    const says = `images are refused (${whatWentWrong(reply)})`;
    server.note({ ...base, mark: "missing", says, means: "text only, with this model" });
  } else if (/\bred\b/i.test(reply.wire.text))
    server.note({ ...base, mark: "ok", says: "images are accepted and seen" });
  else
    noteUnlessFailed(
      server,
      base,
      reply,
      "images are accepted; the model did not name the colour",
      "not seen",
    );
}

async function probeSchema(server: Examination): Promise<void> {
  const schema = {
    type: "object",
    properties: { city: { type: "string" }, degrees: { type: "number" } },
    required: ["city", "degrees"],
    additionalProperties: false,
  };
  const reply = await server.ask({
    about: "a JSON schema",
    messages: ["It is 4 degrees in Oslo. Say that as JSON with city and degrees."],
    extraBody: {
      response_format: {
        type: "json_schema",
        json_schema: { name: "weather", strict: true, schema },
      },
    },
  });
  const base = { id: "json-schema", area: "options" } as const;
  if (isRefused(reply)) {
    server.note({
      ...base,
      mark: "missing",
      says: `a JSON schema for answers is refused (${whatWentWrong(reply)})`,
    });
    return;
  }
  const { city, degrees } = record(parse(reply.wire.text.trim()));
  if (typeof city === "string" && typeof degrees === "number")
    server.note({ ...base, mark: "ok", says: "answers follow a JSON schema" });
  else
    noteUnlessFailed(
      server,
      base,
      reply,
      "a JSON schema is accepted, but the answer does not follow it",
      "differs",
    );
}

function noteUnlessFailed(
  server: Examination,
  base: { readonly id: string; readonly area: "options" },
  reply: Reply,
  says: string,
  mark: "ok" | "differs" | "not seen" = "ok",
): void {
  // A cut or empty answer still means that the option was accepted.
  const isOdd = reply.message.error !== undefined && reply.message.error.code !== "empty_response";
  server.note(
    isOdd
      ? { ...base, mark: "failed", says: `${base.id}: ${whatWentWrong(reply)}` }
      : { ...base, mark, says },
  );
}
