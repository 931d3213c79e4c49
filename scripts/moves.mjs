// npm run moves: a client moves between two gateways in the middle of a stream, 1,000 times by default.
// Needs nats-server. Exits with 1 if an event is missing, repeated or out of order.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startNats } from "../cluster/kit/nats.ts";
import { moveOften } from "../packages/cluster/test/support/moves.ts";

const moves = Number(process.argv[2] ?? 1000);
const folder = mkdtempSync(join(tmpdir(), "bowline-moves-"));
const nats = await startNats(folder);
try {
  const { events, snapshots } = await moveOften(nats.url, moves);
  console.log(`${moves} moves, ${events} events each once and in order, ${snapshots} snapshots`);
} finally {
  await nats[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
}
