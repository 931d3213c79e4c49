/** Recorded answers with the vendors' own tools: read to parts, and sent back. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantContent } from "../../../src/llm/message.ts";
import { decode, type Decoded } from "../decode.ts";
import { loadRecordings, missing } from "../../../../../test/support/recordings.ts";
import { progress, resent, resentAsText, wires } from "./replayed.ts";

type Json = Record<string, unknown>;

interface Answer extends Decoded {
  readonly file: string;
  readonly text: string;
}

/** All answers; a file may hold several of one conversation. */
const recorded: readonly Answer[] = wires.flatMap((protocol) =>
  loadRecordings(protocol.api).map(({ file, body }) => ({
    file,
    text: new TextDecoder().decode(body),
    ...decode(protocol, [body]),
  })),
);
const answers = recorded.filter(({ message, events }) => {
  return message.content.some(({ type }) => type === "opaque") || progress(events).length > 0;
});
const fileOf = ({ file }: Answer): string => file.replace(/ #\d+$/, "");
const conversations = Object.values(Object.groupBy(recorded, fileOf)).map((all = []) => all);
const skip = missing ?? false;

describe("recorded answers with server tools", () => {
  it("are there", { skip }, (t) => {
    assert.ok(answers.length > 30);
    const count = (is: (part: AssistantContent) => boolean): number =>
      answers.flatMap(({ message }) => message.content).filter(is).length;
    const told = answers.flatMap(({ events }) => progress(events));
    const words = ["source", "image", "file", "opaque"] as const;
    for (const word of words) t.diagnostic(`${word} ${count(({ type }) => type === word)}`);
    for (const status of ["started", "completed", "failed"])
      t.diagnostic(`tools ${status} ${told.filter((line) => line.endsWith(status)).length}`);
  });

  it("end each tool that they begin, once", { skip }, () => {
    for (const { file, events, message } of answers) {
      const told = events.flatMap((event) => (event.type === "provider_tool" ? [event] : []));
      for (const { id } of told.filter(({ status }) => status === "started")) {
        const ends = told.filter(
          (event) => event.id === id && /completed|failed/.test(event.status),
        );
        // An answer that waits for us or was paused is continued in the next.
        const waits = message.paused === true || message.stopReason === "toolUse";
        assert.ok(ends.length === 1 || (waits && ends.length === 0), `${file} ${id}`);
      }
    }
  });

  it("have a source for each citation", { skip }, () => {
    for (const { file, message, text } of answers) {
      const cited = text.match(/"(?:citations_delta|response\.output_text\.annotation\.added)"/g);
      const sources = message.content.filter((part) => part.type === "source");
      const first = message.api === "anthropic-messages" && text.split("message_start").length > 3;
      if (!first) assert.equal(sources.length, (cited ?? []).length, file);
      for (const source of sources)
        assert.equal(message.content[source.textIndex ?? -1]?.type, "text", file);
    }
  });

  it("go back to their model byte for byte", { skip }, () => {
    let checked = 0;
    for (const conversation of conversations) {
      const messages = conversation.map(({ message }) => message);
      const sent = new Set(resent(...messages).map((block) => JSON.stringify(block)));
      const content = messages.flatMap((message) => message.content);
      for (const [index, part] of content.entries()) {
        if (part.type !== "opaque") continue;
        const raw = part.raw as Json;
        // Calls wait for an output of ours; reasoning of Chat Completions is a field.
        if (raw.call_id !== undefined || raw.reasoning_details !== undefined) continue;
        const next = content[index + 1];
        const whole = next?.type === "image" ? { ...raw, result: next.data } : raw;
        assert.ok(sent.has(JSON.stringify(whole)), `${conversation[0]?.file} ${String(raw.type)}`);
        checked++;
      }
    }
    assert.ok(checked > 90, `${checked}`);
  });

  it("go to other models as text with their sources", { skip }, () => {
    for (const { file, message } of answers) {
      const places = message.content.flatMap((part) =>
        part.type === "source" ? [part.url ?? part.name] : [],
      );
      for (const text of resentAsText(message)) {
        for (const place of places) assert.ok(text.includes(String(place)), `${file} ${place}`);
        assert.doesNotMatch(text, /encrypted_(?:content|index)|srvtoolu_/, file);
      }
    }
  });
});
