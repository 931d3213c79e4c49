/** Probes how the server refuses requests, and what it says about the size of its context. */
import type { Examination } from "./examination.ts";
import { isRefused, whatWentWrong, type Reply } from "./reply.ts";

export async function probeErrors(server: Examination): Promise<void> {
  for (const probe of [probeUnknownModel, probeBadBody, probeWrongKey, probeContext]) {
    if (server.isOver) return;
    await probe(server);
  }
}

async function probeUnknownModel(server: Examination): Promise<void> {
  const model = "bowline-doctor-no-such-model";
  const reply = await server.ask({ about: "an unknown model", messages: ["Say yes."], model });
  const base = { id: "unknown-model", area: "errors" } as const;
  if (reply.message.error === undefined) {
    const means = "a misspelt model name goes unnoticed";
    server.note({ ...base, mark: "differs", says: "any model name is answered", means });
  } else server.note({ ...base, ...refusal("an unknown model", reply) });
}

async function probeBadBody(server: Examination): Promise<void> {
  const reply = await server.ask({
    about: "a bad request",
    messages: ["Say yes."],
    extraBody: { messages: "none" },
  });
  const base = { id: "bad-request", area: "errors" } as const;
  if (reply.message.error === undefined)
    server.note({ ...base, mark: "differs", says: "a request without messages is answered" });
  else server.note({ ...base, ...refusal("a bad request", reply) });
}

async function probeWrongKey(server: Examination): Promise<void> {
  if (server.options.apiKey === undefined) return;
  const apiKey = "bowline-doctor-wrong-key";
  const reply = await server.ask({ about: "a wrong key", messages: ["Say yes."], apiKey });
  const base = { id: "wrong-key", area: "errors" } as const;
  const { error } = reply.message;
  if (error === undefined)
    server.note({
      ...base,
      mark: "differs",
      says: "any key is accepted",
      means: "no key is needed",
    });
  else if (error.code === "authentication_failed" || error.code === "permission_denied")
    server.note({ ...base, mark: "ok", says: `a wrong key is refused (HTTP ${error.status})` });
  else server.note({ ...base, ...refusal("a wrong key", reply) });
}

/** Judges how useful a refusal is to its reader. Pure. */
export function refusal(
  what: string,
  reply: Reply,
): { mark: "ok" | "differs" | "failed"; says: string; means?: string } {
  const status = reply.exchange?.status ?? 0;
  const why = whatWentWrong(reply);
  if (status === 0 || reply.message.error?.code === "timeout")
    return { mark: "failed", says: `${what}: ${why}` };
  if (status < 400)
    return {
      mark: "differs",
      says: `${what} is refused with HTTP ${status}: ${why}`,
      means: "Bowline sees the error in the body",
    };
  if (status >= 500)
    return {
      mark: "differs",
      says: `${what} is refused with HTTP ${status}: ${why}`,
      means: "it looks like a temporary failure, so Bowline retries",
    };
  const isMute = !reply.exchange?.body().trim();
  if (isMute)
    return {
      mark: "differs",
      says: `${what} is refused with HTTP ${status} and no message`,
      means: "errors will not give a reason",
    };
  return { mark: "ok", says: `${what} is refused: ${why}` };
}

/**
 * Requests an answer longer than any context window: the refusal often names the window's size.
 * Costs a few tokens if it is accepted.
 */
async function probeContext(server: Examination): Promise<void> {
  if (server.findings.some(({ id }) => id === "context")) return;
  const reply = await server.ask({
    about: "the context window",
    messages: ["Say yes."],
    maxTokens: 100_000_000,
  });
  const base = { id: "context", area: "errors" } as const;
  const size = isRefused(reply) ? windowIn(whatWentWrong(reply)) : undefined;
  if (size === undefined)
    server.note({
      ...base,
      mark: "not seen",
      says: "the size of the context: neither the model list nor an error states it",
    });
  else
    server.note({
      ...base,
      mark: "ok",
      says: `a request that is too long is refused, naming ${size} tokens`,
    });
}

/**
 * Returns the context size that an error names: its largest number that is not from our request.
 * Pure.
 */
export function windowIn(text: string): number | undefined {
  if (!/context|token|length/i.test(text)) return undefined;
  const numbers = [...text.matchAll(/\d[\d,_]*\d/g)].map(([digits]) =>
    Number(digits.replace(/[,_]/g, "")),
  );
  const sizes = numbers.filter((size) => size >= 512 && size < 90_000_000);
  return sizes.length === 0 ? undefined : Math.max(...sizes);
}
