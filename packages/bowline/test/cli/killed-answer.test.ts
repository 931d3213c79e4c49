/** `bowline run` that is killed while its answer streams, and continued. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chatText, loopback, type Handler } from "../../../../test/support/loopback.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { bowline, temporary } from "../command.ts";

describe("a run that is killed while its answer streams", () => {
  it("keeps the text, says so, and sends it on when it is continued", async () => {
    await using folder = await temporary();
    const said = deferred();
    const cut: Handler = async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"The tide"}}]}\n\n');
      said.resolve();
    };
    await using server = await loopback(cut, chatText("is high at two."));
    const env = { BOWLINE_HOME: folder.path };
    const args = ["--base-url", server.baseUrl, "--model", "m"];
    const killed = await bowline(["run", ...args, "--session", "tides", "--json", "When?"], {
      cwd: folder.path,
      env,
      watch: (child) => {
        let shown = "";
        // Standard output is written after the session.
        child.stdout?.on("data", (text: string) => {
          shown += text;
          if (shown.includes("text_delta")) setTimeout(() => child.kill("SIGKILL"), 200);
        });
      },
    });
    await said.promise;
    assert.equal(killed.code, null, killed.stderr);
    const run = await bowline(["run", "--session", "tides"], { cwd: folder.path, env });
    assert.equal(run.code, 0, run.stderr);
    assert.match(
      run.stderr,
      /after 0 answers of the model; 8 characters of the next one are kept\./,
    );
    const { messages } = JSON.parse(server.requests[1]?.body ?? "") as {
      messages: { role: string; content: string }[];
    };
    assert.deepEqual(messages.slice(1), [
      { role: "user", content: "When?" },
      { role: "assistant", content: "The tide" },
      {
        role: "user",
        content: "[The answer above is incomplete. The answer was cut: its process ended.]",
      },
    ]);
    const shown = await bowline(["sessions", "show", "tides"], { env });
    assert.equal(shown.stdout.split("The tide").length, 2, shown.stdout);
  });
});
