/**
 * The gateway that is attacked, as a separate process: `server.ts <{folder, tokens}>`. Its model
 * answers at once and its store uses files.
 */
import { join } from "node:path";
import { toStreamFn, type ModelProvider } from "@bowline/compat/gateway";
import { BowlineError } from "@bowline/core";
import { createJsonlStore } from "@bowline/core/session/node";
import { startGateway } from "../../src/gateway/server/server.ts";
import { createPendingFolder } from "../../src/gateway/runs/pending.ts";
import type { Tokens } from "../../src/gateway/access/tokens.ts";
import { createPage } from "../../src/page/node/page.ts";
import { answerParent } from "../gateway/forked.ts";
import { startMeter } from "../gateway/meter.ts";

const [options] = process.argv.slice(2);
if (options !== undefined) await serve(JSON.parse(options) as Options);

interface Options {
  readonly folder: string;
  readonly tokens: Tokens;
}

async function serve({ folder, tokens }: Options): Promise<void> {
  // The server must print nothing, whatever is sent. Libraries might.
  let printed = "";
  for (const stream of [process.stdout, process.stderr]) {
    stream.write = (chunk: string | Uint8Array): boolean => {
      if (printed.length < 2000) printed += chunk.toString();
      return true;
    };
  }
  const provider: ModelProvider = {
    id: "parrot",
    async *chat({ messages }) {
      const { content = "" } = messages.at(-1) ?? {};
      for (const text of ["You said ", JSON.stringify(content).slice(0, 100), "."])
        yield { type: "delta", text };
      yield { type: "final", usage: { inputTokens: 1, outputTokens: 3 } };
    },
  };
  const gateway = await startGateway({
    tokens,
    store: createJsonlStore(join(folder, "sessions")),
    pending: createPendingFolder(join(folder, "pending")),
    agents: () => [{ id: "assistant", model: "parrot/parrot", description: "Repeats." }],
    backendFor: ({ model }) =>
      Promise.reject(new BowlineError("invalid_argument", `There is no ${model}.`)),
    providers: new Map([["parrot", toStreamFn(provider)]]),
    systemPrompt: () => "Repeat.",
    workspacePath: folder,
    port: 0,
    page: createPage(),
    // Most input has a wrong token, so failures are unlimited. Few ended runs are kept, so that
    // memory levels off soon.
    limits: { maxAuthFailures: Number.MAX_SAFE_INTEGER, maxEnded: 50, closeGraceMs: 1000 },
  });
  const measure = startMeter();
  const sockets = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
  answerParent({
    port: () => gateway.port,
    measure,
    sockets,
    printed: () => printed,
    close: () => gateway.close(),
  });
}
