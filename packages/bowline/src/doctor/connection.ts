/** Whether anything answers, and which models it lists. */
import type { Examination, ListReply } from "./examination.ts";
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
      server.options.apiKey === undefined ? "name the variable with it by --api-key-env" : "it refuses this one";
    const says = `the server wants a key (HTTP ${reply.status} for the model list)`;
    server.note({ id: "key", area: "connection", mark: "failed", says, means, blocks: "use" });
    return;
  }
  const models = listedModels(reply);
  if (models === undefined || models.length === 0) return noList(server, reply);
  const ids = models.map(({ id }) => String(id));
  const isListed = ids.includes(server.model);
  const first = ids.find((id) => !noChat.test(id)) ?? ids[0] ?? "";
  const chosen =
    server.model === "" ? `the first is taken: ${first}` : `${server.model} is ${isListed ? "" : "not "}one of them`;
  server.model ||= first;
  const count = `${ids.length} model${ids.length === 1 ? "" : "s"}`;
  server.note({
    id: "models",
    area: "connection",
    mark: isListed || server.options.model === undefined ? "ok" : "differs",
    says: `the model list has ${count}; ${chosen}`,
  });
  noteWindow(server, models.find(({ id }) => id === server.model) ?? {});
}

/** Models that do not chat stand in the same lists. */
const noChat = /embed|rerank|whisper|moderation|\btts\b/i;

function isClosed({ status }: ListReply): boolean {
  return status === 401 || status === 403;
}

export function noteKeyHeader(server: Examination, header: string): void {
  const says = `the key is taken in the header ${header}, not as Authorization: Bearer`;
  server.note({ id: "key-header", area: "connection", mark: "differs", says, means: "the profile says so" });
}

/** Azure's way is tried where the usual way of giving a key is refused. */
async function listOrOtherKeyHeader(server: Examination): Promise<ListReply> {
  const reply = await server.get("models", "the model list");
  if (!isClosed(reply) || server.options.apiKey === undefined) return reply;
  server.compat.keyHeader = "api-key";
  const other = await server.get("models", "the model list, with an api-key header");
  if (!isClosed(other) && other.status !== undefined) {
    noteKeyHeader(server, server.compat.keyHeader);
    return other;
  }
  delete server.compat.keyHeader;
  return reply;
}

/** The entries of a model list, or undefined when the answer is none. */
function listedModels({ status = 0, body }: ListReply): Json[] | undefined {
  if (status < 200 || status > 299) return undefined;
  const value = parse(body);
  const list = Array.isArray(value) ? value : (record(value).data ?? record(value).models);
  if (!Array.isArray(list)) return undefined;
  return list
    .map(record)
    .map((entry) => ({ ...entry, id: entry.id ?? entry.name }))
    .filter(({ id }) => typeof id === "string" && id !== "");
}

async function noList(server: Examination, reply: ListReply): Promise<void> {
  const { baseUrl } = server.options;
  const why = reply.error ?? (reply.status === 200 ? describeBody(reply.body) : `HTTP ${reply.status}`);
  const elsewhere = baseUrl.replace(/\/+$/, "").endsWith("/v1") ? undefined : `${baseUrl.replace(/\/+$/, "")}/v1`;
  if (elsewhere !== undefined) {
    const other = listedModels(await server.get("models", "the model list at /v1", elsewhere));
    if (other !== undefined && other.length > 0) {
      const says = `the server is at ${elsewhere}, not at ${baseUrl} (${why})`;
      server.note({ id: "base-url", area: "connection", mark: "failed", says, blocks: "use" });
      return;
    }
  }
  if (server.model !== "") {
    const means = "the model has to be named with --model";
    server.note({ id: "models", area: "connection", mark: "missing", says: `no model list (${why})`, means });
    return;
  }
  const says = `the server lists no model (${why}): name one with --model`;
  server.note({ id: "models", area: "connection", mark: "failed", says, blocks: "use" });
}

function describeBody(body: string): string {
  if (body.trimStart().startsWith("<")) return "an HTML page";
  return listedModels({ status: 200, body })?.length === 0 ? "the list is empty" : "the answer is no list";
}

/** What servers call the context window in their lists. */
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
    const says = `the context has ${size} tokens, says ${field} of the model list`;
    server.note({ id: "context", area: "connection", mark: "ok", says });
    return;
  }
}
