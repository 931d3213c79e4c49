import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isAboutKey, keyAdvice } from "../src/models/key-advice.ts";
import { loopback, type Handler } from "../../../test/support/loopback.ts";
import { bowline } from "./command.ts";

const secret = "sk-very-secret";

const refusing =
  (status: number, message: string): Handler =>
  (response) =>
    response
      .writeHead(status, { "content-type": "application/json" })
      .end(JSON.stringify({ error: { message } }));
const noKey = refusing(401, "Who are you?");

/** Returns the last error line of the command. */
async function said(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await bowline(args, { env });
  assert.equal(code, 1, stderr);
  assert.equal((stdout + stderr).includes(secret), false);
  return (
    stderr
      .trimEnd()
      .split("\n")
      .findLast((line) => line.startsWith("bowline: ")) ?? ""
  );
}

describe("a request that is refused because no key was sent", () => {
  it("names the variable that holds the vendor's key", async () => {
    await using server = await loopback(noKey);
    for (const json of [[], ["--json"]]) {
      const line = await said([
        "run",
        "--model",
        "openai/m",
        "--base-url",
        server.baseUrl,
        ...json,
        "hi",
      ]);
      assert.match(
        line,
        /Who are you\?.* No key was sent\. Set OPENAI_API_KEY, or name another .* --api-key-env\.$/,
      );
    }
  });

  it("names the option when the vendor is unknown", async () => {
    await using server = await loopback(noKey);
    const line = await said(["run", "--model", "m", "--base-url", server.baseUrl, "hi"]);
    assert.match(
      line,
      /No key was sent. Pass one with --api-key-env <name>, the environment variable that holds it\.$/,
    );
  });

  it("is explained also when even the list of models is refused", async () => {
    await using server = await loopback(noKey);
    const line = await said(["run", "--base-url", server.baseUrl, "hi"]);
    assert.match(
      line,
      /wants a key \(HTTP 401 for the model list\)\. No key was sent. Pass one with --api-key-env <name>/,
    );
  });
});

describe("a rejected key", () => {
  it("is named by the variable it came from, and never printed", async () => {
    await using server = await loopback(refusing(401, `Incorrect API key provided: ${secret}`));
    const at = ["run", "--base-url", server.baseUrl];
    const ofVendor = await said([...at, "--model", "openai/m", "hi"], { OPENAI_API_KEY: secret });
    assert.match(
      ofVendor,
      /\[key\]\. The key came from the variable OPENAI_API_KEY\. Set another key there, or name another/,
    );
    const named = await said([...at, "--model", "openai/m", "--api-key-env", "MINE", "hi"], {
      MINE: secret,
    });
    assert.match(named, /The key came from the variable MINE\. /);
    const listing = await said([...at, "--api-key-env", "MINE", "hi"], { MINE: secret });
    assert.match(
      listing,
      /refused the key \(HTTP 401 for the model list\)\. The key came from the variable MINE\. /,
    );
  });

  it("is recognised by other wording than a 401, too; other failures do not mention the key", () => {
    const error = (code: string, message: string) => ({ code, message, retryable: false }) as never;
    assert.equal(
      isAboutKey(error("invalid_request", "API key not valid. Please pass a valid API key.")),
      true,
    );
    assert.equal(isAboutKey(error("permission_denied", "No access.")), true);
    assert.equal(isAboutKey(error("invalid_request", "The monkey is not valid.")), false);
    assert.equal(isAboutKey(error("rate_limited", "This API key has asked too often.")), false);
  });
});

describe("bowline doctor", () => {
  it("names the variable of the key it used, or says how to pass one", async () => {
    await using server = await loopback(noKey);
    assert.match(
      await said(["doctor", server.baseUrl]),
      /^bowline: No key was sent. Pass one with --api-key-env <name>/,
    );
    const named = await said(["doctor", server.baseUrl, "--api-key-env", "MINE"], { MINE: secret });
    assert.match(named, /^bowline: The key came from the variable MINE\. /);
  });

  it("finds the vendor's variable by the address", () => {
    const advice = keyAdvice({ isSet: false, baseUrl: "https://api.groq.com/openai/v1/" });
    assert.equal(advice, "No key was sent. Pass one with --api-key-env GROQ_API_KEY.");
  });
});
