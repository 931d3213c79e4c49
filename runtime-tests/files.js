// Tests what needs a file system, on Node, Bun and Deno: sessions in files, which one process
// writes at a time, and the fetch over undici. `run.mjs` locks the session `held` of the folder.
// Throws, or prints "ok".
import { deepStrictEqual } from "node:assert";
import { createUndiciFetch } from "@bowline/core/undici";
import { createSession, openSession } from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";

const [origin, folder] = process.argv.slice(2);

const store = createJsonlStore(folder);
const session = await createSession(store);
await session.append({
  type: "message",
  message: { role: "user", content: "Grüße 🌍", timestamp: 1 },
});
await session.close();
const again = await openSession(store, session.id);
deepStrictEqual(
  (await again.allMessages()).map(({ content }) => content),
  ["Grüße 🌍"],
);
await again.close();
const { sessions } = await store.list();
deepStrictEqual(sessions.map(({ id }) => id).includes(session.id), true);
await store.delete(session.id);

const refused = await openSession(store, "held").then(
  () => "taken from the one who writes",
  ({ code }) => code,
);
deepStrictEqual(refused, "session_locked");
const reader = await openSession(store, "held", { readOnly: true });
deepStrictEqual(await reader.allMessages(), []);
await reader.close();

const init = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: "{}",
  redirect: "manual",
};
const answer = await createUndiciFetch()(`${origin}/whole`, init);
deepStrictEqual((await answer.text()).includes("Hello."), true);
console.log("ok");
process.exit(); // otherwise the pooled connection keeps the process alive
