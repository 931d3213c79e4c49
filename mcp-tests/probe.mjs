// The client that the conformance suite runs: `node mcp-tests/probe.mjs <url>`. It connects by
// @bowline/mcp, lets an agent call each tool that the scenario offers, and ends. What the suite passes
// in the environment says which scenario it is, and what the tools' arguments are.
import { connectMcp } from "@bowline/mcp";
import { Agent } from "@bowline/core";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import { providerOf, settle } from "./oauth.mjs";

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const provider = scenario.startsWith("auth/") ? await providerOf(scenario, context) : undefined;

const mcp = await connectMcp({
  servers: { test: { type: "http", url } },
  needsApproval: false,
  auth: () => provider,
  elicit: async () => ({ action: "accept", content: {} }),
  onEvent: (event) => console.error(JSON.stringify(event)),
  clientInfo: { name: "bowline-conformance", version: "0.1.0" },
});
// A server may want another authorization once it has the first.
for (let left = 3; left > 0 && (await settle(mcp, provider)); left--);
const calls =
  context.toolCalls ??
  mcp.tools.map(({ name, parameters }) => ({ name, arguments: argumentsOf(name, parameters) }));
for (const call of calls) {
  const name = call.name.startsWith("test__") ? call.name : `test__${call.name}`;
  for (let left = 3; left > 0; left--) {
    const { model, streamFn } = createScriptedModel([
      { content: [scriptedToolCall(name, call.arguments ?? {})], stopReason: "toolUse" },
      "done",
    ]);
    const agent = new Agent({ model, streamFn, tools: mcp.tools });
    await agent.prompt("go");
    const result = agent.state.messages.find(({ role }) => role === "toolResult");
    console.error(JSON.stringify(result?.content).slice(0, 500));
    // A call that the server refused for want of a scope is repeated by a person, once it is granted.
    if (!(await settle(mcp, provider))) break;
  }
}
await mcp.close();

/** The arguments of a tool: an example, or another tool's schema for the one that wants it back. */
function argumentsOf(name, parameters) {
  const seen = mcp.tools.find((tool) => tool.name === "test__json_schema_2020_12_tool");
  const isEcho = seen !== undefined && "schema" in (parameters.properties ?? {});
  return isEcho ? { schema: seen.parameters } : example(parameters);
}

/** A value that fits the schema, as far as the scenarios need it. */
function example({ type, properties = {}, required = [], enum: values, const: only }) {
  if (only !== undefined) return only;
  if (values) return values[0];
  switch ([type].flat()[0]) {
    case "object":
      return Object.fromEntries(required.map((name) => [name, example(properties[name] ?? {})]));
    case "array":
      return [];
    case "number":
    case "integer":
      return 1;
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return "text";
  }
}
