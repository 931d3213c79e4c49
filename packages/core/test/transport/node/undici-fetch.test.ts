/**
 * The fetch over undici alone. test/transport/http-cases.test.ts runs every HTTP fault through it.
 */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { getEventListeners, once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { Agent, ProxyAgent, type Dispatcher } from "undici";
import { connectProxy } from "../../../../../test/support/connect-proxy.ts";
import { createUndiciFetch } from "../../../src/transport/node/undici.ts";
import { code } from "../../../../../test/support/error-code.ts";
import { eventually, within } from "../../../../../test/support/within.ts";

interface Loopback extends AsyncDisposable {
  readonly server: Server;
  readonly origin: string;
}

async function serve(
  listener: (...exchange: Parameters<RequestListener>) => unknown,
): Promise<Loopback> {
  const server = createServer((...exchange) => void listener(...exchange));
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    server,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** A request as the wires make it. */
const post = (init: RequestInit = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: '{"ä":1}',
  redirect: "manual",
  ...init,
});

interface Fault extends Error {
  cause?: { code?: string };
}

async function errorOf(work: Promise<unknown>): Promise<Fault> {
  try {
    await within("it fails", work);
  } catch (error) {
    return error as Fault;
  }
  return assert.fail("it went well");
}

describe("the fetch over undici", () => {
  it("passes anything but a URL string to undici's own fetch", async () => {
    const asked: unknown[] = [];
    const fetch = createUndiciFetch({
      fetch: async (input: unknown) => {
        asked.push(input);
        return new Response("own");
      },
    } as unknown as Parameters<typeof createUndiciFetch>[0]);
    for (const input of [new Request("http://a.invalid/x"), "/relative"]) {
      const response = await fetch(input);
      assert.equal(await response.text(), "own");
      assert.equal(asked.at(-1), input);
    }
  });

  it("posts a text and returns a standard response", async () => {
    await using loopback = await serve(async (request, response) => {
      const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
      response.writeHead(201, "Made", { "x-a": "1", "set-cookie": ["a=1", "b=2"] });
      response.end(
        `${request.method} ${request.url} ${request.headers["accept-encoding"]} ${Buffer.concat(chunks).toString()}`,
      );
    });
    const posted = createUndiciFetch()(`${loopback.origin}/v1/x?y=z#part`, post());
    const response = await within("there is a response", posted);
    assert.ok(response instanceof Response);
    assert.deepEqual([response.status, response.statusText, response.ok], [201, "Made", true]);
    assert.deepEqual(
      [response.headers.get("x-a"), response.headers.getSetCookie()],
      ["1", ["a=1", "b=2"]],
    );
    const text = await within("its body ends", response.text());
    assert.equal(text, 'POST /v1/x?y=z identity {"ä":1}');
  });

  it("returns the status and the joined headers of a refusal, for POST and other methods", async () => {
    await using loopback = await serve((_request, response) => {
      response.writeHead(429, { "Retry-After": ["1", "2"] }).end("later");
    });
    for (const method of ["POST", "PUT"]) {
      const response = await createUndiciFetch()(loopback.origin, post({ method }));
      assert.deepEqual(
        [response.ok, response.status, response.headers.get("retry-after")],
        [false, 429, "1, 2"],
      );
      assert.equal(await response.text(), "later");
    }
  });

  it("refuses an invalid dispatcher, such as Bun's stand-in for undici", () => {
    const dispatcher = {} as Dispatcher;
    assert.throws(() => createUndiciFetch({ dispatcher }), code("invalid_argument"));
  });

  it("passes requests other than a plain text POST on, with the same dispatcher", async () => {
    await using loopback = await serve((request, response) => {
      if (request.url === "/old") response.writeHead(302, { location: "/new" }).end();
      else response.end(`${request.method} ${request.url}`);
    });
    const agent = new Agent();
    const dispatched: string[] = [];
    const dispatcher = agent.compose((dispatch) => (options, handler) => {
      dispatched.push(`${options.method} ${options.path}`);
      return dispatch(options, handler);
    });
    const fetch = createUndiciFetch({ dispatcher });
    const texts = [
      await fetch(`${loopback.origin}/old`),
      await fetch(new URL(`${loopback.origin}/a`)),
      await fetch(`${loopback.origin}/b`, post({ headers: new Headers({ a: "b" }) })),
      await fetch(`${loopback.origin}/c`, post()),
      await fetch(`${loopback.origin}/d`, post({ method: "PUT" })),
    ].map((response) => response.text());
    assert.deepEqual(await Promise.all(texts), [
      "GET /new",
      "GET /a",
      "POST /b",
      "POST /c",
      "PUT /d",
    ]);
    assert.deepEqual(dispatched, [
      "GET /old",
      "GET /new",
      "GET /a",
      "POST /b",
      "POST /c",
      "PUT /d",
    ]);
    const { host } = new URL(loopback.origin);
    for (const address of ["nonsense", `http://user:word@${host}/`, `ftp://${host}/`])
      assert.ok((await errorOf(fetch(address, post()))) instanceof TypeError, address);
    assert.equal(dispatched.length, 6);
    await agent.close();
  });

  it("loads only the parts of undici that a POST needs", async () => {
    await using loopback = await serve((_request, response) => response.end("posted"));
    const script = `
      import { createRequire } from "node:module";
      import { createUndiciFetch } from "@bowline/core/undici";
      const response = await createUndiciFetch()(process.argv[1], ${JSON.stringify(post())});
      const loaded = Object.keys(createRequire(import.meta.url).cache).map((path) => path.split("/undici/")[1]);
      console.log(await response.text(), loaded.includes("lib/dispatcher/agent.js"), loaded.includes("index.js"));
    `;
    const flags = ["--conditions=@bowline/source", "--input-type=module"];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...flags, "-e", script, loopback.origin],
      {
        cwd: import.meta.dirname,
        timeout: 60_000,
      },
    );
    assert.equal(stdout, "posted true false\n");
  });

  it("returns every byte, for any chunks and any reading speed", async () => {
    const agent = new Agent();
    const fetch = createUndiciFetch({ dispatcher: agent });
    let pieces: readonly Uint8Array[] = [];
    await using loopback = await serve(async (_request, response) => {
      for (const [index, piece] of pieces.entries()) {
        response.write(piece);
        if (index % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 50 }), { maxLength: 30 }),
        fc.array(fc.nat(3), { minLength: 1, maxLength: 5 }),
        async (given, pauses) => {
          pieces = given;
          const reader = (await fetch(loopback.origin, post())).body?.getReader();
          const read: Uint8Array[] = [];
          for (let count = 0; ; count++) {
            for (let wait = 0; wait < (pauses[count % pauses.length] ?? 0); wait++)
              await new Promise((resolve) => setImmediate(resolve));
            const { done, value } = (await reader?.read()) ?? {};
            if (value === undefined || done) break;
            read.push(value);
          }
          assert.deepEqual(Buffer.concat(read), Buffer.concat(given));
        },
      ),
      { numRuns: 60 },
    );
    await agent.close();
  });

  it("applies backpressure while a response is not read, and then reads on", async () => {
    const length = 64 * 1024 * 1024;
    let sent = 0;
    await using loopback = await serve(async (_request, response) => {
      const block = Buffer.alloc(64 * 1024, "x");
      for (; sent < length; sent += block.length)
        if (!response.write(block)) await once(response, "drain");
      response.end();
    });
    const { body } = await createUndiciFetch()(loopback.origin, post());
    let before = -1;
    for (; before < sent; await new Promise((resolve) => setTimeout(resolve, 100))) before = sent;
    assert.ok(sent < length / 2, `${sent} bytes were sent to nobody`);
    let read = 0;
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) read += chunk.length;
    assert.equal(read, length);
  });

  it("returns the bytes before a connection broke, and then the failure", async () => {
    await using loopback = await serve((_request, response) => {
      response.write("first ");
      setTimeout(() => response.write("second", () => response.destroy()), 20);
    });
    const dispatcher = new Agent();
    const broken = once(dispatcher, "disconnect");
    const reader = (
      await createUndiciFetch({ dispatcher })(loopback.origin, post())
    ).body?.getReader();
    await broken; // the connection broke before anything is read
    const first = await reader?.read();
    assert.equal(Buffer.from(first?.value ?? []).toString(), "first second");
    const { message, cause } = await errorOf(reader?.read() ?? Promise.resolve());
    assert.deepEqual([message, cause?.code], ["terminated", "UND_ERR_SOCKET"]);
  });

  it("aborts at any time with the signal's reason, and releases its connection", async () => {
    const closed: Promise<unknown>[] = [];
    const asked: (string | undefined)[] = [];
    await using loopback = await serve((request, response) => {
      asked.push(request.url);
      if (request.url === "/body") response.write("begun");
      if (request.url === "/") response.end("sent in spite of the abort");
    });
    loopback.server.on("connection", (socket) => closed.push(once(socket, "close")));
    const fetch = createUndiciFetch();
    const reason = new Error("enough");
    assert.equal(
      await errorOf(fetch(loopback.origin, post({ signal: AbortSignal.abort(reason) }))),
      reason,
    );
    assert.equal(closed.length, 0);

    const connecting = new AbortController();
    const early = errorOf(fetch(loopback.origin, post({ signal: connecting.signal })));
    connecting.abort(reason);
    assert.equal(await early, reason);

    const waiting = new AbortController();
    const silent = errorOf(fetch(`${loopback.origin}/silent`, post({ signal: waiting.signal })));
    await once(loopback.server, "request");
    waiting.abort(reason);
    assert.equal(await silent, reason);

    const reading = new AbortController();
    const response = await fetch(`${loopback.origin}/body`, post({ signal: reading.signal }));
    const reader = response.body?.getReader();
    await reader?.read();
    const next = errorOf(reader?.read() ?? Promise.resolve());
    reading.abort(reason);
    assert.equal(await next, reason);

    const left = await fetch(`${loopback.origin}/body`, post());
    await left.body?.cancel();

    const unread = new AbortController();
    const given = await fetch(`${loopback.origin}/body`, post({ signal: unread.signal }));
    await new Promise((resolve) => setTimeout(resolve, 20)); // the body has arrived
    unread.abort(reason);
    assert.equal(await errorOf(given.text()), reason);
    await Promise.all(closed);
    assert.deepEqual(asked, ["/silent", "/body", "/body", "/body"]);
  });

  it("is never sent when it is aborted before its dispatcher has a connection for it", async () => {
    const seen: string[] = [];
    let answerFirst = (): void => {};
    await using target = await serve((request, response) => {
      seen.push(request.url ?? "");
      if (request.url === "/1") answerFirst = () => response.end("1");
      else response.end("2");
    });
    const dispatcher = new Agent({ connections: 1, pipelining: 1 });
    const fetch = createUndiciFetch({ dispatcher });
    const first = fetch(`${target.origin}/1`, post());
    await eventually("the first is there", () => seen.length === 1);
    const abort = new AbortController();
    const second = fetch(`${target.origin}/2`, post({ signal: abort.signal }));
    const third = fetch(`${target.origin}/3`, post());
    abort.abort(new Error("no more"));
    await assert.rejects(second, /no more/);
    answerFirst();
    assert.deepEqual([await (await first).text(), await (await third).text()], ["1", "2"]);
    assert.deepEqual(seen, ["/1", "/3"]);
    await dispatcher.close();
  });

  it("leaves no listener on a long-lived signal", async () => {
    await using loopback = await serve((_request, response) => response.end("x"));
    const { signal } = new AbortController();
    for (const address of [loopback.origin, "http://127.0.0.1:1/"])
      await createUndiciFetch()(address, post({ signal })).then(
        (response) => response.text(),
        () => {},
      );
    assert.deepEqual(getEventListeners(signal, "abort"), []);
  });

  it("reads compressed responses that were not requested", async () => {
    const text = "data: {}\n\n".repeat(1000);
    await using loopback = await serve((request, response) => {
      const encoding = request.url?.slice(1) ?? "";
      response.writeHead(200, { "content-encoding": encoding });
      response.end(encoding === "deflate" ? deflateSync(text) : gzipSync(text));
    });
    for (const encoding of ["gzip", "X-Gzip", "deflate"])
      assert.equal(
        await (await createUndiciFetch()(`${loopback.origin}/${encoding}`, post())).text(),
        text,
      );
  });

  it("accepts statuses without a body, skips informational ones, and refuses invalid ones", async () => {
    await using loopback = await serve((request, response) => {
      const status = Number(request.url?.slice(1));
      response.writeEarlyHints({ link: "</a>; rel=preload" });
      if (status === 999) response.socket?.end("HTTP/1.1 999 What\r\ncontent-length: 0\r\n\r\n");
      else response.writeHead(status).end();
    });
    const fetch = createUndiciFetch();
    for (const status of [204, 304, 500]) {
      const response = await fetch(`${loopback.origin}/${status}`, post());
      assert.deepEqual([response.status, await response.text()], [status, ""]);
    }
    const failed = within("it is refused", errorOf(fetch(`${loopback.origin}/999`, post())));
    assert.equal((await failed).message, "fetch failed");
  });

  it("rejects an invalid request, and gives the cause of a failed connection", async () => {
    const fetch = createUndiciFetch();
    const bad = await errorOf(fetch("http://127.0.0.1:1/", post({ headers: { a: "b\nc" } })));
    assert.equal(bad.cause?.code, "UND_ERR_INVALID_ARG");
    const refused = await errorOf(fetch("http://127.0.0.1:1/", post()));
    assert.deepEqual([refused.message, refused.cause?.code], ["fetch failed", "ECONNREFUSED"]);
  });

  // Q236
  it("waits for headers as long as the caller does, regardless of its dispatcher's limit", async () => {
    await using loopback = await serve((_request, response) =>
      setTimeout(() => response.end("late"), 2500),
    );
    const dispatcher = new Agent({ headersTimeout: 200, bodyTimeout: 200 });
    const response = await createUndiciFetch({ dispatcher })(loopback.origin, post());
    assert.equal(await response.text(), "late");
    await dispatcher.close();
  });

  // Q235
  it("stops connecting after its own limit", async () => {
    // A stopped process accepts no connections: once its backlog of one is full, connecting hangs.
    const script =
      "require('net').createServer().listen(0, '127.0.0.1', 1, function () { console.log(this.address().port) })";
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    const sockets: Socket[] = [];
    try {
      const [line] = (await once(child.stdout, "data")) as [Buffer];
      child.kill("SIGSTOP");
      const port = Number(line);
      for (let count = 0; count < 4; count++)
        sockets.push(connect(port, "127.0.0.1").on("error", () => {}));
      await new Promise((resolve) => setTimeout(resolve, 100));
      const fetch = createUndiciFetch({ connectTimeoutMs: 200 });
      const signal = AbortSignal.timeout(6000);
      const error = await errorOf(fetch(`http://127.0.0.1:${port}/`, post({ signal })));
      assert.equal(error.cause?.code, "UND_ERR_CONNECT_TIMEOUT");
    } finally {
      for (const socket of sockets) socket.destroy();
      child.kill("SIGKILL");
    }
  });

  it("uses the proxy of its dispatcher", async () => {
    await using loopback = await serve((_request, response) => response.end("through"));
    await using proxy = await connectProxy(loopback.origin);
    const dispatcher = new ProxyAgent({ uri: proxy.url, proxyTunnel: true });
    const response = await createUndiciFetch({ dispatcher })(loopback.origin, post());
    assert.equal(await response.text(), "through");
    assert.deepEqual(proxy.tunnels, [new URL(loopback.origin).host]);
    await dispatcher.destroy();
  });
});
