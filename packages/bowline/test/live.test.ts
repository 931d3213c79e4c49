/**
 * Tests with real services and the developer's keys: `BOWLINE_LIVE=1 npm test -- live.test`. A
 * service without a key is skipped. Without `BOWLINE_LIVE` all are skipped, so that no key is
 * charged by accident. `BOWLINE_LIVE_BASE_URL` and `BOWLINE_LIVE_MODEL` add another server. The
 * base URLs of vendors can be set as for `bowline serve`.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { messageText, vendors } from "@bowline/core";
import { ClaudeProvider, Runner, ToolRegistry } from "@bowline/compat/codelet";
import {
  agentLoop,
  type AgentEvent,
  type AgentLoopConfig,
  type ToolDefinition,
} from "@bowline/compat/karl";
import { createTools } from "bowline/tools";
import { temporary } from "./command.ts";

const set = (name: string): string => process.env[name]?.trim() ?? "";

/** Why a test is skipped, or false. */
function without(...names: string[]): string | false {
  const unset = ["BOWLINE_LIVE", ...names].filter((name) => set(name) === "");
  return unset.length > 0 && `not set: ${unset.join(", ")}`;
}

interface Service extends Pick<AgentLoopConfig, "apiFormat" | "apiKey" | "baseUrl"> {
  readonly name: string;
  readonly models: readonly string[];
  readonly skip: string | false;
}

/** Uses the vendor's default model unless models are given. */
function vendorService(id: string, apiFormat: Service["apiFormat"], ...models: string[]): Service {
  const vendor = vendors.find((row) => row.id === id);
  const { name = "", baseUrl = "", keyVariable = "", defaultModel = "" } = vendor ?? {};
  if (models.length === 0) models.push(defaultModel);
  const moved = set(keyVariable.replace("_API_KEY", "_BASE_URL"));
  return {
    name,
    apiFormat,
    models,
    apiKey: set(keyVariable),
    baseUrl: moved || baseUrl,
    skip: without(keyVariable),
  };
}

const claude = vendorService("anthropic", "anthropic");
const services: readonly Service[] = [
  vendorService("openai", "openai", "gpt-4o"),
  vendorService(
    "openrouter",
    "openai",
    "openai/gpt-4o",
    "anthropic/claude-sonnet-4",
    "meta-llama/llama-3.3-70b-instruct",
  ),
  claude,
  {
    name: "a server of one's own",
    apiFormat: "openai",
    apiKey: set("BOWLINE_LIVE_API_KEY"),
    baseUrl: set("BOWLINE_LIVE_BASE_URL"),
    models: [set("BOWLINE_LIVE_MODEL") || "any model"],
    skip: without("BOWLINE_LIVE_BASE_URL", "BOWLINE_LIVE_MODEL"),
  },
];

describe("karl's loop", () => {
  for (const { name, models, skip, ...where } of services) {
    for (const model of models) {
      it(
        // Requirements: K4, K53
        `runs a tool called by ${name}, ${model}, and returns its result`,
        { skip, timeout: 120_000 },
        async () => {
          const word = randomUUID().slice(0, 8);
          const tool: ToolDefinition = {
            name: "todays_word",
            description: "Gives the word of today, which nobody can guess.",
            parameters: { type: "object", properties: {} },
            execute: async () => ({ content: [{ type: "text", text: word }] }),
          };
          const kinds: AgentEvent["type"][] = [];
          const events = agentLoop("Be brief.", "What is the word of today?", [tool], {
            model,
            ...where,
          });
          let step = await events.next();
          for (; step.done !== true; step = await events.next()) kinds.push(step.value.type);
          assert.match(messageText(step.value), new RegExp(word, "i"));
          assert.deepEqual([kinds[0], kinds.at(-1)], ["stream_start", "turn_end"]);
          assert.ok(
            kinds.includes("text_delta") && kinds.includes("tool_execution_end"),
            kinds.join(" "),
          );
        },
      );
    }
  }
});

describe("codelet's runner", () => {
  it(
    // Requirements: C26
    "lets Claude read and write files and run a command",
    { skip: claude.skip, timeout: 180_000 },
    async () => {
      await using folder = await temporary();
      await writeFile(join(folder.path, "a.txt"), "a round turn");
      const tools = createTools({ root: folder.path, only: ["read", "write", "bash"] }).map(
        (tool) => {
          return { ...tool, name: tool.label ?? tool.name };
        },
      );
      const { apiKey, baseUrl, models } = claude;
      const provider = new ClaudeProvider(apiKey, models[0] ?? "", { baseUrl });
      const runner = Runner.withProvider(provider, {
        tools: ToolRegistry.default(tools),
        budget: { maxTurns: 12 },
      });
      const messages = await runner.run(
        "Read a.txt, write its text in capital letters to b.txt, then run `cat b.txt` and tell me what it printed.",
      );
      assert.match(await readFile(join(folder.path, "b.txt"), "utf8"), /A ROUND TURN/);
      const used = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
      assert.deepEqual(
        new Set(used.flatMap((part) => (part.type === "toolUse" ? [part.name] : []))),
        new Set(["Read", "Write", "Bash"]),
      );
      assert.match(JSON.stringify(messages.at(-1)), /A ROUND TURN/);
    },
  );
});
