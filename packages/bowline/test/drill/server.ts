/**
 * The gateway that is killed: `server.ts <{folder, token, port}>`. Its tools write their effects to
 * a ledger and sync it at once.
 */
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  toStreamFn,
  type ContentBlock,
  type Message,
  type ModelProvider,
} from "@bowline/compat/gateway";
import { BowlineError, defineTool, type AgentTool } from "@bowline/core";
import { createJsonlStore } from "@bowline/core/session/node";
import { createPendingFolder } from "../../src/gateway/runs/pending.ts";
import { loadRules } from "../../src/policy/rules.ts";
import { startGateway } from "../../src/gateway/server/server.ts";
import { answerParent } from "../gateway/forked.ts";
import { answerOf, taskOf } from "./task.ts";

interface Options {
  readonly folder: string;
  readonly token: string;
  readonly port: number;
}

async function serve({ folder, token, port }: Options): Promise<void> {
  const gateway = await startGateway({
    tokens: { full: token },
    store: createJsonlStore(join(folder, "sessions")),
    pending: createPendingFolder(join(folder, "pending")),
    // The tool "send" needs approval.
    rules: await loadRules(["pay", "look"].map((tool) => ({ action: "allow", tool }))),
    agents: () => [{ id: "assistant", model: "worker/worker", description: "Works." }],
    backendFor: ({ model }) =>
      Promise.reject(new BowlineError("invalid_argument", `There is no ${model}.`)),
    providers: new Map([["worker", toStreamFn(worker)]]),
    systemPrompt: () => "Work.",
    tools: () => ["pay", "look", "send"].map((name) => createTool(name, join(folder, "ledger"))),
    workspacePath: folder,
    port,
    // The drill kills the server very often, and no run is to blame, so restarts are unlimited.
    limits: { maxRuns: 8, maxRestarts: Infinity },
  });
  answerParent({ port: () => gateway.port, stop: () => gateway.close() });
}

/** Calls as many tools as the task says, one after the other, then answers with its words. */
const worker: ModelProvider = {
  id: "worker",
  async *chat({ messages }) {
    const from = messages.findLastIndex((message) =>
      textsOf(message).some((text) => taskOf(text) !== undefined),
    );
    const task = textsOf(messages[from])
      .flatMap((text) => taskOf(text) ?? [])
      .at(-1);
    const results = messages
      .slice(from)
      .flatMap(blocksOf)
      .filter(({ type }) => type === "tool_result").length;
    const said =
      task === undefined
        ? "There is nothing to do."
        : results < task.calls
          ? "One moment."
          : answerOf(task);
    for (const word of said.split(/(?<= )/)) {
      await sleep(4);
      yield { type: "delta", text: word };
    }
    if (task !== undefined && results < task.calls) {
      const name = ["pay", "look", "send"][results % 3] as string;
      yield {
        type: "tool_call",
        callId: `${task.name}-${results}`,
        name,
        input: { number: results },
      };
    }
    yield { type: "final", usage: { inputTokens: 1, outputTokens: 1 } };
  },
};

function blocksOf({ content }: Message): ContentBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function textsOf(message: Message | undefined): string[] {
  if (message?.role !== "user") return [];
  return blocksOf(message).flatMap((block) => (block.type === "text" ? [block.text] : []));
}

function createTool(name: string, ledger: string): AgentTool {
  return {
    ...defineTool({
      name,
      description: `The tool ${name}.`,
      parameters: {
        type: "object",
        properties: { number: { type: "number" } },
        required: ["number"],
      },
      async execute({ number }, { idempotencyKey }) {
        await sleep(Math.random() * 15);
        const file = openSync(ledger, "a");
        writeSync(file, `${name} ${idempotencyKey}\n`);
        fsyncSync(file);
        closeSync(file);
        await sleep(Math.random() * 15);
        return `${name} ${number}: done`;
      },
    }),
    replay: name === "look" ? "safe" : "never",
  };
}

const [options] = process.argv.slice(2);
if (options !== undefined) await serve(JSON.parse(options) as Options);
