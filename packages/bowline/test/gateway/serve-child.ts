/**
 * The gateway as a child process, for tests that kill it. Prints its address as JSON, then the
 * lines for a person.
 */
import { serve } from "../../src/serve/serve.ts";

const [options = "{}"] = process.argv.slice(2);
const lines: string[] = [];
const served = await serve({
  ...(JSON.parse(options) as object),
  envFile: "nothing",
  print: (line) => lines.push(line),
});
process.stdout.write(`${JSON.stringify({ url: served.url, token: served.token, lines })}\n`);
process.once("SIGTERM", () => void served.close().then(() => process.exit(0)));
