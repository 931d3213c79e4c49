/** Waiting messages: each is edited, moved and removed alone, and nothing typed is lost. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { messageText } from "@bowline/core";
import { deferred } from "../../../../test/support/deferred.ts";
import { KEY, Talk, type TalkOptions } from "./converse.ts";

interface Held {
  readonly talk: Talk;
  /** Lets the first answer end. */
  readonly release: () => void;
}

/** A conversation whose first answer waits. The later ones are "answer 2", "answer 3", … */
async function held(
  messages: readonly string[],
  options: TalkOptions = {},
  moment: "\r" | "\u001b\r" = KEY.enter,
): Promise<Held> {
  const gate = deferred();
  const later = Array.from({ length: 8 }, (_, index) => `answer ${index + 2}`);
  const first = async (): Promise<string> => {
    await gate.promise;
    return "answer 1";
  };
  const talk = await Talk.begin([first, ...later], options);
  talk.send("begin");
  await talk.until(() => talk.conversation.runtime.agent.state.isStreaming);
  for (const text of messages) {
    talk.type(text);
    talk.type(moment);
  }
  await talk.until(() => talk.conversation.queue.items.length === messages.length);
  return { talk, release: () => gate.resolve() };
}

/** The texts that the model got after the first, in order. */
async function sent(talk: Talk, release: () => void, last: RegExp): Promise<string[]> {
  release();
  await talk.until(last);
  await talk.idle();
  const { messages } = talk.conversation.runtime.agent.state;
  return messages.flatMap((one) => (one.role === "user" ? [messageText(one)] : [])).slice(1);
}

const waiting = (talk: Talk): string[] =>
  talk.conversation.queue.items.map(({ id, moment, draft }) => `${id} ${moment} ${draft.text}`);

test("any waiting message is edited in its place, and the draft in progress comes back", async () => {
  const { talk, release } = await held(["one", "two", "three"]);
  await using _ = talk;
  talk.type("my draft");
  talk.type(KEY.altUp);
  talk.type(KEY.altUp);
  const shown = await talk.until(/your draft waits: my draft/);
  assert.match(shown, /1\. after this step: one\n2\. \(in the draft, after this step\)\n3\. after/);
  assert.equal(talk.editor.text(), "two");
  talk.send(", edited");
  assert.equal(talk.editor.text(), "my draft");
  assert.deepEqual(waiting(talk), ["1 steering one", "2 steering two, edited", "3 steering three"]);
  assert.deepEqual(await sent(talk, release, /answer 4/), ["one", "two, edited", "three"]);
  assert.equal(talk.editor.text(), "my draft");
});

test("Alt-Up and Alt-Down go through the messages, keep each change, and end at the draft", async () => {
  const { talk, release } = await held(["one", "two", "three"]);
  await using _ = talk;
  talk.type("mine");
  for (const text of ["!", "?", "."]) {
    talk.type(KEY.altUp);
    talk.type(text);
  }
  talk.type(KEY.altUp); // there is none above the first
  assert.equal(talk.editor.text(), "one.");
  talk.type(KEY.altDown);
  assert.equal(talk.editor.text(), "two?");
  talk.type(KEY.altDown);
  talk.type(KEY.altDown);
  assert.equal(talk.editor.text(), "mine");
  assert.deepEqual(await sent(talk, release, /answer 4/), ["one.", "two?", "three!"]);
});

test("Ctrl-X removes the edited message alone; its text is in the history", async () => {
  const { talk, release } = await held(["one", "two", "three"]);
  await using _ = talk;
  talk.type("mine");
  talk.type(KEY.ctrlX); // nothing is edited
  talk.type(KEY.altUp);
  talk.type(KEY.altUp);
  talk.type(" with a change");
  talk.type(KEY.ctrlX);
  await talk.until(/Message 2 is removed\. It is in the history/);
  assert.equal(talk.editor.text(), "mine");
  assert.deepEqual(waiting(talk), ["1 steering one", "3 steering three"]);
  talk.type(KEY.up);
  assert.equal(talk.editor.text(), "two with a change");
  talk.type(KEY.down);
  assert.deepEqual(await sent(talk, release, /answer 3/), ["one", "three"]);
});

test("keeps the moment of an edited message with Enter, and changes it with Alt-Enter", async () => {
  const { talk, release } = await held(["one", "two"], {}, KEY.altEnter);
  await using _ = talk;
  talk.type(KEY.altUp);
  talk.send("!");
  assert.deepEqual(waiting(talk), ["1 followUp one", "2 followUp two!"]);
  talk.type(KEY.altUp);
  talk.type(KEY.altEnter);
  assert.deepEqual(waiting(talk), ["2 steering two!", "1 followUp one"]);
  assert.deepEqual(await sent(talk, release, /answer 3/), ["two!", "one"]);
});

test("a message in the draft is not taken by the run, and is sent at once when the run has ended", async () => {
  const { talk, release } = await held(["one", "two"]);
  await using _ = talk;
  talk.type(KEY.altUp);
  assert.deepEqual(await sent(talk, release, /answer 2/), ["one"]);
  await talk.until(/Enter sends it · Ctrl-X removes it/);
  talk.send(" now");
  assert.deepEqual(await sent(talk, release, /answer 3/), ["one", "two now"]);
  assert.deepEqual(waiting(talk), []);
});

test("a message that the run has taken cannot be edited or removed, and the screen says so", async () => {
  const { talk, release } = await held(["one", "two"]);
  await using _ = talk;
  const { agent } = talk.conversation.runtime;
  const [first] = talk.conversation.queue.items;
  assert.equal(agent.unqueue(first?.message ?? { role: "user", content: "", timestamp: 0 }), true); // as a run takes it
  talk.type("mine");
  talk.type(KEY.altUp);
  talk.type(KEY.altUp);
  await talk.until(/Message 1 is on its way: the run has taken it\./);
  assert.equal(talk.editor.text(), "two"); // still edited
  talk.type(KEY.altDown);
  assert.equal(talk.editor.text(), "mine");
  talk.type(KEY.ctrlU);
  talk.send("/queue remove 1");
  await talk.until((shown) => shown.split("Message 1 is on its way").length === 2);
  talk.send("/queue edit 1 changed");
  await talk.until(() => talk.editor.text() === "changed");
  talk.type(KEY.ctrlU);
  assert.deepEqual(await sent(talk, release, /answer 2/), ["two"]);
  talk.send("/queue remove 2");
  await talk.until(/Message 2 waits no more: it was sent or removed\./);
});

test("an interrupt gives back the edited message in its place, and the draft after all", async () => {
  const { talk } = await held(["one", "two", "three"]);
  await using _ = talk;
  talk.type("mine");
  talk.type(KEY.altUp);
  talk.type(KEY.altUp);
  talk.type(" changed");
  await talk.until(/your draft waits/);
  talk.type(KEY.escape);
  await talk.until(/^interrupted/m);
  await talk.idle();
  assert.equal(talk.editor.text(), "one\ntwo changed\nthree\nmine");
  assert.equal(talk.editor.aside, undefined);
  assert.deepEqual(waiting(talk), []);
  assert.equal(talk.model.calls.length, 1);
});

test("a message that was emptied stays as it was, until Ctrl-X", async () => {
  const { talk, release } = await held(["one", "two"]);
  await using _ = talk;
  talk.type(KEY.altUp);
  talk.type(KEY.ctrlU);
  talk.type(KEY.enter);
  talk.type(KEY.altDown);
  assert.deepEqual(waiting(talk), ["1 steering one", "2 steering two"]);
  assert.deepEqual(await sent(talk, release, /answer 3/), ["one", "two"]);
});

test("a command that is typed over an edited message leaves it as it was", async () => {
  const { talk, release } = await held(["one", "two"]);
  await using _ = talk;
  talk.type("mine");
  talk.type(KEY.altUp);
  talk.type(KEY.ctrlU);
  talk.send("/queue");
  await talk.until(/1\. after this step: one\n2\. after this step: two\n/);
  assert.deepEqual(waiting(talk), ["1 steering one", "2 steering two"]);
  assert.equal(talk.editor.text(), "mine");
  assert.deepEqual(await sent(talk, release, /answer 3/), ["one", "two"]);
});

test("Ctrl-C and Ctrl-D do not leave while a message is edited", async () => {
  const { talk, release } = await held(["one"]);
  await using _ = talk;
  talk.type("mine");
  talk.type(KEY.altUp);
  release();
  await talk.idle();
  talk.type(KEY.ctrlU);
  talk.type(KEY.ctrlD);
  talk.type(KEY.ctrlC);
  assert.equal(talk.editor.text(), "mine");
  assert.deepEqual(waiting(talk), []);
  talk.type(KEY.altUp); // nothing waits
  assert.equal(talk.editor.text(), "mine");
  assert.equal(talk.hasLeft, false);
});

test("the message joins the draft if it is left when the run has ended", async () => {
  const { talk, release } = await held(["one"]);
  await using _ = talk;
  talk.type("mine");
  talk.type(KEY.altUp);
  release();
  await talk.idle();
  talk.type(KEY.altDown);
  assert.equal(talk.editor.text(), "one\nmine");
  assert.deepEqual(waiting(talk), []);
});

test("messages that no run can take yet wait on lines of their own, and can be edited", async () => {
  await using talk = await Talk.begin(["answer 1", "answer 2"], { isReady: false });
  talk.send("first");
  talk.send("second");
  await talk.until(/1\. as soon as it can be sent: first\n2\. as soon/);
  talk.type(KEY.altUp);
  talk.send(", edited");
  await talk.until(/2\. as soon as it can be sent: second, edited/);
  await talk.ready();
  await talk.until(/answer 2/);
  await talk.idle();
  const texts = (talk.model.calls[1]?.context.messages ?? []).map(messageText);
  assert.deepEqual(texts, ["first", "answer 1", "second, edited"]);
});

test("plan mode is told to the model although the message that told it was removed", async () => {
  const { talk, release } = await held([]);
  await using _ = talk;
  talk.conversation.setPlan(true);
  talk.send("first");
  talk.type(KEY.altUp);
  talk.type(KEY.ctrlX);
  talk.send("second");
  const [text = ""] = await sent(talk, release, /answer 2/);
  assert.match(text, /^second[^]*Plan mode is on/);
});

test("/queue lists, edits, moves and removes by numbers that never change", async () => {
  const { talk, release } = await held(["one", "two", "three", "four"]);
  await using _ = talk;
  talk.send("/queue remove 2");
  await talk.until(/Removed 2\. after this step: two/);
  talk.send("/queue edit 3 three, edited");
  await talk.until(/Message 3 is changed\./);
  talk.send("/queue turn 1");
  await talk.until(/It is sent after the turn\./);
  talk.send("/queue edit 4");
  await talk.until(() => talk.editor.text() === "four");
  talk.send("!");
  talk.send("/queue remove 9");
  await talk.until(/No message has the number 9\. \/queue lists them\./);
  for (const wrong of ["drop 1", "remove", "remove 1 2", "edit one"]) {
    talk.send(`/queue ${wrong}`);
    await talk.until((shown) => shown.includes(`> /queue ${wrong}\n\nNothing was changed.`));
  }
  assert.deepEqual(waiting(talk), [
    "3 steering three, edited",
    "4 steering four!",
    "1 followUp one",
  ]);
  assert.deepEqual(await sent(talk, release, /answer 4/), ["three, edited", "four!", "one"]);
  talk.send("/queue");
  await talk.until(/No message waits\./);
});

test("a plain screen asks for the new text, and gives back what an interrupt stopped", async () => {
  const { talk } = await held([], { isPlain: true });
  await using _ = talk;
  const line = async (text: string, answer: RegExp): Promise<void> => {
    talk.type(`${text}\n`);
    await talk.until(answer);
  };
  await line("one", /Queued as 1, after this step\. \/queue lists what waits\./);
  await line("two", /Queued as 2/);
  await line("/queue edit 2", /2\. after this step: two\s+Type its new text and Enter\./);
  await line("two, edited", /Message 2 is changed\./);
  await line("/queue edit 1", /1\. after this step: one\s+Type/);
  await line("", /Message 1 stays as it was\./);
  await line("/queue", /1\. after this step: one\s+2\. after this step: two, edited/);
  talk.terminal.emit("SIGINT");
  await talk.until(/Not sent: one two, edited\s+It goes out with your next message/);
  await talk.idle();
  await line("/queue", /No message waits\./); // a command is no message
  assert.equal(talk.model.calls.length, 1);
  await line("and this", /answer 2/);
  const text = talk.model.calls[1]?.context.messages.map(messageText).at(-1);
  assert.equal(text, "one\ntwo, edited\nand this");
});

test("no sequence of these keys loses a message or sends it twice", async () => {
  const messages = ["one", "two", "three", "four"];
  const all = [...messages, "mine"].toSorted();
  for (let seed = 1; seed <= 12; seed++) {
    let state = seed;
    const draw = <T>(from: readonly T[]): T => {
      state = (state * 48_271) % 2_147_483_647;
      return from[state % from.length] as T;
    };
    const { talk, release } = await held(messages);
    await using _ = talk;
    talk.type("mine");
    const keys = [KEY.altUp, KEY.altUp, KEY.altDown, KEY.enter, KEY.altEnter];
    const pressed = Array.from({ length: 25 }, () => draw(keys));
    for (const key of pressed) talk.type(key);
    const about = `seed ${seed}: ${JSON.stringify(pressed)}`;
    if (seed % 2 === 0) {
      talk.type(KEY.escape);
      await talk.until(/^interrupted/m);
      await talk.idle();
      assert.deepEqual(talk.editor.text().split("\n").toSorted(), all, about);
      continue;
    }
    const got = await sent(talk, release, /answer 1/);
    const { editor } = talk;
    const kept = [editor.text(), editor.aside?.text ?? ""].filter((text) => text !== "");
    assert.deepEqual([...got, ...kept].toSorted(), all, about);
  }
});
