/** HTTP requests of every kind, with the reaction that the gateway's documentation requires. */
import fc from "fast-check";
import { defaultLimits } from "../../src/gateway/protocol/limits.ts";
import { methods } from "../../src/gateway/protocol/schema.ts";
import { fitsMethod, key, notJson, paramsOf, spoiled, write } from "./bad-frames.ts";

export interface AnyRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** Whether the body is chunked and has no Content-Length. */
  readonly isChunked: boolean;
  /** The allowed statuses. */
  readonly statuses: readonly number[];
  /** The sequence number after which a stream must begin, or undefined for the whole run. */
  readonly after: number | undefined;
}

export interface TokensOfTest {
  readonly full: string;
  readonly read: string;
}

type Header = AnyRequest["headers"][number];
type Scope = "full" | "read" | "none";

/** An Authorization header and the access it gives. */
interface Credential {
  readonly value: string | undefined;
  readonly scope: Scope;
}

interface Door {
  readonly headers: readonly Header[];
  /** The statuses of the refusal, for any request. */
  readonly refusal?: readonly number[];
}

const verbs = [
  "GET",
  "POST",
  "HEAD",
  "PUT",
  "DELETE",
  "PATCH",
  "OPTIONS",
  "TRACE",
  "PROPFIND",
] as const;

const doors: readonly Door[] = [
  { headers: [["host", "evil.example"]], refusal: [403] },
  { headers: [["host", "127.0.0.1.evil.example:80"]], refusal: [403] },
  { headers: [["host", "localhost@evil.example"]], refusal: [400, 403] },
  { headers: [["host", "a b"]], refusal: [400, 403] },
  { headers: [["host", ""]], refusal: [400, 403] },
  { headers: [["host", "x".repeat(5000)]], refusal: [400, 403] },
  {
    headers: [
      ["host", "localhost"],
      ["origin", "null"],
    ],
    refusal: [403],
  },
  {
    headers: [
      ["host", "localhost"],
      ["origin", "https://evil.example"],
    ],
    refusal: [403],
  },
  {
    headers: [
      ["host", "localhost"],
      ["origin", "\u00ff"],
    ],
    refusal: [403],
  },
  {
    headers: [
      ["host", "localhost:18789"],
      ["origin", "http://localhost:18789"],
    ],
  },
  { headers: [["host", "[::1]"]] },
];
const door: fc.Arbitrary<Door> = fc.oneof(
  { weight: 12, arbitrary: fc.constant({ headers: [["host", "127.0.0.1"]] } satisfies Door) },
  { weight: 1, arbitrary: fc.constantFrom(...doors) },
);

const credential = ({ full, read }: TokensOfTest): fc.Arbitrary<Credential> => {
  const of = (scope: Scope, ...values: (string | undefined)[]): Credential[] =>
    values.map((value) => ({ value, scope }));
  const wrong = [
    "",
    "Bearer",
    "Bearer ",
    "Bearer no",
    `Bearer ${full}x`,
    `Basic ${full}`,
    full,
    `Bearer ${"t".repeat(5000)}`,
  ];
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc.constantFrom(
        ...of("full", `Bearer ${full}`, `bearer ${full}`, `BEARER ${full}`),
      ),
    },
    { weight: 2, arbitrary: fc.constantFrom(...of("read", `Bearer ${read}`)) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(...of("none", undefined, ...wrong, "Bearer \u00ff\u00fe")),
    },
  );
};

/** Headers that have no effect here, or request unsupported features. */
const extra: fc.Arbitrary<readonly Header[]> = fc.oneof(
  { weight: 6, arbitrary: fc.constant([]) },
  fc.constantFrom<readonly Header[]>(
    [["content-type", "text/plain"]],
    [["content-type", "multipart/form-data; boundary=\u00ff"]],
    [["accept", "text/event-stream"]],
    [["accept-encoding", "gzip, br, x"]],
    [["range", "bytes=0-3"]],
    [["if-none-match", "*"]],
    [["cookie", "a=b; ".repeat(500)]],
    [
      ["x-forwarded-for", "10.0.0.1"],
      ["x-forwarded-host", "evil.example"],
    ],
    [
      ["__proto__", "x"],
      ["constructor", "y"],
    ],
    Array.from({ length: 300 }, (_, index) => [`x-${index}`, "y"] as const),
  ),
);

/** Ids of runs that are started and read. */
const known = Array.from({ length: 60 }, (_, index) => `run-${index}`);
const ids = ["one", "%", "%2e%2e%2f", "%00", "a%2Fb", "%E0%A4%A", "__proto__", "i".repeat(4000)];
const id = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, fc.constantFrom(...ids));
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());
/** Values of Last-Event-ID. The server ignores a value that is not a whole number. */
const begins = [
  "-1",
  "0",
  "2",
  "40",
  "999999999",
  "-7",
  "9007199254740993",
  "",
  " ",
  "NaN",
  "1e1",
  "0x10",
  "1.5",
  "x",
  "9".repeat(400),
];

interface Asked {
  readonly method: string;
  readonly target: string;
  readonly headers?: readonly Header[];
  readonly body?: string;
  readonly isChunked?: boolean;
  readonly statuses: (scope: Scope) => readonly number[];
  readonly after?: number | undefined;
}

const body = methods["chat.send"].params;
const plain = fc.record({
  sessionKey: key,
  message: fc.constantFrom("Hi", "Why?"),
  idempotencyKey: fc.constantFrom(...known),
});
const sent = fc.oneof({ weight: 2, arbitrary: plain }, paramsOf(body), spoiled(body)).map(write);
const tooLarge = `"${"x".repeat(defaultLimits.maxFrameBytes)}"`;
const chat: fc.Arbitrary<Asked> = fc
  .tuple(
    fc.oneof(
      { weight: 12, arbitrary: sent },
      { weight: 3, arbitrary: notJson },
      fc.constantFrom("null", "[]", tooLarge),
    ),
    fc.constantFrom("/api/chat", "/api/chat", "/api/chat?message=Hi"),
    fc.integer({ min: 0, max: 9 }),
  )
  .map(([text, target, chunked]) => ({
    method: "POST",
    target,
    body: text.toWellFormed(),
    isChunked: chunked === 0,
    statuses: (scope) =>
      scope === "none" ? [401] : scope === "read" ? [403] : statusesOf(text, chunked === 0),
  }));

function statusesOf(text: string, isChunked: boolean): readonly number[] {
  if (isChunked || Buffer.byteLength(text) > defaultLimits.maxFrameBytes) return [400];
  try {
    // A valid request may still exceed a limit, conflict, or name something unknown.
    return fitsMethod(body, JSON.parse(Buffer.from(text).toString()))
      ? [202, 400, 404, 409, 429]
      : [400];
  } catch {
    return [400];
  }
}

const stream: fc.Arbitrary<Asked> = fc
  .tuple(
    fc.constantFrom("GET", "GET", "GET", "HEAD"),
    id,
    fc.option(key, { nil: undefined, freq: 1 }),
    fc.option(fc.constantFrom(...begins), { nil: undefined }),
    fc.boolean(),
  )
  .map(([method, runId, sessionKey, begin, isHeader]) => {
    const query = [
      ...(sessionKey === undefined ? [] : [`sessionKey=${encoded(sessionKey)}`]),
      ...(begin === undefined || isHeader ? [] : [`seq=${encodeURIComponent(begin)}`]),
    ].join("&");
    const after = /^-?\d{1,15}$/.test(begin ?? "") ? Number(begin) : undefined;
    return {
      method,
      target: `/api/runs/${runId}/events${query === "" ? "" : `?${query}`}`,
      headers: begin !== undefined && isHeader ? [["last-event-id", begin]] : [],
      statuses: (scope) =>
        scope === "none" ? [401] : after === undefined ? [200, 404] : [200, 204, 404],
      after,
    };
  });

const files = ["/", "/assets/icon.svg", "/assets/style/base.css"];
const nothing = [
  "/api",
  "/api/",
  "/api/x",
  "/api/chat/x",
  "/api//chat",
  "/api/runs",
  "/api/runs/one",
  "/api/runs//events",
];
const astray = [
  "//",
  "/x",
  "/../../etc/passwd",
  "/assets/../../package.json",
  "/..%2f..%2fetc%2fpasswd",
  "/assets/%00",
  "/%",
];
const elsewhere: fc.Arbitrary<Asked> = fc
  .tuple(
    fc.constantFrom(...verbs),
    fc.constantFrom("/health", ...files, ...nothing, ...astray, "/api/chat"),
    fc.boolean(),
  )
  .filter(([method, path]) => !(method === "POST" && path === "/api/chat"))
  .map(([method, path, hasQuery]) => {
    const isRead = method === "GET" || method === "HEAD";
    const found =
      path === "/health"
        ? isRead
          ? [200]
          : [404]
        : files.includes(path)
          ? isRead
            ? [200]
            : [405]
          : [404];
    return { method, target: hasQuery ? `${path}?a=%` : path, statuses: () => found };
  });

export function badRequest(tokens: TokensOfTest): fc.Arbitrary<AnyRequest> {
  const asked = fc.oneof(
    { weight: 5, arbitrary: chat },
    { weight: 4, arbitrary: stream },
    { weight: 2, arbitrary: elsewhere },
  );
  return fc
    .tuple(asked, door, credential(tokens), extra)
    .map(
      ([
        { method, target, headers = [], body: text = "", isChunked = false, statuses, after },
        at,
        who,
        more,
      ]) => ({
        method,
        target,
        headers: [
          ...at.headers,
          ...(who.value === undefined ? [] : [["authorization", who.value] as const]),
          ...headers,
          ...more,
        ],
        body: text,
        isChunked,
        statuses: at.refusal ?? statuses(who.scope),
        after,
      }),
    );
}

export function encodeRequest({
  method,
  target,
  headers,
  body: text,
  isChunked,
}: AnyRequest): Buffer {
  const bytes = Buffer.from(text);
  const size: readonly Header[] = isChunked
    ? [["transfer-encoding", "chunked"]]
    : method === "GET" || method === "HEAD"
      ? []
      : [["content-length", String(bytes.length)]];
  const lines = [...headers, ...size].map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1");
  if (!isChunked) return Buffer.concat([head, bytes]);
  const chunk = bytes.length === 0 ? "" : `${bytes.length.toString(16)}\r\n`;
  return Buffer.concat([
    head,
    Buffer.from(chunk),
    bytes,
    Buffer.from(`${chunk === "" ? "" : "\r\n"}0\r\n\r\n`),
  ]);
}
