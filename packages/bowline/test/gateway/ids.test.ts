import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonSchema } from "@bowline/core";
import type { FrameError } from "../../src/gateway/protocol/frame.ts";
import { methods } from "../../src/gateway/protocol/schema.ts";
import type { MethodName } from "../../src/gateway/protocol/protocol.ts";
import { gatewayWith, token } from "./gateway.ts";

const half = "\ud83e";
/** Ids that look up a session or a run, where a lone surrogate is refused. */
const isId = (field: string): boolean => /(?:Key|Id)$/.test(field);
const headers = { authorization: `Bearer ${token}` };
/** Valid values for every field that a method requires. */
const plain = { sessionKey: "s", message: "Hi", approvalId: "a", decision: "deny", id: "e" };

async function post(
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
): Promise<[status: number, error: FrameError]> {
  const response = await fetch(`${url}/api/chat`, { method: "POST", headers, body });
  return [response.status, ((await response.json()) as { error: FrameError }).error];
}

describe("an id with a lone surrogate", () => {
  it("is refused by every method that takes an id, without side effects", async () => {
    await using server = await gatewayWith([]);
    const client = await server.client();
    let tried = 0;
    for (const [method, { params }] of Object.entries(methods)) {
      const { properties, required } = params as {
        properties: Record<string, JsonSchema>;
        required: string[];
      };
      const needed = Object.fromEntries(
        Object.entries(plain).filter(([field]) => required.includes(field)),
      );
      for (const field of Object.keys(properties).filter(isId)) {
        const given = { ...needed, [field]: `a${half}` };
        const error = await client.call(method as MethodName, given as never).then(
          () => assert.fail(`${method} took ${field}`),
          (thrown: { readonly frame: FrameError }) => thrown.frame,
        );
        assert.deepEqual(
          [error.data?.code, error.data?.issues?.[0]?.path],
          ["bad_params", field],
          method,
        );
        assert.match(
          error.message,
          new RegExp(`params of ${method} do not fit: ${field}: .*well-formed Unicode`),
        );
        tried++;
      }
    }
    assert.ok(tried > 20, String(tried));
    assert.equal(client.frames.filter(({ event }) => event !== undefined).length, 0);
    assert.deepEqual((await client.call("sessions.list", {})).sessions, []);
  });

  it("is refused over HTTP, before a run begins", async () => {
    await using server = await gatewayWith([]);
    for (const field of ["sessionKey", "idempotencyKey"]) {
      const body = JSON.stringify({ sessionKey: "s", message: "Hi", [field]: half });
      const [status, error] = await post(server.gateway.url, body);
      assert.deepEqual(
        [status, error.data?.code, error.data?.issues?.[0]?.path],
        [400, "bad_params", field],
      );
    }
    assert.equal(server.model.calls.length, 0);
  });

  it("is allowed in a message, and models get it repaired", async () => {
    await using server = await gatewayWith(["Yes."]);
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: `Hi ${half}` });
    assert.equal((await client.end(runId)).event, "chat.final");
  });
});

it("a session key may be as long as the store allows, with any Unicode characters", async () => {
  await using server = await gatewayWith(["Yes."]);
  const client = await server.client();
  const longest = "🧵".repeat(256);
  const { runId } = await client.call("chat.send", { sessionKey: longest, message: "Hi" });
  assert.equal((await client.end(runId)).event, "chat.final");
  assert.equal(
    await client.refused("chat.send", { sessionKey: `${longest}!`, message: "Hi" }),
    "bad_params",
  );
});

it("a body that is not UTF-8 is refused", async () => {
  await using server = await gatewayWith([]);
  const body = Buffer.from(JSON.stringify({ sessionKey: "é", message: "Hi" }), "latin1");
  const [status, error] = await post(server.gateway.url, new Uint8Array(body));
  assert.deepEqual([status, error.data?.code], [400, "parse"]);
});

describe("an error about parameters", () => {
  it("names the field and the reason", async () => {
    await using server = await gatewayWith([]);
    const client = await server.client();
    const said = async (method: MethodName, params: unknown): Promise<string> =>
      client.call(method, params as never).then(
        () => assert.fail("taken"),
        ({ message }: Error) => message,
      );
    assert.match(
      await said("sessions.list", { limit: "5" }),
      /do not fit: limit: expected number, received string\.$/,
    );
    assert.match(
      await said("chat.send", '{"sessionKey":"s","message":"Hi"}'),
      /do not fit: expected object, received string\.$/,
    );
    const attachments = [{ mimeType: "image/png", data: 1234 }];
    const nested = await said("chat.send", { sessionKey: "s", message: "Hi", attachments });
    assert.match(nested, /do not fit: attachments\[0\]\.data: expected string, received number\.$/);
    const [status, error] = await post(server.gateway.url, '{"sessionKey":"s"}');
    assert.equal(status, 400);
    assert.match(error.message, /^The body does not fit: message: /);
  });
});
