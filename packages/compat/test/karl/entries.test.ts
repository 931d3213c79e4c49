/** karl's entries for a single wire. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { build } from "esbuild";
import * as messages from "../../src/karl/anthropic-messages.ts";
import * as chat from "../../src/karl/openai-chat.ts";
import { createScriptedModel } from "@bowline/core/testing";
import { code } from "../../../../test/support/error-code.ts";
import { strictServer } from "../../../../test/support/strict-server.ts";

const entries = {
  openai: { entry: chat, api: "openai-chat", other: "anthropic" },
  anthropic: { entry: messages, api: "anthropic-messages", other: "openai" },
} as const;

for (const [apiFormat, { entry, api, other }] of Object.entries(entries) as [
  keyof typeof entries,
  (typeof entries)[keyof typeof entries],
][]) {
  const config = { model: "m", baseUrl: "http://127.0.0.1:1/v1", apiKey: "k" };

  describe(`@bowline/compat/karl/${api}`, () => {
    // Requirements: K38, K48
    it("runs the loop and the runner with its wire", async () => {
      await using server = await strictServer(api, { text: "Hi." }, { text: "Done." });
      const { baseUrl } = server;
      const said: string[] = [];
      for await (const event of entry.agentLoop("", "Go", [], { ...config, baseUrl, apiFormat }))
        if (event.type === "text_end") said.push(event.text);
      const task = { ...config, baseUrl, task: "Go", providerType: apiFormat };
      said.push((await entry.runTask(task)).result);
      assert.deepEqual([said, server.problems], [["Hi.", "Done."], []]);
    });

    // Requirements: K38
    it("rejects the other format before sending anything, and names the right entry", async () => {
      const events = entry.agentLoop("", "Go", [], { ...config, apiFormat: other });
      const { value } = await events.next();
      assert.ok(value && "error" in value && code("invalid_argument")(value.error));
      assert.match(value.error.message, new RegExp(`"@bowline/compat/karl" for "${other}"`));
      const { result } = await entry.runTask({ ...config, task: "Go", providerType: other });
      assert.equal(result, value.error.message);
    });

    // Requirements: K38
    it("accepts any format with the caller's stream function", async () => {
      const { streamFn } = createScriptedModel(["Hi."]);
      const task = { ...config, task: "Go", providerType: other, streamFn };
      assert.equal((await entry.runTask(task)).result, "Hi.");
    });

    // Requirements: K5
    it("bundles no code of another wire", async () => {
      const { metafile } = await build({
        entryPoints: [`packages/compat/src/karl/${api}.ts`],
        absWorkingDir: `${import.meta.dirname}/../../../..`,
        conditions: ["@bowline/source"],
        bundle: true,
        format: "esm",
        metafile: true,
        write: false,
      });
      const [output] = Object.values(metafile.outputs);
      const wires = Object.entries(output?.inputs ?? {}).flatMap(([file, { bytesInOutput }]) => {
        const wire = /providers\/((?:openai|anthropic|google)-\w+)\//.exec(file)?.[1];
        return wire !== undefined && bytesInOutput > 0 ? [wire] : [];
      });
      assert.deepEqual([...new Set(wires)], [api]);
    });
  });
}
