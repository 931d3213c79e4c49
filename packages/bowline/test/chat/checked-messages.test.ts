/** Messages that hooks check while a run goes on: they wait in their place meanwhile. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { messageText } from "@bowline/core";
import { deferred } from "../../../../test/support/deferred.ts";
import { KEY, Talk } from "./converse.ts";

interface Checked {
  readonly talk: Talk;
  /** Ends the check of a message: with a reason, it is refused. */
  readonly checks: Map<string, (reason?: string) => void>;
  readonly seen: string[];
  /** Lets the first answer end. */
  readonly release: () => void;
}

/** A conversation in a run, whose later messages are checked until the test decides. */
async function begin(): Promise<Checked> {
  const gate = deferred();
  const checks = new Map<string, (reason?: string) => void>();
  const seen: string[] = [];
  const first = async (): Promise<string> => {
    await gate.promise;
    return "answer 1";
  };
  const talk = await Talk.begin([first, "answer 2", "answer 3", "answer 4"], {
    check: async (text) => {
      seen.push(text);
      if (text === "begin") return;
      const check = deferred<string | undefined>();
      checks.set(text, check.resolve);
      const reason = await check.promise;
      if (reason !== undefined) throw new Error(reason);
    },
  });
  talk.send("begin");
  await talk.until(() => talk.conversation.runtime.agent.state.isStreaming);
  return { talk, checks, seen, release: gate.resolve };
}

const asked = (talk: Talk): string[] =>
  talk.conversation.runtime.agent.state.messages.flatMap((one) =>
    one.role === "user" ? [messageText(one)] : [],
  );

test("a message waits while it is checked, and keeps its place", async () => {
  const { talk, checks, seen, release } = await begin();
  await using _ = talk;
  talk.send("one");
  talk.send("two");
  await talk.until(/1\. after this step: one\n2\. after this step: two/);
  await talk.until(() => checks.has("one"));
  assert.deepEqual(seen, ["begin", "one"], "one after the other");
  checks.get("one")?.();
  await talk.until(() => checks.has("two"));
  checks.get("two")?.();
  await talk.until(() => talk.conversation.queue.items.every(({ message }) => message));
  release();
  await talk.until(/answer [23]/);
  await talk.idle();
  assert.deepEqual(asked(talk), ["begin", "one", "two"]);
});

test("a message that is refused comes back to the draft, with the reason", async () => {
  const { talk, checks, release } = await begin();
  await using _ = talk;
  talk.send("secret plan");
  await talk.until(() => checks.has("secret plan"));
  talk.type("my draft");
  checks.get("secret plan")?.("A hook refused the message: no plans.");
  await talk.until(/A hook refused the message: no plans\./);
  assert.match(talk.editor.text(), /^secret plan\s+my draft$/);
  release();
  await talk.until(/answer 1/);
  await talk.idle();
  assert.deepEqual(asked(talk), ["begin"]);
});

test("a message that is removed while it is checked is not sent", async () => {
  const { talk, checks, release } = await begin();
  await using _ = talk;
  talk.send("one");
  await talk.until(() => checks.has("one"));
  talk.type(KEY.altUp);
  talk.type(KEY.ctrlX);
  checks.get("one")?.();
  release();
  await talk.until(/answer 1/);
  await talk.idle();
  assert.deepEqual(asked(talk), ["begin"]);
});

test("a message that is edited is checked again", async () => {
  const { talk, checks, seen, release } = await begin();
  await using _ = talk;
  talk.send("one");
  await talk.until(() => checks.has("one"));
  talk.type(KEY.altUp);
  talk.send(" more");
  checks.get("one")?.();
  await talk.until(() => checks.has("one more"));
  checks.get("one more")?.();
  await talk.until(() => talk.conversation.queue.items.every(({ message }) => message));
  release();
  await talk.until(/answer 2/);
  await talk.idle();
  assert.deepEqual(seen, ["begin", "one", "one more"]);
  assert.deepEqual(asked(talk), ["begin", "one more"]);
});

test("a message whose check outlives the run begins a run of its own", async () => {
  const { talk, checks, release } = await begin();
  await using _ = talk;
  talk.send("one");
  await talk.until(() => checks.has("one"));
  release();
  await talk.until(/answer 1/);
  await talk.idle();
  checks.get("one")?.();
  await talk.until(/answer 2/);
  await talk.idle();
  assert.deepEqual(asked(talk), ["begin", "one"]);
});
