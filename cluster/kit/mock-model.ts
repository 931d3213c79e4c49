/** The model of the agents here: that of the server that counts outside. */
import type { Model } from "@bowline/core";

/** `outside` is the server's address. */
export function mockModel(outside: string): Model {
  return {
    id: "mock",
    name: "mock",
    api: "openai-chat",
    provider: "mock",
    baseUrl: `${outside}/v1`,
    reasoning: false,
    input: ["text"],
  };
}
