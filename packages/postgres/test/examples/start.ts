import { Agent, getModel } from "@bowline/core";
import { attachSession, openSession } from "@bowline/core/session";
import { createPostgresStore } from "@bowline/postgres";

const store = createPostgresStore({ connectionString: process.env.DATABASE_URL });

const session = await openSession(store, "trip", { create: true, metadata: { user: "ada" } });
const agent = new Agent({
  model: getModel("openrouter", "openai/gpt-5-mini"),
  getApiKey: () => process.env.OPENROUTER_API_KEY,
});
await attachSession(agent, session); // from here on everything is stored
const run = await agent.prompt("Do I need an umbrella in Oslo?");
console.log(run.text);
await session.close();

const { sessions } = await store.searchTexts("umbrella");
console.log(sessions.map(({ id, title }) => `${id}: ${title}`));
await store.close();

/* Prints:
Take one.
[ 'trip: Do I need an umbrella in Oslo?' ]
*/
