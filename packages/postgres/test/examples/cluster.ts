import { createPostgresStore } from "@bowline/postgres";

const store = createPostgresStore({ connectionString: process.env.DATABASE_URL });
const { durable } = store;
await durable.ensure({ id: "bill", createdAt: Date.now() });
const message = { role: "user", content: "Pay it." };
const about = { queue: "start", message, owner: "ada", maxOwned: 2 } as const;
await durable.push("bill", { ...about, id: "m-1", runId: "r-1" });
await durable.push("bill", { ...about, id: "m-2", runId: "r-2" });
try {
  await durable.push("bill", { ...about, id: "m-3", runId: "r-3" });
} catch (error) {
  console.log((error as Error).message);
}
console.log(await durable.cancel("bill", ["m-2"]));
console.log(await durable.claimRun("bill", "m-1", "r-1"));
console.log(await durable.claimRun("bill", "m-2", "r-2"));
const open = await durable.openRuns({ owner: "ada" });
console.log(
  open.map(({ runId, state }) => `${runId} is ${state}`),
  await durable.findRun("r-2"),
);
await store.close();

/* Prints:
2 runs are queued or running for this user, and 2 may be. Try again when one has ended.
[ { id: 'm-2', queue: 'start', runId: 'r-2' } ]
{ state: 'taken', runId: 'r-1' }
{ state: 'cancelled', runId: 'r-2' }
[ 'r-1 is queued' ] [ { sessionId: 'bill', state: 'ended', reason: 'cancelled' } ]
*/
