/** Calls every method, with each of its text parameters, for another user's session. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defineTool, type JsonSchema } from "@bowline/core";
import { scriptedToolCall } from "@bowline/core/testing";
import type { Access } from "../../src/gateway/access/access.ts";
import type { MethodName } from "../../src/gateway/protocol/protocol.ts";
import { methods } from "../../src/gateway/protocol/schema.ts";
import { gatewayWith, type TestClient, type TestGateway } from "./gateway.ts";

const users: Readonly<Record<string, Access>> = {
  ann: { scope: "full", sessions: "ann/" },
  bob: { scope: "full", sessions: "bob/" },
};
/** Appears in the other user's data, and in nothing that other users may see. */
const MARK = "zebra";
const OTHER = "bob/1";
const RUN = "run-of-bob";

const touch = defineTool({
  name: "touch",
  description: "Touches a file.",
  parameters: { type: "object", properties: { path: { type: "string" } } } as const,
  execute: () => "done",
});

/** Valid values of the user's own data, for the parameters that are not being tested. */
const own: Readonly<Record<string, unknown>> = {
  sessionKey: "ann/1",
  newSessionKey: "ann/fork",
  message: "Hi",
  title: "Mine",
  approvalId: "none",
  decision: "deny",
  id: "none",
};

interface House extends AsyncDisposable {
  readonly server: TestGateway;
  readonly ann: TestClient;
  readonly bob: TestClient;
  readonly approvalId: string;
}

/**
 * Unless `isEmpty`, the other user has a session with a title, a message and a run that waits for
 * approval.
 */
async function house(isEmpty = false): Promise<House> {
  const call = { content: [scriptedToolCall("touch", { path: MARK })] };
  const server = await gatewayWith([call, ...Array.from({ length: 40 }, () => "Hello.")], {
    authorize: (given) => users[given],
    tools: () => [touch],
  });
  const bob = await server.client({ token: "bob" });
  const approvalId = isEmpty ? "none" : await fill(bob);
  const ann = await server.client({ token: "ann" });
  await ann.call("sessions.create", { sessionKey: "ann/1" });
  return {
    server,
    ann,
    bob,
    approvalId,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function fill(bob: TestClient): Promise<string> {
  await bob.call("sessions.create", { sessionKey: OTHER, title: MARK });
  await bob.call("chat.send", { sessionKey: OTHER, message: MARK, idempotencyKey: RUN });
  return (await bob.event("exec.approval_request")).approvalId;
}

/** Calls each reading method as Ann. Returns the results without times and sizes of the server. */
async function readAll({ ann }: House): Promise<Map<string, unknown>> {
  const found = new Map<string, unknown>();
  for (const [name, { access, params }] of Object.entries(methods)) {
    // `health.check` counts the runs and connections of the whole server, as documented.
    if (access !== "read" || name === "health.check") continue;
    const result = await outcome(ann, name as MethodName, fitting(params));
    const text = JSON.stringify(result, (key, value: unknown) =>
      /(?:At|Ms|Bytes|Id)$|^(?:id|uptime|memory|cursor)$/.test(key) ? "" : value,
    );
    found.set(name, JSON.parse(text) as unknown);
  }
  return found;
}

/** Returns the error code of the refusal, or the result. */
async function outcome(client: TestClient, method: MethodName, params: object): Promise<unknown> {
  try {
    return await client.call(method, params);
  } catch (error) {
    return (error as { frame?: { data?: { code?: string } } }).frame?.data?.code ?? error;
  }
}

const textsOf = ({ properties }: JsonSchema): string[] =>
  Object.entries(properties as Readonly<Record<string, JsonSchema>>).flatMap(([name, schema]) =>
    schema.type === "string" ? [name] : [],
  );

const fitting = ({ properties, required }: JsonSchema): Record<string, unknown> =>
  Object.fromEntries(
    (required as readonly string[])
      .filter((name) => name in (properties as object))
      .map((name) => [name, own[name]]),
  );

describe("a request for another user's data", () => {
  it("is covered by a declaration for each text parameter of a method", () => {
    for (const [method, { params, refersTo }] of Object.entries(methods))
      assert.deepEqual(Object.keys(refersTo).toSorted(), textsOf(params).toSorted(), method);
  });

  it("is refused under every parameter name", async () => {
    await using all = await house();
    const { ann, bob, approvalId } = all;
    const before = JSON.stringify(await bob.call("chat.history", { sessionKey: OTHER }));
    const counts = { declared: 0, undeclared: 0 };
    for (const [name, { params, refersTo }] of Object.entries(methods)) {
      const method = name as MethodName;
      for (const text of textsOf(params)) {
        const reference = refersTo[text];
        // Any other value would begin a new run with that id.
        const values =
          reference === "message" ? [RUN] : [OTHER, "bob/none", "ann", "Ann/1", RUN, approvalId];
        for (const value of values) {
          const found = await outcome(ann, method, { ...fitting(params), [text]: value });
          const what = `${method} ${text}=${value}: ${JSON.stringify(found)}`;
          if (reference === "session" || reference === "newSession")
            assert.equal(found, "forbidden", what);
          if (reference === "approval") assert.equal(found, "not_found", what);
          if (reference === "message") assert.equal(found, "conflict", what);
          if (reference === "run") {
            const { runIds = [], runs = [] } = found as { runIds?: []; runs?: { state: string }[] };
            assert.deepEqual(runIds, [], what);
            for (const { state } of runs) assert.equal(state, "unknown", what);
          }
          counts.declared++;
        }
      }
      for (const text of ["key", "session", "sessionId", "otherSessionKey", "from", "SessionKey"]) {
        const found = await outcome(ann, method, { ...fitting(params), [text]: OTHER });
        assert.equal(found, "bad_params", `${method} ${text}`);
        counts.undeclared++;
      }
    }
    assert.ok(counts.declared > 150 && counts.undeclared > 100, JSON.stringify(counts));
    assert.equal(JSON.stringify(ann.frames).includes(MARK), false);
    assert.equal(JSON.stringify(await bob.call("chat.history", { sessionKey: OTHER })), before);
    assert.equal((await bob.call("approvals.list", {})).approvals.length, 1);
  });

  it("has no effect on the result of any reading method for another user", async () => {
    await using alone = await house(true);
    await using shared = await house();
    const [expected, found] = [await readAll(alone), await readAll(shared)];
    assert.ok(expected.size > 5);
    for (const [method, result] of expected)
      assert.deepEqual(found.get(method), result, `${method} depends on the data of others`);
  });

  it("is refused over HTTP under every parameter name", async () => {
    await using all = await house();
    const { url } = all.server.gateway;
    const headers = { authorization: "Bearer ann" };
    const post = async (body: object): Promise<number> => {
      const answer = await fetch(`${url}/api/chat`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      assert.equal((await answer.text()).includes(MARK), false);
      return answer.status;
    };
    const valid = { sessionKey: "ann/1", message: "Hi" };
    assert.equal(await post({ ...valid, sessionKey: OTHER }), 403);
    assert.equal(await post({ ...valid, sessionKey: "bob/none" }), 403);
    assert.equal(await post({ ...valid, idempotencyKey: RUN }), 409);
    for (const text of ["key", "session", "otherSessionKey"])
      assert.equal(await post({ ...valid, [text]: OTHER }), 400);
    const read = async (path: string): Promise<number> => {
      const answer = await fetch(`${url}/api/runs/${path}`, { headers });
      assert.equal((await answer.text()).includes(MARK), false);
      return answer.status;
    };
    const key = encodeURIComponent(OTHER);
    assert.equal(await read(`${RUN}/events?sessionKey=${key}`), 403);
    assert.equal(await read(`${RUN}/events`), 404);
    assert.equal(await read(`${RUN}/events?sessionKey=${encodeURIComponent("ann/1")}`), 404);
    assert.equal(await read(`${RUN}/events?session=${key}&SessionKey=${key}`), 404);
  });
});
