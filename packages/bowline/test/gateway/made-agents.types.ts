/**
 * Type checks of functions that create agents, and of invalid options. Only the compiler reads this
 * file.
 */
import { Agent } from "@bowline/core";
import { Agent as SmallAgent } from "@bowline/core/agent";
import {
  createGateway,
  startGateway,
  type CreateAgent,
  type GatewayOptions,
  type MountOptions,
  type User,
} from "bowline/gateway";

const token = "a token";

export const one: MountOptions = {
  token,
  agents: (sessionKey, user) => {
    const key: string = sessionKey;
    const { id, sessions }: User = user;
    return new Agent({ systemPrompt: `${key} ${id} ${sessions}` });
  },
};
export const later: GatewayOptions = {
  token,
  port: 0,
  agents: async (sessionKey, { id = "" }) => new SmallAgent({ systemPrompt: sessionKey + id }),
};
export const several: GatewayOptions = {
  token,
  agents: {
    writer: (sessionKey) => new Agent({ systemPrompt: sessionKey }),
    reader: async (_sessionKey, user) =>
      new Agent<{ who: string }>({ context: { who: user.id ?? "" } }),
  },
};
export const list: GatewayOptions = {
  token,
  agents: () => [{ id: "assistant", model: "provider/model", description: "" }],
  backendFor: ({ model }) => {
    throw new Error(model);
  },
  systemPrompt: (sessionKey) => sessionKey,
};

const createAgent: CreateAgent = () => new Agent();

export const calls = [
  () =>
    createGateway({
      token,
      agents: (sessionKey, user) => new Agent({ systemPrompt: sessionKey + user.id }),
    }),
  () => startGateway({ token, agents: createAgent }),
  // @ts-expect-error -- the agent has its own tools
  () => createGateway({ token, agents: createAgent, tools: () => [] }),
  // @ts-expect-error -- the agent has its own prompt
  () => createGateway({ token, agents: createAgent, systemPrompt: () => "" }),
  // @ts-expect-error -- the agent has its own model
  () => createGateway({ token, agents: createAgent, providers: new Map() }),
  // @ts-expect-error -- the agent has its own model
  () => createGateway({ token, agents: createAgent, backendFor: () => ({}) }),
  // @ts-expect-error -- a list needs backendFor and systemPrompt
  () => createGateway({ token, agents: () => [{ id: "a", model: "b/c", description: "" }] }),
  // @ts-expect-error -- a function makes an Agent
  () => createGateway({ token, agents: () => ({}) }),
  // @ts-expect-error -- there is no such option
  () => createGateway({ token, agents: createAgent, limit: {} }),
  // @ts-expect-error -- there is no such limit
  () => createGateway({ token, agents: createAgent, limits: { maxTurn: 3 } }),
];
