// The gateway and its page below a path of your own server, for your own users, each with separate
// sessions.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent } from "@bowline/core";
import { createScriptedModel } from "@bowline/core/testing";
import { GatewayClient } from "bowline/client";
import { createGateway, createPage } from "bowline/gateway";

const { model, streamFn } = createScriptedModel([
  ({ systemPrompt }) => `Hello. I was told: ${systemPrompt}`,
]);
// replace it with a database, a signed token, …
const users = new Map([["the secret of Ann", "ann"]]);

const gateway = await createGateway({
  path: "/agents",
  page: createPage(), // at /agents/
  authorize(token) {
    const user = users.get(token);
    return user === undefined ? undefined : { scope: "full", sessions: `${user}/`, user };
  },
  agents: (_sessionKey, user) =>
    new Agent({ model, streamFn, systemPrompt: `You help ${user.id}.` }),
});

// Requests outside the path are yours. With Express call app(request, response), with Fastify the
// handler of its serverFactory.
const server = createServer((request, response) => {
  if (!gateway.handleRequest(request, response)) response.end("Your own page");
});
server.on("upgrade", (request, socket, head) => {
  if (!gateway.handleUpgrade(request, socket, head)) socket.destroy();
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

console.log(await (await fetch(url)).text());
console.log((await (await fetch(`${url}/agents/`)).text()).split("\n")[0]);

const ann = new GatewayClient({ url: `${url}/agents`, token: "the secret of Ann" });
console.log((await (await ann.send({ sessionKey: "ann/1", message: "Hi" })).result()).text);
await ann
  .request("chat.history", { sessionKey: "bob/1" })
  .catch(({ message }: Error) => console.log(message));
ann.close();
await gateway.close(); // the server keeps running
server.close();

/* Prints:
Your own page
<!doctype html>
Hello. I was told: You help ann.
The token is for sessions whose keys begin with "ann/".
*/
