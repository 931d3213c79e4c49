/**
 * How the command and the gateway use the proxies of the environment, and never a proxy for this
 * machine.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { createNetworkFetch } from "../src/network.ts";
import { connectProxy, type ConnectProxy } from "../../../test/support/connect-proxy.ts";
import { chatText, loopback, type Loopback } from "../../../test/support/loopback.ts";
import { bowline } from "./command.ts";

/** A proxy whose URL has a user name and a password, which must never be shown. */
async function startProxy({ baseUrl }: Loopback): Promise<ConnectProxy> {
  const proxy = await connectProxy(baseUrl);
  return { ...proxy, url: proxy.url.replace("//", "//user:proxy-word@") };
}

const elsewhere = ["run", "--base-url", "http://model.example/v1", "--model", "m"];

describe("the network of the command", () => {
  it("uses the proxy of the environment, for a run as for the list of models", async () => {
    await using server = await loopback(chatText("Through."), chatText("Again."));
    await using proxy = await startProxy(server);
    for (const [variable, text] of [
      ["HTTP_PROXY", "Through.\n"],
      ["http_proxy", "Again.\n"],
    ] as const) {
      const { code, stdout, stderr } = await bowline([...elsewhere, "hi"], {
        env: { [variable]: proxy.url },
      });
      assert.deepEqual([code, stdout], [0, text], stderr);
    }
    assert.deepEqual(proxy.tunnels, ["model.example:80", "model.example:80"]);
    const listing = await bowline(elsewhere.slice(0, 3).concat("hi"), {
      env: { HTTP_PROXY: proxy.url },
    });
    assert.equal(proxy.tunnels.length, 3, listing.stderr);
  });

  it("uses no proxy for this machine, and none for hosts in NO_PROXY", async () => {
    await using server = await loopback(chatText("Direct."), chatText("Here."));
    await using proxy = await startProxy(server);
    const env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url };
    const { code, stdout, stderr } = await bowline(
      ["run", "--base-url", server.baseUrl, "--model", "m", "hi"],
      {
        env,
      },
    );
    assert.deepEqual([code, stdout], [0, "Direct.\n"], stderr);
    assert.deepEqual(proxy.tunnels, []);

    const other = createServer((_request, response) => void response.end("direct"));
    await once(other.listen(0, "127.0.0.2"), "listening");
    const address = `http://127.0.0.2:${(other.address() as AddressInfo).port}/`;
    for (const NO_PROXY of ["a.example, 127.0.0.2", "*", undefined]) {
      const response = await createNetworkFetch({ ...env, NO_PROXY })(address);
      assert.equal((await response.text()) === "direct", NO_PROXY !== undefined);
    }
    assert.deepEqual(proxy.tunnels, [new URL(address).host]);
    other.close();
    other.closeAllConnections();
  });

  it("names the variable with an invalid proxy, and not its value", async () => {
    for (const command of [
      elsewhere.concat("hi"),
      ["doctor", "http://127.0.0.1:1/v1"],
      ["serve", "--port", "0"],
    ]) {
      const { code, stdout, stderr } = await bowline(command, {
        env: { HTTPS_PROXY: "socks5://user:proxy-word@h" },
      });
      assert.equal(code, 1);
      assert.match(
        stderr,
        /^bowline: HTTPS_PROXY is not the address of a proxy, such as http:\/\/proxy\.example:8080\.\n$/,
      );
      assert.equal((stdout + stderr).includes("proxy-word"), false);
    }
    assert.throws(() => createNetworkFetch({ http_proxy: "http://" }), {
      code: "invalid_argument",
    });
    createNetworkFetch({ HTTP_PROXY: "proxy.example:8080", HTTPS_PROXY: "" });
  });
});
