/** The same scenarios over one process and over two gateways of a cluster. */
import { after, before, describe, it } from "node:test";
import { createMemoryStore } from "@bowline/core/session";
import { startGateway } from "bowline/gateway";
import { TestClient } from "../../packages/bowline/test/gateway/gateway.ts";
import { startClusterRig, token, type ClusterRig } from "../kit/cluster-rig.ts";
import { clusterIsMissing } from "../kit/harness.ts";
import { natsIsMissing } from "../kit/nats.ts";
import { startOutside, type Outside, type Turn } from "../kit/outside.ts";
import { createScriptedAgent } from "../kit/scripted-agent.ts";
import { scenarios, type Scene } from "./scenarios.ts";

async function play(
  title: string,
  { urls, outside }: { readonly urls: readonly [string, string]; readonly outside: Outside },
): Promise<void> {
  const [one, two] = await Promise.all([
    TestClient.enter(urls[0].replace("http", "ws"), token, "all"),
    TestClient.enter(urls[1].replace("http", "ws"), token, "all"),
  ]);
  const say = (name: string, turns: readonly Turn[]): string =>
    outside.script(
      name,
      turns.map(({ calls, ...turn }) => ({
        ...turn,
        ...(calls && {
          calls: calls.map((call) => ({ ...call, args: { script: name, ...call.args } })),
        }),
      })),
    );
  const scene: Scene = { one, two, urls, token, outside, say };
  try {
    await scenarios.find((scenario) => scenario.title === title)?.play(scene);
  } finally {
    one.socket.terminate();
    two.socket.terminate();
  }
}

describe("one process", () => {
  let outside: Outside;
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  before(async () => {
    outside = await startOutside();
    gateway = await startGateway({
      port: 0,
      token,
      store: createMemoryStore(),
      agents: (_key, user) =>
        createScriptedAgent(outside.url, `You help ${user.id ?? "somebody"}.`),
      workspacePath: "/work",
    });
  });
  after(async () => {
    await gateway.close();
    await outside[Symbol.asyncDispose]();
  });
  for (const { title } of scenarios)
    it(title, () => play(title, { urls: [gateway.url, gateway.url], outside }));
});

describe("a cluster", { skip: clusterIsMissing() || natsIsMissing() }, () => {
  let rig: ClusterRig;
  let urls: readonly [string, string];
  before(async () => {
    rig = await startClusterRig();
    await rig.addWorker();
    const [one, two] = [await rig.addGateway(), await rig.addGateway()];
    urls = [one.url, two.url];
  });
  after(() => rig[Symbol.asyncDispose]());
  for (const { title } of scenarios) it(title, () => play(title, { urls, outside: rig.outside }));
});
