/** Probes whether the server answers, and which models it lists. */
import type { Examination, ListReply } from "./examination.ts";
import { firstToAsk, listedModels, type ListedModel } from "./model-list.ts";
import { parse, record, type Json } from "./wire.ts";

export async function probeConnection(server: Examination): Promise<void> {
  const reply = await listOrOtherKeyHeader(server);
  const { baseUrl } = server.options;
  if (reply.status === undefined && reply.error !== server.slow) {
    const says = `nothing answers at ${baseUrl} (${reply.error ?? "no answer"})`;
    server.note({ id: "reachable", area: "connection", mark: "failed", says, blocks: "use" });
    return;
  }
  if (isClosed(reply)) {
    const means =
      server.options.apiKey === undefined
        ? "name its variable with --api-key-env"
        : "it refuses this one";
    const says = `the server wants a key (HTTP ${reply.status} for the model list)`;
    server.note({ id: "key", area: "connection", mark: "failed", says, means, blocks: "use" });
    return;
  }
  const models = modelsIn(reply);
  const first = firstToAsk(models);
  if (first === undefined) return noList(server, reply);
  const isListed = models.some(({ id }) => id === server.model);
  const chosen =
    server.model === ""
      ? `the first is used: ${first}`
      : `${server.model} is ${isListed ? "" : "not "}one of them`;
  server.model ||= first;
  const count = `${models.length} model${models.length === 1 ? "" : "s"}`;
  server.note({
    id: "models",
    area: "connection",
    mark: isListed || server.options.model === undefined ? "ok" : "differs",
    says: `the model list has ${count}; ${chosen}`,
  });
  noteWindow(server, models.find(({ id }) => id === server.model) ?? {});
}

function isClosed({ status }: ListReply): boolean {
  return status === 401 || status === 403;
}

export function noteKeyHeader(server: Examination, header: string): void {
  const says = `the key is accepted in the header ${header}, not as Authorization: Bearer`;
  server.note({
    id: "key-header",
    area: "connection",
    mark: "differs",
    says,
    means: "the profile sets it",
  });
}

/** Lists the models. Tries Azure's key header if the usual one is refused. */
async function listOrOtherKeyHeader(server: Examination): Promise<ListReply> {
  const reply = await server.list("the model list");
  if (!isClosed(reply) || server.options.apiKey === undefined) return reply;
  server.compat.keyHeader = "api-key";
  const other = await server.list("the model list, with an api-key header");
  if (!isClosed(other) && other.status !== undefined) {
    noteKeyHeader(server, server.compat.keyHeader);
    return other;
  }
  delete server.compat.keyHeader;
  return reply;
}

/** Returns the listed models; none if the answer is not a list. */
function modelsIn({ status = 0, body }: ListReply): ListedModel[] {
  return (status >= 200 && status <= 299 ? listedModels(parse(body)) : undefined) ?? [];
}

async function noList(server: Examination, reply: ListReply): Promise<void> {
  const { baseUrl } = server.options;
  const why =
    reply.error ?? (reply.status === 200 ? describeBody(reply.body) : `HTTP ${reply.status}`);
  const elsewhere = /\/v1\/*(?=\?|$)/.test(baseUrl)
    ? undefined
    : baseUrl.replace(/\/*(?=\?|$)/, "/v1");
  if (elsewhere !== undefined) {
    if (modelsIn(await server.list("the model list at /v1", elsewhere)).length > 0) {
      const says = `the server is at ${elsewhere}, not at ${baseUrl} (${why})`;
      server.note({ id: "base-url", area: "connection", mark: "failed", says, blocks: "use" });
      return;
    }
  }
  if (server.model !== "") {
    const means = "name the model with --model";
    server.note({
      id: "models",
      area: "connection",
      mark: "missing",
      says: `no model list (${why})`,
      means,
    });
    return;
  }
  const says = `the server lists no model (${why}): name one with --model`;
  server.note({ id: "models", area: "connection", mark: "failed", says, blocks: "use" });
}

function describeBody(body: string): string {
  if (body.trimStart().startsWith("<")) return "an HTML page";
  return listedModels(parse(body)) === undefined ? "the answer is not a list" : "the list is empty";
}

/** Names of the context window in model lists. */
const windowFields = [
  "context_length",
  "context_window",
  "max_model_len",
  "max_context_length",
  "max_input_tokens",
  "n_ctx",
  "n_ctx_train",
];

function noteWindow(server: Examination, entry: Json): void {
  const places = [entry, record(entry.meta), record(entry.model_info)];
  for (const field of windowFields) {
    const size = places.map((place) => Number(place[field])).find((value) => value > 0);
    if (size === undefined) continue;
    const says = `the context has ${size} tokens, according to ${field} in the model list`;
    server.note({ id: "context", area: "connection", mark: "ok", says });
    return;
  }
}
