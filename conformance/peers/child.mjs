// Runs one client in a separate process: takes one case per message, and answers with the client's
// result.
import { clients } from "./clients.mjs";

const read = await clients[process.argv[2]].load();
// A failure that a client lets escape belongs to the case that is being read; the parent then
// starts another process.
let current;
for (const event of ["uncaughtException", "unhandledRejection"]) {
  process.on(event, (error) => {
    process.send({
      number: current,
      outcome: {
        text: "",
        calls: [],
        refused: 0,
        ended: "error",
        threw: `escaped: ${error?.message}`,
      },
    });
    process.send({ restart: true }, () => process.exit(1));
  });
}
process.on("message", (job) => void answer(job));
process.send({ ready: true });

async function answer(job) {
  current = job.number;
  const outcome = { text: "", calls: [], refused: 0, ended: "ok", threw: undefined };
  try {
    await read(job, outcome);
  } catch (error) {
    if (outcome.ran !== true) outcome.calls = [];
    outcome.ended = "error";
    outcome.threw = String(error?.message ?? error).slice(0, 300);
  }
  process.send({ number: job.number, outcome });
}
