/**
 * The page in another HTTP server, behind a proxy that strips a path prefix, and for users with a
 * session prefix.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request as requestOf } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { defineTool } from "@bowline/core";
import { scriptedToolCall } from "@bowline/core/testing";
import { createPage } from "../../src/gateway.ts";
import { mounted } from "../gateway/mounted.ts";
import { assertStayed, said, skip, useBrowser, write } from "./browser.ts";

const openTab = useBrowser();
const page = createPage();

/** A proxy that serves a port under a path prefix and strips the prefix. */
async function proxyTo(
  port: number,
  path: string,
): Promise<{ readonly url: string } & AsyncDisposable> {
  const proxy = createServer((request, response) => {
    const { method, headers, url = "" } = request;
    if (!url.startsWith(`${path}/`)) return void response.writeHead(404).end();
    const onward = requestOf({ port, method, headers, path: url.slice(path.length) }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  proxy.on("upgrade", ({ url = "", rawHeaders }, socket) => {
    const lines = rawHeaders
      .map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`))
      .join("");
    const onward = connect(port, "127.0.0.1", () => {
      onward.write(`GET ${url.slice(path.length)} HTTP/1.1\r\n${lines}\r\n`);
      socket.pipe(onward).pipe(socket);
    });
    for (const one of [socket, onward]) one.on("error", () => {});
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${path}`,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

describe("the page mounted in another HTTP server", { skip }, () => {
  it("is served below its path with all its files, and sends no request to the program's other paths", async () => {
    await using server = await mounted(["Hello from below."], { page });
    await using tab = await openTab(server.url);
    await write(tab.page, "Hi");
    await said(tab.page, "Hello from below.").waitFor();
    await tab.page.reload();
    await said(tab.page, "Hello from below.").waitFor();
    // The address works without the trailing slash, too.
    await tab.page.goto(`${server.url}${new URL(tab.page.url()).hash}`);
    await said(tab.page, "Hello from below.").waitFor();
    assert.equal(new URL(tab.page.url()).pathname, "/agents/");
    assert.deepEqual([tab.faults, server.own], [[], []]);
    assertStayed(tab.requests, server.origin);
  });

  it("works behind a proxy that strips a path prefix", async () => {
    await using server = await mounted(["Hello from behind."], { page });
    await using proxy = await proxyTo(Number(new URL(server.origin).port), "/program");
    await using tab = await openTab(`${proxy.url}/agents`);
    await write(tab.page, "Hi");
    await said(tab.page, "Hello from behind.").waitFor();
    assert.deepEqual([tab.faults, server.own], [[], []]);
    assert.ok(tab.requests.every((url) => new URL(url).pathname.startsWith("/program/agents/")));
  });
});

describe("the page for a user with a session prefix", { skip }, () => {
  it("lists and creates only sessions with that prefix, also after a link to another user's session", async () => {
    const touch = defineTool({
      name: "touch",
      description: "Touches a file.",
      parameters: { type: "object", properties: { path: { type: "string" } } } as const,
      execute: () => "done",
    });
    const script = [
      "For Bob.",
      { content: [scriptedToolCall("touch", { path: "a/b.txt" })] },
      "For Ann.",
      "More.",
    ];
    await using server = await mounted(script, {
      page,
      tools: () => [touch],
      authorize: (token) => (token === "ann" ? { scope: "full", sessions: "ann/" } : undefined),
    });
    const all = await server.client();
    const { runId } = await all.call("chat.send", {
      sessionKey: "bob/1",
      message: "A secret of Bob's",
    });
    await all.end(runId);
    await using tab = await openTab(server.url, { hash: "token=ann&session=bob%2F1" });
    const session = (): string =>
      decodeURIComponent(new URL(tab.page.url()).hash.replace("#session=", ""));
    await tab.page.getByText("What shall we do?").waitFor();
    const first = session();
    assert.match(first, /^ann\/[\da-f-]{36}$/);
    await write(tab.page, "Hi");
    await tab.page.getByRole("group", { name: /^May this run\?/ }).waitFor();
    assert.equal(await tab.page.getByRole("button", { name: "Always allow" }).count(), 0);
    await tab.page.getByText(/^The last remembers \S+ for touch\.$/).waitFor();
    await tab.page
      .getByRole("button", { name: /session/ })
      .first()
      .waitFor();
    await tab.page.getByRole("button", { name: "Allow once" }).click();
    await said(tab.page, "For Ann.").waitFor();
    await tab.page.locator(".session").waitFor(); // appears after the answer; waitFor throws if there are several
    await tab.page.keyboard.press("Alt+n");
    await tab.page.getByText("What shall we do?").waitFor();
    assert.match(session(), /^ann\/[\da-f-]{36}$/);
    assert.notEqual(session(), first);
    await write(tab.page, "And more");
    await said(tab.page, "More.").waitFor();
    await tab.page.goto(`${server.url}/#session=bob%2F1`);
    await tab.page.getByText("What shall we do?").waitFor();
    await tab.page.goto(`${server.url}/#session=${encodeURIComponent(first)}`);
    await said(tab.page, "For Ann.").waitFor();
    assert.ok(!(await tab.page.content()).includes("Bob"));
    assert.deepEqual(tab.faults, []);
  });
});
