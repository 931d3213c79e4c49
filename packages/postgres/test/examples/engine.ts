import { createPostgresStore, isSessionFenced } from "@bowline/postgres";

const store = createPostgresStore({ connectionString: process.env.DATABASE_URL });
const { durable } = store;
await durable.ensure({ id: "order", createdAt: Date.now() });

// A client's message begins a run once, also if the client sends it again.
const { runId } = await durable.claimRun("order", "message-1", "run-1");
await durable.push("order", { id: "message-2", queue: "steering", message: { role: "user" } });

// Each attempt takes an epoch. An earlier attempt is refused from then on.
const first = await durable.takeEpoch("order");
const second = await durable.takeEpoch("order");
const start = { key: `${runId}:start`, body: { type: "run_start", runId } } as const;
try {
  await durable.append("order", first, [start]);
} catch (error) {
  console.log(isSessionFenced(error), "fenced");
}
const [entry] = await durable.append("order", second, [start]);
const [again] = await durable.append("order", second, [start]);
console.log(entry?.seq, again?.seq, again?.id);
const messages = await durable.drain("order", second, { runId, name: "turn-1" });
console.log(
  messages.map(({ id }) => id),
  await durable.pending("order"),
);
await store.close();

/* Prints:
true fenced
0 0 run-1:start
[ 'message-2' ] 0
*/
