/** Errors sent to clients contain no secrets and no folders of this machine. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { BowlineError } from "@bowline/core";
import { createMemoryStore } from "@bowline/core/session";
import { withAppend } from "../../../../test/support/with-append.ts";
import { createPendingFolder } from "../../src/gateway/runs/pending.ts";
import { createSecretFilter } from "../../src/secrets.ts";
import { temporary } from "../command.ts";
import { gatewayWith } from "./gateway.ts";

describe("the message of an error", () => {
  const filter = createSecretFilter(["hunter2-and-more"]);
  const told = (message: string, code = "storage_failed"): string =>
    filter.failure({ code, message }).message;

  it("contains only the name of an absolute path", () => {
    assert.equal(
      told("Writing /home/ann/.bowline/sessions/s.jsonl failed: there is no space left (ENOSPC)."),
      "Writing s.jsonl failed: there is no space left (ENOSPC).",
    );
    assert.equal(told("open 'C:\\Users\\ann\\x.json'"), "open 'x.json'");
    assert.equal(told("(~/.bowline/policy.json)"), "(policy.json)");
    assert.equal(told("file:///srv/app/index.js:3:1"), "index.js:3:1");
    assert.equal(told("read and/or write, 1/2, src/a.ts"), "read and/or write, 1/2, src/a.ts");
  });

  it("keeps the message of a model's server, with secrets redacted", () => {
    const said = "404: POST /v1/chat/completions, see https://example.com/docs/errors";
    assert.equal(told(said, "not_found"), said);
    assert.equal(told("the key hunter2-and-more", "server_error"), "the key [redacted]");
  });
});

it("a run whose session cannot be written reports no folder of the server", async () => {
  const store = withAppend(createMemoryStore(), () =>
    Promise.reject(
      new BowlineError("storage_failed", "Writing /home/ann/.bowline/s.jsonl failed: no room."),
    ),
  );
  await using server = await gatewayWith(["Hello."], { store });
  const client = await server.client();
  const { runId } = await client.call("chat.send", { sessionKey: "s", message: "Hi" });
  const { message, error } = await client.event("chat.error", runId);
  assert.equal(message, "Writing s.jsonl failed: no room.");
  assert.equal(error.message, message);
});

it("a message that cannot be stored is refused without naming the folder", async () => {
  await using home = await temporary();
  await mkdir(join(home.path, "data"));
  await writeFile(join(home.path, "data", "pending"), "a file in the place of the folder");
  await using server = await gatewayWith([], {
    pending: { ...createPendingFolder(join(home.path, "data", "pending")), list: async () => [] },
  });
  const client = await server.client();
  const refused = await client.call("chat.send", { sessionKey: "s", message: "Hi" }).then(
    () => assert.fail("taken"),
    ({ message }: Error) => message,
  );
  assert.match(refused, /^Writing [\da-f]+\.json failed/);
});
