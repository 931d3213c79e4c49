/** Random runs as chunks. `npm run ui` reads more of them with the client of the AI SDK. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { toUIMessageStream } from "../../src/ui-stream/index.ts";
import { checkGrammar } from "./grammar.ts";
import { agentFor, answerByPlan, plans, secret } from "./random-run.ts";
import { sweep } from "../../../../test/support/sweep.ts";

describe("a random run", () => {
  it("is a stream of chunks that fits the protocol's grammar and shows no error's text", async () => {
    const property = fc.asyncProperty(plans, async (plan) => {
      const agent = agentFor(plan);
      answerByPlan(agent);
      const run = agent.stream("Go");
      const options = { reasoning: plan.hasReasoning };
      const chunks = await Array.fromAsync(toUIMessageStream(run, options));
      checkGrammar(chunks);
      assert.ok(!JSON.stringify(chunks).includes(secret));
    });
    await fc.assert(property, { numRuns: sweep({ long: 100, short: 30 }) });
  });
});
