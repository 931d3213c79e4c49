/**
 * Bytes that are not HTTP, or HTTP that this server does not accept. They must be refused with the
 * right status or cut off.
 */
import { faultsOf, patience, type HttpTarget } from "./http-attacks.ts";
import { RawHttp } from "./raw-http.ts";

const get = (lines: string, path = "/health"): string => `GET ${path} HTTP/1.1\r\n${lines}\r\n`;
const host = "host: localhost\r\n";
const upgrade = "connection: upgrade\r\nupgrade:";

/**
 * Each breach with its expected status, or none when the connection may be cut without an answer.
 */
const breaches = (
  auth: string,
): readonly (readonly [what: string, status: number | undefined, bytes: string])[] => {
  const post = (lines: string, body: string): string =>
    `POST /api/chat HTTP/1.1\r\n${host}${auth}${lines}\r\n${body}`;
  const chunked = (body: string, more = ""): string =>
    post(`transfer-encoding: chunked\r\n${more}`, body);
  return [
    ["no request", 400, "hello\r\n\r\n"],
    ["lines before a request", 200, `\r\n\r\n\r\n${get(host)}`],
    ["HTTP/0.9", 400, "GET /health\r\n\r\n"],
    ["HTTP/1.0 without a host", 400, "GET /health HTTP/1.0\r\n\r\n"],
    ["HTTP/1.0", 200, `GET /health HTTP/1.0\r\n${host}\r\n`],
    ["HTTP/2", 400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["HTTP/9.9", 400, `GET /health HTTP/9.9\r\n${host}\r\n`],
    ["TLS", 400, "\u0016\u0003\u0001\u0000\u00f1\u0001\u0000\u0000\u00ed\u0003\u0003"],
    ["no host", 400, get("")],
    ["two hosts", 403, get(`${host}host: evil.example\r\n`)],
    ["two hosts the other way", 403, get(`host: evil.example\r\n${host}`)],
    [
      "another host behind a whole address",
      403,
      get("host: evil.example\r\n", "http://localhost/health"),
    ],
    ["a whole address of another kind", 400, get(host, "ftp://localhost/health")],
    ["a host for an address", 400, get(host, "localhost:80")],
    ["a star for an address", 400, `OPTIONS * HTTP/1.1\r\n${host}\r\n`],
    ["a tunnel", undefined, `CONNECT localhost:80 HTTP/1.1\r\n${host}\r\n`],
    ["a backslash", 400, get(host, "/\\evil.example")],
    ["a letter beyond ASCII", 400, get(host, "/\u00ff")],
    ["a space in an address", 400, get(host, "/a b")],
    ["NUL in an address", 400, get(host, "/\0")],
    ["NUL in a header", 400, get(`${host}x: a\0b\r\n`)],
    ["a header without a colon", 400, get(`${host}nothing\r\n`)],
    ["a space in a header's name", 400, get(`${host}a b: c\r\n`)],
    ["a folded header", 400, get(`${host}a: b\r\n c\r\n`)],
    ["line feeds alone", 400, "GET /health HTTP/1.1\nhost: localhost\n\n"],
    ["a header too long", 431, get(`${host}x: ${"y".repeat(20_000)}\r\n`)],
    ["an address too long", 431, get(host, `/${"y".repeat(20_000)}`)],
    [
      "headers too many",
      431,
      get(host + Array.from({ length: 2500 }, (_, index) => `a${index}:\r\n`).join("")),
    ],
    ["a method that is none", 400, `${"X".repeat(300)} / HTTP/1.1\r\n${host}\r\n`],
    ["a length that is none", 400, post("content-length: x\r\n", "")],
    ["a length below nothing", 400, post("content-length: -1\r\n", "")],
    ["a length with a sign", 400, post("content-length: +2\r\n", "{}")],
    ["a length beyond all", 400, post("content-length: 99999999999999999999999\r\n", "")],
    ["a length of 2^53", 400, post("content-length: 9007199254740993\r\n", "{}")],
    ["a length and not so much", 400, post("content-length: 10000000\r\n", "{}")],
    ["two lengths", 400, post("content-length: 2\r\ncontent-length: 3\r\n", "{}")],
    ["a length and chunks", 400, chunked("0\r\n\r\n", "content-length: 2\r\n")],
    ["an encoding that is none", 400, post("transfer-encoding: x\r\n", "{}")],
    ["chunks that are not the last encoding", 400, post("transfer-encoding: chunked, x\r\n", "{}")],
    ["a chunk without a size", 400, chunked("zz\r\n\r\n")],
    ["a chunk beyond all", 400, chunked("ffffffffffffffffff\r\n\r\n")],
    ["a chunk that says much", 413, chunked(`2;${"a".repeat(20_000)}\r\n{}\r\n0\r\n\r\n`)],
    [
      "a token behind the body",
      400,
      chunked("0\r\nauthorization: Bearer x\r\n\r\n", "trailer: authorization\r\n"),
    ],
    ["a body where there is none", 200, get(`${host}content-length: 5\r\n`) + "hello"],
    ["more than the body", 400, get(`${host}content-length: 0\r\n`) + "hello\r\n\r\n"],
    [
      "a question before the body",
      400,
      post("expect: 100-continue\r\ncontent-length: 2\r\n", "{}"),
    ],
    ["a question that is none", 417, post("expect: nonsense\r\ncontent-length: 2\r\n", "{}")],
    ["another protocol beside this one", 200, get(`${host}${upgrade} h2c\r\n`)],
    ["a socket without a key", 400, get(`${host}${upgrade} websocket\r\n`, "/")],
    ["a socket by POST", 405, post(`${upgrade} websocket\r\ncontent-length: 2\r\n`, "{}")],
  ];
};
export const BREACHES = breaches("").length;

/** Sends one of {@link breaches} and checks the reaction. */
export async function breakHttp(target: HttpTarget, which: number): Promise<string[]> {
  const all = breaches(`authorization: Bearer ${target.tokens.full}\r\n`);
  const [what, status, bytes] = all[which % BREACHES] as (typeof all)[number];
  const raw = await RawHttp.open(target.port);
  raw.ask("GET", Buffer.from(bytes, "latin1"));
  await Promise.race([raw.until(1), patience()]);
  const [answer] = raw.answers;
  const isOver = raw.isOver;
  raw.socket.destroy();
  if (answer === undefined) return status === undefined && isOver ? [] : [`${what}: no answer`];
  // A refusal before a request was parsed has a status and no body.
  if (answer.body === "" && answer.status >= 400 && answer.status === status) {
    target.note?.(answer.status);
    return answer.headers.get("connection") === "close" || status === 417
      ? []
      : [`${what}: the connection stays`];
  }
  const asked = {
    method: "GET",
    target: "/health",
    headers: [],
    body: "",
    isChunked: false,
    after: undefined,
  };
  const statuses = status === undefined ? [] : [status];
  const isSocket = answer.headers.get("content-type") === "text/html";
  const faults = faultsOf({ ...asked, statuses }, answer, target);
  return faults
    .filter((fault) => !(isSocket && fault.startsWith("not typed")))
    .map((fault) => `${what}: ${fault}`);
}
