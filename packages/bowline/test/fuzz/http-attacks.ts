/** Misbehaving HTTP clients. Each function returns the faults in the server's reaction. */
import { setTimeout as sleep } from "node:timers/promises";
import { issuesOf } from "../../src/gateway/protocol/check.ts";
import { errorNumbers, type FrameError } from "../../src/gateway/protocol/frame.ts";
import type { EventName } from "../../src/gateway/protocol/protocol.ts";
import { events } from "../../src/gateway/protocol/schema.ts";
import { encodeRequest, type AnyRequest, type TokensOfTest } from "../gateway/bad-requests.ts";
import { RawHttp, type Answer } from "./raw-http.ts";

export interface HttpTarget {
  readonly port: number;
  readonly tokens: TokensOfTest;
  /** Called with every status. */
  readonly note?: (status: number) => void;
}

const PATIENCE_MS = 60_000;
const MAX_REFUSAL = 20_000;
const numbers: Readonly<Record<number, readonly number[]>> = {
  400: [errorNumbers.parse, errorNumbers.bad_request, errorNumbers.bad_params],
  401: [errorNumbers.unauthorized],
  403: [errorNumbers.forbidden],
  404: [errorNumbers.not_found],
  409: [errorNumbers.conflict],
  429: [errorNumbers.busy],
};

/** Sends requests one after the other, on as few connections as the server allows. */
export async function oneByOne(
  target: HttpTarget,
  requests: readonly AnyRequest[],
): Promise<string[]> {
  const faults: string[] = [];
  let raw: RawHttp | undefined;
  for (const request of requests) {
    raw = await answered(
      raw?.isOver === false ? raw : await RawHttp.open(target.port),
      target,
      request,
    );
    faults.push(...faultsOf(request, raw.answers.at(-1), target));
    if (raw.answers.at(-1)?.headers.get("connection") === "close") raw = undefined;
  }
  raw?.socket.destroy();
  return faults;
}

/** Sends on this connection, or on a new one if the server closed this one meanwhile, as it may. */
async function answered(
  raw: RawHttp,
  { port }: Pick<HttpTarget, "port">,
  request: AnyRequest,
): Promise<RawHttp> {
  const before = raw.answers.length;
  raw.ask(request.method, encodeRequest(request));
  await Promise.race([raw.until(before + 1), patience()]);
  if (before === 0 || raw.answers.length > before || !raw.isOver) return raw;
  return answered(await RawHttp.open(port), { port }, request);
}

/** Pipelines all requests. They must be answered in order, up to one that ends the connection. */
export async function pipelined(
  target: HttpTarget,
  requests: readonly AnyRequest[],
): Promise<string[]> {
  const raw = await RawHttp.open(target.port);
  for (const request of requests) raw.ask(request.method, encodeRequest(request));
  await Promise.race([raw.until(requests.length), patience()]);
  const isEnded = raw.isOver;
  raw.socket.destroy();
  const faults = raw.answers.flatMap((answer, index) => {
    const request = requests[index];
    return request === undefined
      ? [`${answer.status} for nothing`]
      : faultsOf(request, answer, target);
  });
  if (raw.answers.length < requests.length && !isEnded)
    faults.push(
      `${raw.answers.length} of ${requests.length} requests were answered in ${PATIENCE_MS} ms`,
    );
  return faults;
}

/** Half-closes after the request. The answer must be complete, and the connection must end. */
export async function halfClosed(target: HttpTarget, request: AnyRequest): Promise<string[]> {
  const raw = await RawHttp.open(target.port);
  raw.ask(request.method, encodeRequest(request));
  raw.socket.end();
  const ended = await Promise.race([raw.ended.then(() => true), patience()]);
  raw.socket.destroy();
  const faults = faultsOf(request, raw.answers[0], target);
  return ended === undefined ? [...faults, "a connection that was half closed stays"] : faults;
}

/** Sends a byte at a time. With `isCut` the last byte is missing and the client disconnects. */
export async function inDrops(
  target: HttpTarget,
  request: AnyRequest,
  isCut: boolean,
): Promise<string[]> {
  const raw = await RawHttp.open(target.port);
  const bytes = encodeRequest(request).subarray(0, isCut ? -1 : undefined);
  raw.socket.setNoDelay(true);
  raw.ask(request.method, bytes.subarray(0, 1));
  for (let at = 1; at < bytes.length && !raw.socket.destroyed; at += at < 600 ? 1 : 4096) {
    raw.write(bytes.subarray(at, at < 600 ? at + 1 : at + 4096));
    if (at % 40 === 0) await sleep(1);
  }
  if (isCut) {
    raw.socket.resetAndDestroy();
    await raw.ended;
    return [];
  }
  await Promise.race([raw.until(1), patience()]);
  raw.socket.destroy();
  return faultsOf(request, raw.answers[0], target);
}

/** Sends requests, reads nothing, and disconnects. */
export async function vanish(
  target: HttpTarget,
  requests: readonly AnyRequest[],
  isReset: boolean,
): Promise<string[]> {
  const raw = await RawHttp.open(target.port);
  raw.socket.pause();
  for (const request of requests) raw.ask(request.method, encodeRequest(request));
  await sleep(requests.length % 3);
  if (isReset) raw.socket.resetAndDestroy();
  else raw.socket.destroy();
  await raw.ended;
  return [];
}

/**
 * Pipelines many requests and reads late. All must be answered, or the connection must have ended.
 */
export async function flood({ port, note }: HttpTarget, times: number): Promise<string[]> {
  const raw = await RawHttp.open(port);
  raw.socket.pause();
  const request = Buffer.from("GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n");
  for (let count = 0; count < times; count++) raw.ask("GET", request);
  await sleep(300);
  raw.socket.resume();
  await Promise.race([raw.until(times), patience()]);
  const { isOver, answers } = raw;
  raw.socket.destroy();
  note?.(answers.at(-1)?.status ?? 0);
  return isOver || answers.length === times
    ? []
    : [`${answers.length} of ${times} requests were answered`];
}

/** Returns the faults of an answer. */
export function faultsOf(
  request: AnyRequest,
  answer: Answer | undefined,
  { tokens, note }: HttpTarget,
): string[] {
  const { method, target, statuses } = request;
  const about = `${method} ${target.slice(0, 200)} ${JSON.stringify(request.headers).slice(0, 300)} ${request.body.slice(0, 200)}`;
  if (answer === undefined) return [`no answer: ${about}`];
  const { status, headers, body, isWhole } = answer;
  note?.(status);
  const faults: string[] = [];
  const add = (what: string): void =>
    void faults.push(`${what}: ${status} ${body.slice(0, 300)}; asked: ${about}`);
  if (!statuses.includes(status)) add(`not ${statuses.join(" or ")}`);
  if (!isWhole) add("cut");
  const all = `${[...headers].join("\n")}\n${body}`;
  if (all.includes(tokens.full) || all.includes(tokens.read)) add("a token");
  if (/\n\s+at \S+|node:internal|\.ts:\d+/.test(all)) add("a stack");
  if (method === "HEAD" ? body !== "" : !isTyped(request, answer)) add("not typed");
  if (status >= 400 && body.length > MAX_REFUSAL) add("a long refusal");
  return faults;
}

function isTyped(request: AnyRequest, { status, headers, body }: Answer): boolean {
  const type = headers.get("content-type") ?? "";
  if (status === 204) return type === "" && body === "";
  const isPage = !request.target.startsWith("/api") && status !== 400 && status !== 403;
  if (status === 200 && request.target.startsWith("/api/runs/"))
    return type === "text/event-stream" && isStream(body, request.after);
  if (isPage && !request.target.startsWith("/health")) return type !== "";
  if (!type.startsWith("application/json")) return isPage && status === 404;
  const { error, ...rest } = JSON.parse(body) as {
    readonly error?: FrameError;
    readonly events?: string;
  };
  if (status < 400)
    return error === undefined && (status === 202 ? "runId" in rest : "status" in rest);
  if (error === undefined) return false;
  return (
    (numbers[status] ?? []).includes(error.code) && error.message !== "" && error.data !== undefined
  );
}

/**
 * Checks that the events are valid and numbered upwards from the requested one or a snapshot, and
 * that the last ends the run.
 */
function isStream(body: string, after: number | undefined): boolean {
  const blocks = body.split("\n\n").filter((block) => block !== "" && !block.startsWith(":"));
  let last = after ?? -1;
  return blocks.every((block, index) => {
    const [, id = "", event = "", data = ""] =
      /^id: (-?\d+)\nevent: (\S+)\ndata: (.+)$/.exec(block) ?? [];
    if (!Object.hasOwn(events, event)) return false;
    const seq = Number(id);
    // A run that has not reached the number yet is sent from its beginning.
    const isWhole = index === 0 && (event === "chat.snapshot" || seq === 0);
    const isNext = isWhole || (seq > last && (after !== undefined || index > 0));
    last = seq;
    const isEnd = /^chat\.(?:final|error|aborted)$/.test(event);
    const issues = issuesOf(events[event as EventName].data, JSON.parse(data));
    return isNext && issues.length === 0 && isEnd === (index === blocks.length - 1);
  });
}

export function patience(): Promise<undefined> {
  return sleep(PATIENCE_MS, undefined, { ref: false });
}
