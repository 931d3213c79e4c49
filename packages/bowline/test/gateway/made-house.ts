/**
 * A gateway on a free port with a function that creates agents, and clients of `bowline/client`.
 */
import { Agent, type AgentOptions } from "@bowline/core";
import {
  createScriptedModel,
  type ScriptedModelOptions,
  type ScriptedStep,
} from "@bowline/core/testing";
import { GatewayClient } from "bowline/client";
import { startGateway, type Gateway, type GatewayOptions, type MadeAgents } from "bowline/gateway";
import { WebSocket } from "ws";

export const token = "the-token-of-this-test";

export interface MadeHouse extends AsyncDisposable {
  readonly gateway: Gateway;
  client(token?: string): GatewayClient;
}

type HouseOptions = Partial<Extract<GatewayOptions, MadeAgents>>;

export async function madeHouse(
  agents: MadeAgents["agents"],
  options: HouseOptions = {},
): Promise<MadeHouse> {
  const entry = options.authorize === undefined ? { token } : {};
  const gateway = await startGateway({ ...entry, port: 0, agents, ...options });
  const clients: GatewayClient[] = [];
  return {
    gateway,
    client(own = token) {
      const client = new GatewayClient({ url: gateway.url, token: own, WebSocket });
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.close();
      await gateway.close();
    },
  };
}

/** Returns an agent whose model gives these answers. */
export function scripted(
  script: readonly ScriptedStep[],
  options: AgentOptions = {},
  pace: ScriptedModelOptions = {},
): Agent {
  const { model, streamFn } = createScriptedModel(script, pace);
  return new Agent({ model, streamFn, ...options });
}

/** Answers with the conversation so far: each message's role and text. */
export const whatWasSaid: ScriptedStep = ({ messages }) =>
  messages
    .map(({ role, content }) =>
      typeof content === "string"
        ? `${role}: ${content}`
        : `${role}: ${content.map((part) => ("text" in part ? part.text : part.type)).join("")}`,
    )
    .join(" | ");
