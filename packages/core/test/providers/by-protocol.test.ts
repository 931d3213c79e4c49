/** The default stream function checks what it is given before it sends anything. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { getModel, streamByProtocol } from "../../src/index.ts";
import { code } from "../../../../test/support/error-code.ts";
import { apis, hello } from "../support.ts";

it("an invalid tool schema is refused by the tool's name, and nothing is sent", async () => {
  for (const api of apis) {
    let requests = 0;
    const fetch = async (): Promise<Response> => {
      requests++;
      return new Response("{}", { status: 400 });
    };
    const model = getModel("custom", "m", { baseUrl: "http://127.0.0.1:1/v1", api });
    const parameters = { type: "object", properties: { path: { type: "strng" } } };
    const tools = [{ name: "look", description: "Looks.", parameters }];
    const sent = async (): Promise<unknown> =>
      streamByProtocol(model, { messages: [hello], tools }, { fetch, maxRetries: 0 });
    await assert.rejects(sent, (error: Error) => {
      assert.match(error.message, /tool "look" are not a valid JSON Schema/);
      return code("invalid_argument")(error);
    });
    assert.equal(requests, 0, api);
  }
});
