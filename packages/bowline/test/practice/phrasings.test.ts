/**
 * Many phrasings on real files. Those that are understood get the right answer, and nothing changes
 * without a request.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { plan, taskForms } from "../../src/practice/index.ts";
import { knownWords } from "../../src/practice/nearest.ts";
import { developed, FILES, measured } from "./phrasings.ts";
import { createFolder, createTalk, createTools, toolNames } from "./talk.ts";
import { sweep } from "../../../../test/support/sweep.ts";

function ask(typed: string): { text: string; turns: string[][]; file: (path: string) => string } {
  const folder = createFolder(FILES);
  const talk = createTalk(createTools(folder));
  const text = talk.say(typed);
  const file = (path: string): string => {
    const at = join(folder, path);
    return existsSync(at) ? readFileSync(at, "utf8") : "(none)";
  };
  return { text, turns: talk.turns, file };
}

describe("everyday phrasings", () => {
  it("get right answers", () => {
    for (const [typed, answer] of [...developed, ...measured])
      assert.match(ask(typed).text, answer, typed);
  });

  it("create a file with exactly the given text", () => {
    const cases: Record<string, string> = {
      "create a file hello.txt that says hello world": "hello world",
      'create hello.txt and put "hi there" in it': "hi there",
      "create a file hello.txt and write hello in it": "hello",
      "could you create hello.txt with hello in it?": "hello",
      "create hello.txt containing hello, world": "hello, world",
      'put "hi there" in a new file called hello.txt': "hi there",
      'mkae a file hello.txt with the content "mkae"': "mkae",
      "create a file hello.txt that says I'm here": "I'm here",
    };
    for (const [typed, text] of Object.entries(cases))
      assert.equal(ask(typed).file("hello.txt"), text, typed);
  });

  it("without a plain text or a possible step are refused, and nothing of them is done", () => {
    for (const typed of [
      "create hello.txt that says hello and goodbye",
      "create hello.txt that says hello.",
      "create hello.txt that says hello please",
      "create hello.txt containing a poem about tea",
      "create hello.txt with the contents of notes.txt",
      "create hello.txt with numbers from 1 to 10",
      "create hello.txt with tabs",
      "create hello.txt and write a poem to it",
      'create hello.txt with "x" and delete notes.txt',
      'create hello.txt with "x" and run the tests',
      'create hello.txt with "x" and translate it',
      "copy notes.txt to hello.txt and run the tests",
      "read notes.txt and delete it",
    ]) {
      const { text, turns, file } = ask(typed);
      assert.deepEqual(turns, [], `${typed}\n→ ${text}`);
      assert.equal(file("hello.txt"), "(none)");
    }
  });

  it("with two meanings are refused with both", () => {
    for (const typed of ["find milk", "where is milk?", "locate milk"])
      assert.match(ask(typed).text, /^“milk” may be .*\nSay: search for milk, or: find \*milk\*$/);
  });

  it("with more than can be answered are not answered in part", () => {
    for (const typed of [
      "summarize notes.txt in one sentence",
      "which file has the longest name?",
      "which files don't mention kettle",
      "how many files are not js",
      "show everything except the first line of notes.txt",
      "which file is second largest",
      "search for milk and sugar",
      "remove line 2 of notes.txt",
      "list files by size",
    ]) {
      const { text, turns } = ask(typed);
      assert.deepEqual(turns, [], `${typed}\n→ ${text}`);
      assert.ok(
        text.split("\n").length <= 2 && text.split("\n").every((line) => line.length <= 80),
        text,
      );
    }
  });

  it("search the files of one kind", () => {
    assert.match(
      ask("which js files mention TODO").text,
      /in `\*\.js` files in this folder: on 1 line/,
    );
    assert.match(
      ask('find "kettle" in md files').text,
      /in `\*\.md` files in this folder: on 1 line/,
    );
    assert.match(ask("how many files mention kettle?").text, /on 4 lines of 4 files/);
  });
});

const CHANGES =
  /^(?:create|make|write|add|start|generate|do|save|want|need|would|give|touch|put|store|append|insert|place|replace|change|rename|substitute|move|copy|duplicate|run|execute|have)$/;

describe("any mixture of known words", () => {
  const names = ["notes.txt", "new.txt", "src", "it", '"some text"', "hello", "package.json"];
  const word = fc.constantFrom(...knownWords, ...names, ...names, "and", "the");
  const examples = taskForms.flatMap(({ example }) => example.split(" "));
  const words = fc.array(fc.oneof(word, fc.constantFrom(...examples)), {
    minLength: 1,
    maxLength: 9,
  });
  const call = (content: string): ReturnType<typeof plan>["toolCalls"] =>
    plan({
      messages: [{ role: "user", content }],
      tools: toolNames.map((name) => ({ function: { name } })),
    }).toolCalls;

  it("changes nothing without a word for it", () => {
    fc.assert(
      fc.property(words, (all) => {
        const kept = all.filter((each) => !CHANGES.test(each));
        for (const { name, arguments: args } of call(kept.join(" "))) {
          assert.ok(name !== "write" && name !== "edit", kept.join(" "));
          assert.doesNotMatch(JSON.stringify(args["command"] ?? ""), /^"(?:if|mkdir|rm|mv|cp)\b/);
        }
      }),
      { numRuns: sweep({ long: 3000, short: 750 }) },
    );
  });

  it("writes only a file and a text that stand in it, and deletes nothing", () => {
    const folder = createFolder({ "notes.txt": "a\n" });
    const tools = createTools(folder);
    const written: Record<string, unknown>[] = [];
    const guarded = {
      ...tools,
      write: (args: Record<string, unknown>) => {
        written.push(args);
        return `Created ${String(args["path"])} (1 bytes)`;
      },
      edit: () => "Edited notes.txt: 1 replacement (first at line 1)",
      bash: ({ command }: Record<string, unknown>) => {
        assert.doesNotMatch(String(command), /^rm\b/);
        return "x";
      },
    };
    const verb = fc.constantFrom("create", "make", "write", "put", "save", "add", "i want");
    const link = fc.constantFrom(
      "with",
      "that says",
      "containing",
      "in it",
      "to",
      "file called",
      "text",
    );
    const mixed = fc.array(fc.oneof(verb, link, word), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(mixed, (all) => {
        written.length = 0;
        const typed = all.join(" ");
        createTalk(guarded).say(typed);
        for (const { path, content } of written) {
          assert.ok(typed.includes(String(path)), typed);
          assert.ok(
            content === "" || typed.includes(String(content)) || / it| list| output/.test(typed),
            typed,
          );
        }
      }),
      { numRuns: sweep({ long: 2000, short: 500 }) },
    );
  });
});
