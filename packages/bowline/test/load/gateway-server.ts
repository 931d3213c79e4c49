/** The gateway under load, as a separate process: `gateway-server.ts <{folder, token, shape}>`. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { toStreamFn, type ModelProvider } from "@bowline/compat/gateway";
import { createJsonlStore } from "@bowline/core/session/node";
import { createPendingFolder } from "../../src/gateway/runs/pending.ts";
import { startGateway } from "../../src/gateway/server/server.ts";
import { answerParent } from "../gateway/forked.ts";
import { startMeter } from "../gateway/meter.ts";
import { stamp, wordOf, type Shape } from "./shape.ts";

interface Options {
  readonly folder: string;
  readonly token: string;
  readonly shape: Shape;
}

const [options] = process.argv.slice(2);
if (options !== undefined) await serve(JSON.parse(options) as Options);

async function serve({ folder, token, shape }: Options): Promise<void> {
  const { deltas, paceMs, runs } = shape;
  const provider: ModelProvider = {
    id: "paced",
    /** The message contains the run's name and the width of its words. */
    async *chat({ messages }) {
      const [label = "", width = "40"] = JSON.stringify(messages.at(-1)?.content)
        .split(/[" ]/)
        .slice(1);
      const from = performance.now();
      for (let index = 0; index < deltas; index++) {
        await sleep(Math.max(0, from + index * paceMs - performance.now()));
        yield { type: "delta", text: wordOf(label, index, stamp(), Number(width)) };
      }
      yield { type: "final", usage: { inputTokens: 1, outputTokens: deltas } };
    },
  };
  const gateway = await startGateway({
    tokens: { full: token },
    store: createJsonlStore(join(folder, "sessions")),
    pending: createPendingFolder(join(folder, "pending")),
    agents: () => [{ id: "assistant", model: "paced/paced", description: "Counts." }],
    backendFor: () => Promise.reject(new Error("never asked")),
    providers: new Map([["paced", toStreamFn(provider)]]),
    systemPrompt: () => "Count.",
    workspacePath: folder,
    port: 0,
    limits: { maxRuns: runs * 2 },
  });
  const measure = startMeter();
  answerParent({ port: () => gateway.port, measure });
}
