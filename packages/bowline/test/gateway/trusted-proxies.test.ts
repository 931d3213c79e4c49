/** The client address and path prefix that a trusted proxy reports. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { gatewayWith, token, type TestGateway } from "./gateway.ts";

async function ask(
  { gateway }: TestGateway,
  bearer: string,
  more: Record<string, string> = {},
): Promise<number> {
  const headers = { authorization: `Bearer ${bearer}`, ...more };
  return (await fetch(`${gateway.url}/api/runs/x/events`, { headers })).status;
}

const from = (hops: string): Record<string, string> => ({ "x-forwarded-for": hops });
const limits = { maxAuthFailures: 2 };

describe("wrong tokens behind a trusted proxy", () => {
  it("are counted by the client address from the proxy, so that no client locks out another", async () => {
    await using server = await gatewayWith([], { limits, trustProxy: ["127.0.0.1"] });
    for (let count = 0; count < 2; count++)
      assert.equal(await ask(server, "wrong", from("203.0.113.5")), 401);
    assert.equal(await ask(server, token, from("203.0.113.5")), 429);
    assert.equal(await ask(server, token, from("203.0.113.6")), 404);
    const one = server.socket(from("203.0.113.5"));
    one.on("open", () => one.send(JSON.stringify({ type: "auth", token })));
    assert.equal(await new Promise((resolve) => one.once("close", resolve)), 4429);
    const other = server.socket(from("203.0.113.6"));
    other.on("open", () => other.send(JSON.stringify({ type: "auth", token })));
    const [data] = (await once(other, "message")) as [Buffer];
    assert.match(data.toString(), /"ok":true/);
    other.terminate();
  });

  it("ignore addresses that the client put before the proxy's entry", async () => {
    await using server = await gatewayWith([], { limits, trustProxy: ["127.0.0.1", "10.0.0.0/8"] });
    // The client forges earlier entries. The last entry that is not a trusted proxy is the client.
    assert.equal(await ask(server, "wrong", from("198.51.100.1, 203.0.113.5")), 401);
    assert.equal(
      await ask(server, "wrong", from("10.0.0.1, 198.51.100.2, 203.0.113.5, 10.9.9.9")),
      401,
    );
    assert.equal(await ask(server, token, from("198.51.100.3,203.0.113.5:4711")), 429);
    assert.equal(await ask(server, token, from("203.0.113.5, 198.51.100.1")), 404);
  });

  it("are counted per /64 network in IPv6, because one client has all its addresses", async () => {
    await using server = await gatewayWith([], { limits, trustProxy: ["127.0.0.1"] });
    for (const address of ["2001:db8:1:2::1", "2001:db8:1:2:a:b:c:d"])
      assert.equal(await ask(server, "wrong", from(address)), 401);
    assert.equal(await ask(server, token, from("2001:db8:1:2::ffff")), 429);
    assert.equal(await ask(server, token, from("2001:db8:1:3::1")), 404);
  });

  it("are counted for the proxy when it names no client", async () => {
    await using server = await gatewayWith([], { limits, trustProxy: ["127.0.0.0/8"] });
    assert.equal(await ask(server, "wrong", from("203.0.113.5, unknown")), 401);
    assert.equal(await ask(server, "wrong"), 401);
    assert.equal(await ask(server, token, from("")), 429);
    assert.equal(await ask(server, token, from("[2001:db8::1]:443")), 404);
  });

  it("are counted by the socket's address when that is not a trusted proxy", async () => {
    for (const trustProxy of [undefined, ["10.0.0.1", "::1"]]) {
      await using server = await gatewayWith([], { limits, ...(trustProxy && { trustProxy }) });
      assert.equal(
        await ask(server, "wrong", { ...from("10.0.0.1"), forwarded: "for=10.0.0.1" }),
        401,
      );
      assert.equal(
        await ask(server, "wrong", { ...from("203.0.113.5"), "x-real-ip": "203.0.113.5" }),
        401,
      );
      assert.equal(await ask(server, token, from("203.0.113.6")), 429);
    }
  });

  it("are counted by one header only, because the client may have set the other", async () => {
    await using server = await gatewayWith([], { limits, trustProxy: ["127.0.0.1"] });
    for (const name of ["198.51.100.1", "198.51.100.2"])
      assert.equal(
        await ask(server, "wrong", { ...from("203.0.113.5"), forwarded: `for=${name}` }),
        401,
      );
    assert.equal(
      await ask(server, token, { ...from("203.0.113.5"), forwarded: "for=198.51.100.3" }),
      429,
    );
  });
});

describe("the path prefix of a trusted proxy", () => {
  const begin = async ({ gateway }: TestGateway, more: Record<string, string>): Promise<string> => {
    const headers = { authorization: `Bearer ${token}`, ...more };
    const body = JSON.stringify({ sessionKey: "s", message: "Hi" });
    const begun = await fetch(`${gateway.url}/api/chat`, { method: "POST", headers, body });
    return ((await begun.json()) as { events: string }).events;
  };

  it("is prepended to the address of a run's events", async () => {
    await using server = await gatewayWith(["One.", "Two."], { trustProxy: ["127.0.0.1"] });
    assert.match(
      await begin(server, { "x-forwarded-prefix": "/agents/" }),
      /^\/agents\/api\/runs\//,
    );
    assert.match(await begin(server, {}), /^\/api\/runs\//);
  });

  it("has 200 characters at most", async () => {
    await using server = await gatewayWith(["One.", "Two."], { trustProxy: ["127.0.0.1"] });
    const longest = `/${"x".repeat(199)}`;
    const events = await begin(server, { "x-forwarded-prefix": longest });
    assert.ok(events.startsWith(`${longest}/api/runs/`), events);
    assert.match(await begin(server, { "x-forwarded-prefix": `${longest}x` }), /^\/api\/runs\//);
  });

  it("cannot name another server, and is ignored from other clients", async () => {
    await using server = await gatewayWith(["One.", "Two.", "Three.", "Four."], {
      trustProxy: ["127.0.0.1"],
    });
    for (const prefix of [
      "//evil.example",
      "https://evil.example",
      "/\\evil.example",
      `/${"x".repeat(300)}`,
    ])
      assert.match(await begin(server, { "x-forwarded-prefix": prefix }), /^\/api\/runs\//, prefix);
    await using open = await gatewayWith(["One."]);
    assert.match(await begin(open, { "x-forwarded-prefix": "/agents" }), /^\/api\/runs\//);
  });
});

describe("a trusted proxy", () => {
  it("is configured by its address or network", async () => {
    for (const name of ["proxy.example", "10.0.0.0/33", "::1/129", "10.0.0.0/", "", "10.0.0"])
      await assert.rejects(gatewayWith([], { trustProxy: [name] }), /trusted by its address/, name);
    for (const name of [
      "::1",
      "::1/128",
      "fd00::/8",
      "10.0.0.0/8",
      "10.0.0.1/32",
      "::ffff:10.0.0.1",
    ])
      await (await gatewayWith([], { trustProxy: [name] }))[Symbol.asyncDispose]();
  });
});
