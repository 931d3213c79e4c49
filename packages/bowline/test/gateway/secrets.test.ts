import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { defineTool } from "@bowline/core";
import { scriptedToolCall } from "@bowline/core/testing";
import { loadRules } from "../../src/policy/rules.ts";
import { createSecretFilter, secretsOf } from "../../src/secrets.ts";
import { gatewayWith } from "./gateway.ts";

const secret = "hunter2-and-more";
const key = "sk-ant-REDACTED-0123456789";

describe("a stream of text", () => {
  it("redacts every secret however the text is split, and shows everything else", () => {
    const filter = createSecretFilter([secret]);
    const piece = fc.constantFrom(
      "plain ",
      "hunter",
      "hunter2",
      "sk",
      "s",
      "-",
      " AIza",
      "xa",
      "\n",
      secret,
      `${key} `,
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (pieces, cuts) => {
          const text = pieces.join("");
          const stream = filter.stream();
          let shown = "";
          for (let at = 0, cut = 0; at < text.length; cut++) {
            const length = cuts[cut % cuts.length] as number;
            shown += stream.push(text.slice(at, at + length));
            at += length;
          }
          shown += stream.end();
          assert.equal(shown, filter.text(text));
          assert.equal(shown.includes(secret), false);
        },
      ),
    );
  });

  it("does not buffer keys without limit", () => {
    const stream = createSecretFilter([secret]).stream();
    let shown = "";
    for (let count = 0; count < 1000; count++) shown += stream.push("sk-0123456789abcdef");
    assert.ok(shown.includes("[redacted]"));
    assert.equal(/0123456789/.test(shown + stream.push(" after") + stream.end()), false);
  });
});

it("finds the secrets of an environment by their variable names", () => {
  const env = {
    OPENAI_API_KEY: "key-of-openai",
    BOWLINE_TOKEN: " token-of-bowline ",
    HOME: "/home/someone",
    A_TOKEN: "short",
  };
  assert.deepEqual(secretsOf(env, ["another-one", "tiny"]), [
    "key-of-openai",
    "token-of-bowline",
    "another-one",
  ]);
});

it("finds passwords in the URLs of an environment, raw and decoded", () => {
  const env = {
    UPSTREAM: "https://ann:hunter%232-and-more@example.com",
    HTTPS_PROXY: "http://postgres:postgres@proxy:3128",
    API_KEY_PROD: "key-of-production",
    HOMEPAGE: "https://example.com/@ann:here",
  };
  assert.deepEqual(secretsOf(env, []), [
    "ann:hunter%232-and-more",
    "hunter%232-and-more",
    "hunter#2-and-more",
    "postgres:postgres",
    "key-of-production",
  ]);
});

describe("a client of the gateway", () => {
  it("gets no token whose last letter begins another key, wherever a delta ends", async () => {
    for (const end of ["s", "x", "g", "A", "h"]) {
      const token = `hunter2-and-${end}`;
      await using server = await gatewayWith([`It is ${token}`, `It is ${token}. Done.`], {
        secrets: [token],
        pace: { deltaLength: 6 },
      });
      const client = await server.client({ token: "for-reading-only" });
      await client.call("chat.subscribe", { sessionKey: "s" });
      const sender = await server.client();
      for (const wanted of ["It is [redacted]", "It is [redacted]. Done."]) {
        const { runId } = await sender.call("chat.send", { sessionKey: "s", message: "go" });
        await client.end(runId);
        assert.equal(client.text(runId), wanted, end);
      }
    }
  });

  it("gets no part of a secret at a truncation, and none in an argument name", async () => {
    const half = secret.slice(0, 8);
    const tool = defineTool({
      name: "look",
      description: "Looks.",
      parameters: { type: "object" } as const,
      execute: (_args, run) => {
        run.update(`${"p".repeat(50)}${secret.slice(0, -1)}`);
        run.update(`${secret}${"p".repeat(4000 - 5)}`);
        return `${"r".repeat(20_000 - half.length)}${secret}`;
      },
    });
    const rules = await loadRules([{ action: "allow", tool: "look" }]);
    const script = [
      { content: [scriptedToolCall("look", { [secret]: 1 }, "call")] },
      `${"t".repeat(20_000 - half.length)}${secret}`,
    ];
    await using server = await gatewayWith(script, {
      tools: () => [tool],
      rules,
      secrets: [secret],
    });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    await client.end(runId);
    await client.call("chat.history", { sessionKey: "s" });
    const sent = JSON.stringify(client.frames);
    assert.equal(
      client.ofRun(runId).some(({ event }) => event === "tool.progress"),
      true,
    );
    for (const part of [half, secret.slice(5)]) assert.equal(sent.includes(part), false, part);
  });
});

it("sends no secret in any frame: deltas, calls, results, errors, titles, history", async () => {
  const tool = defineTool({
    name: "look",
    description: "Looks.",
    parameters: { type: "object", properties: { at: { type: "string" } } } as const,
    execute: (_args, run) => {
      run.update(`progress ${secret}`);
      return `The file holds ${secret} and ${key}.`;
    },
  });
  const rules = await loadRules([{ action: "allow", tool: "look" }]);
  const script = [
    {
      content: [
        { type: "thinking" as const, thinking: `so ${secret}` },
        scriptedToolCall("look", { at: secret }),
      ],
    },
    `It says ${secret}, and the key is ${key}`,
  ];
  await using server = await gatewayWith(script, {
    tools: () => [tool],
    rules,
    secrets: [secret],
    pace: { deltaLength: 3 },
  });
  const [one, two] = [await server.client(), await server.client()];
  const { runId } = await one.call("chat.send", {
    sessionKey: "s",
    message: `My password is ${secret}`,
  });
  await one.end(runId);
  await two.call("chat.subscribe", { sessionKey: "s", runId });
  await two.end(runId);
  await two.call("chat.history", { sessionKey: "s" });
  await two.call("sessions.list", {});
  const sent = JSON.stringify([...one.frames, ...two.frames]);
  assert.equal(sent.includes(secret), false);
  assert.equal(sent.includes(key), false);
  assert.equal(one.text(runId), "It says [redacted], and the key is [redacted]");
});
