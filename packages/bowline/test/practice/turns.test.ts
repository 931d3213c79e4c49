import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { plan, taskForms } from "../../src/practice/index.ts";
import type { PracticeMessage } from "../../src/practice/index.ts";
import { createFolder, createTalk, createTools, toolNames } from "./talk.ts";
import type { Tool } from "./talk.ts";
import { cpuMs } from "../../../../test/support/cpu-time.ts";
import { sweep } from "../../../../test/support/sweep.ts";

const FILES = {
  "README.md": "# Knots\n\nA guide.\n",
  "notes.txt": "alpha\nbeta\n",
  "src/large.ts": "/** Ties every knot there is. */\nexport const knots = [1, 2, 3];\n",
  "src/small.ts": "/** Unties. */\n",
  "src/util/only.ts": "// The only one.\n",
  "b/README.md": "# Other\n",
  "a/twice.txt": "1\n",
  "b/twice.txt": "2\n",
};

function open(
  tools: Partial<Record<string, Tool>> = {},
): ReturnType<typeof createTalk> & { folder: string } {
  const folder = createFolder(FILES);
  return Object.assign(createTalk({ ...createTools(folder), ...(tools as Record<string, Tool>) }), {
    folder,
  });
}

function deny(reason: string): Tool {
  return () => {
    throw new Error(`Denied: ${reason}`);
  };
}

describe("a task of several steps", () => {
  it('passes the file that a step found to the next as "it"', () => {
    const talk = open();
    const text = talk.say("Which file in src is the largest and what is it for?");
    assert.match(text, /src\/large.ts is the largest, with 65 bytes/);
    assert.match(text, /src\/large.ts says of itself: Ties every knot there is\.$/);
    assert.deepEqual(talk.turns, [
      ['glob {"pattern":"**/*","path":"src","kind":"file","sizes":true,"limit":100000}'],
      ['read {"path":"src/large.ts","limit":60}'],
    ]);
    assert.equal(talk.replies[0]?.text, "Let me look for `**/*` in src.");
    assert.equal(talk.replies[1]?.text, "Let me read src/large.ts.");
  });

  it('passes several files as "them", and reads them in one turn', () => {
    const talk = open();
    assert.match(
      talk.say("list the .ts files in src and explain them"),
      /Ties every knot[^]*Unties[^]*The only one/,
    );
    assert.deepEqual(
      talk.turns.map((calls) => calls.length),
      [1, 3],
    );
    assert.match(talk.say('write "x" to them'), /one file at a time/);
  });

  it("passes values to later steps: numbers to calculations, texts to files", () => {
    const talk = open();
    const text = talk.say("what is 6 * 7; write the result to out.txt, then read that file");
    assert.equal(
      text,
      "6 * 7 = 42\n\nCreated out.txt (2 bytes).\n\nout.txt, lines 1 to 1 of 1:\n\n```\n42\n```",
    );
    talk.say("read notes.txt and save it as copy.txt");
    assert.equal(readFileSync(join(talk.folder, "copy.txt"), "utf8"), FILES["notes.txt"]);
    talk.say("run `echo 7` and then write it to seven.txt");
    assert.equal(readFileSync(join(talk.folder, "seven.txt"), "utf8"), "7\n");
  });

  it("may be joined by and, then, semicolons, commas, full stops and new lines", () => {
    for (const joiner of [
      " and ",
      " and then ",
      ", then ",
      "; ",
      ", and ",
      ". Then ",
      ".\n",
      "\n",
      ", ",
    ]) {
      const text = open().say(`read notes.txt${joiner}count its lines`);
      assert.match(text, /alpha\nbeta\n```\n\nnotes.txt has 2 lines\.$/, joiner);
    }
  });

  it("is not split where only the whole makes sense", () => {
    const talk = open();
    assert.match(talk.say("run echo salt, pepper; echo sugar"), /salt, pepper\nsugar/);
    talk.say('write "milk and then read it" to list.txt and read it');
    assert.equal(readFileSync(join(talk.folder, "list.txt"), "utf8"), "milk and then read it");
    assert.equal(talk.turns.length, 2);
  });

  it("stops at the step that fails, and names the steps not done", () => {
    const text = open().say(
      'read notes.txt, then read nope.txt and then write "done" to log.txt; list the files',
    );
    assert.match(text, /alpha\nbeta/);
    assert.match(text, /I could not read nope.txt: No such file: nope.txt\./);
    assert.match(text, /So I did not do this: “write "done" to log.txt” and “list the files”\.$/);
  });
});

describe("a conversation", () => {
  it("resolves pronouns to the previous answer", () => {
    const talk = open();
    talk.say("which file in src is the smallest?");
    assert.match(talk.say("What is it for?"), /src\/small.ts says of itself: Unties./);
    assert.match(talk.say("how many lines does it have?"), /src\/small.ts has 1 line\./);
    assert.match(talk.say("and what is its size?"), /src\/small.ts has 15 bytes\./);
    assert.equal(talk.say("thanks!"), "You are welcome.");
    assert.match(talk.say("read it"), /src\/small.ts, lines 1 to 1 of 1/);
  });

  it("reports a pronoun that refers to nothing", () => {
    assert.match(open().say("read it"), /I do not know which file you mean/);
    assert.match(open().say("write the result to a.txt"), /I do not know what “the result” is/);
  });

  it("is planned from its messages alone, so planning again gives the same replies", () => {
    const talk = open();
    talk.say("which file in src is the largest and what is it for?");
    talk.say("read it and count its lines");
    const tools = toolNames.map((name) => ({ function: { name } }));
    for (const [index, message] of talk.messages.entries()) {
      if (message.role !== "assistant") continue;
      const reply = plan({ messages: structuredClone(talk.messages.slice(0, index)), tools });
      const ids = (message.tool_calls ?? []).map(({ id }) => id);
      assert.equal(reply.text, message.content);
      assert.deepEqual(
        reply.toolCalls.map(({ id }) => id),
        ids,
      );
    }
    const ids = talk.messages.flatMap(({ tool_calls: calls }) => (calls ?? []).map(({ id }) => id));
    assert.equal(new Set(ids).size, ids.length);
  });

  it("ignores turns of another model, and accepts content in parts", () => {
    const messages: PracticeMessage[] = [
      { role: "user", content: "fix the bug" },
      { role: "assistant", content: null, tool_calls: [{ id: "x", function: { name: "read" } }] },
      { role: "tool", tool_call_id: "x", content: "text" },
      { role: "assistant", content: "Fixed." },
      {
        role: "user",
        content: [
          { type: "text", text: "read" },
          { type: "image" },
          { type: "text", text: "notes.txt" },
        ],
      },
      { role: "assistant", content: null, tool_calls: [{ id: "y", function: { name: "browse" } }] },
      { role: "tool", tool_call_id: "y", content: "page" },
    ];
    const { toolCalls } = plan({ messages, tools: [{ function: { name: "read" } }] });
    assert.deepEqual(toolCalls, [
      { id: "call_7_0", name: "read", arguments: { path: "notes.txt" } },
    ]);
  });
});

describe("a step that fails", () => {
  it("uses a file of the same name when there is exactly one elsewhere", () => {
    const talk = open();
    assert.match(talk.say("read large.ts"), /^src\/large.ts, lines 1 to 2 of 2/);
    assert.deepEqual(talk.turns.flat(), [
      'read {"path":"large.ts"}',
      'glob {"pattern":"**/large.ts","path":".","kind":"any","sizes":true,"limit":100000}',
      'read {"path":"src/large.ts"}',
    ]);
    assert.match(
      talk.say("list the files in util"),
      /1 item in src\/util:\n\n- src\/util\/only.ts/,
    );
    assert.match(talk.say("search for only in util"), /in src\/util: on 1 line/);
  });

  it("ends the task when there are several such files or none", () => {
    assert.match(
      open().say("read twice.txt"),
      /^I could not read twice.txt: No such file: twice.txt\.$/,
    );
    const talk = open();
    assert.match(
      talk.say("read nope.txt"),
      /^I could not read nope.txt: No such file: nope.txt\.$/,
    );
    assert.equal(talk.turns.length, 2);
    assert.match(talk.say("list the files in nowhere"), /No such folder: nowhere/);
    assert.match(talk.say("read src"), /src is a folder/);
  });

  it("reports that a path is outside, and does not look for it elsewhere", () => {
    const outside: Tool = ({ path }) => {
      throw new Error(`${String(path)} is outside the working directory /work`);
    };
    const talk = open({ read: outside });
    assert.match(
      talk.say("read ../../etc/passwd"),
      /^I could not read ..\/..\/etc\/passwd: .* is outside the working/,
    );
    assert.equal(talk.turns.length, 1);
  });

  it("reports who denied a call and why, and tries nothing else", () => {
    const talk = open({ bash: deny("not in this folder"), read: deny("no") });
    const text = talk.say("run `rm -rf src` and then list the files");
    assert.match(
      text,
      /^I was not allowed to run `rm -rf src`: not in this folder\.\n\nSo I did not do this: “list the files”/,
    );
    assert.match(talk.say("read notes.txt"), /^I was not allowed to read notes.txt: no\.$/);
    assert.equal(talk.turns.length, 1);
  });

  it("reports that a tool is not offered", () => {
    const talk = createTalk(createTools(createFolder(FILES)), ["read"]);
    assert.match(
      talk.say("run `ls`"),
      /I was not allowed to run `ls`: the tool `bash` is not offered here\./,
    );
    assert.match(talk.say("read nope.txt"), /No such file: nope.txt/);
    assert.deepEqual(plan({ messages: [{ role: "user", content: "list files" }] }).toolCalls, []);
  });

  it("ends the task after twelve turns", () => {
    const talk = open();
    const text = talk.say(Array.from({ length: 13 }, () => "read notes.txt").join("; "));
    assert.equal(talk.replies.length, 12);
    assert.match(
      text,
      /I was not allowed to read notes.txt: 12 turns are my limit\.\n\nSo I did not do this: “read notes/,
    );
  });

  it("reports a call without a result, as after a crash", () => {
    const messages = [
      { role: "user", content: "read notes.txt" },
      {
        role: "assistant",
        content: "",
        tool_calls: [{ id: "call_1_0", function: { name: "read" } }],
      },
    ];
    const reply = plan({ messages, tools: [{ function: { name: "read" } }] });
    assert.equal(reply.text, "I could not read notes.txt: no result came back.");
  });
});

describe("for any output of the tools", () => {
  const line = fc.constantFrom(
    "a.ts",
    "src/",
    "12\ta.ts",
    "a.ts:3:text it",
    "[no matches]",
    "[empty file]",
    "[500 of 1234 shown; narrow]",
    "[lines 1-2 of 9; read on with offset 3]",
    "[exit code 1]",
    "[1 of 99999999999 shown]",
    "/** It",
    "# It",
    "",
  );
  const output = fc.oneof(
    fc.array(fc.oneof(line, fc.string()), { maxLength: 6 }).map((lines) => lines.join("\n")),
    fc.constantFrom(
      "Error: ",
      "Error: No such file: x",
      "Denied: ",
      "Denied: no",
      "\u0000",
      "[[[[",
    ),
    fc.string({ unit: "binary" }),
  );
  const names = fc.constantFrom(
    "it",
    "them",
    "src",
    "a.ts",
    ".",
    "*",
    "the result",
    '"',
    "`x y`",
    "[id].ts",
    "a, b and c",
    "nope",
  );
  const form = fc.constantFrom(
    ...taskForms.map(({ example }) => example),
    "read {}",
    "explain {}",
    "list the files in {}",
    "how big is {}",
    "replace a with b in {}",
    "write it to {}",
    "search for it in {}",
    "multiply it by {}",
    "show the last 3 lines of {}",
  );
  const task = fc
    .array(fc.tuple(form, names), { minLength: 1, maxLength: 5 })
    .map((steps) => steps.map(([text, name]) => text.replace("{}", name)).join(" and then "));

  it("plan neither throws nor takes more than twelve turns", () => {
    fc.assert(
      fc.property(
        fc.array(task, { minLength: 1, maxLength: 2 }),
        fc.infiniteStream(output),
        (tasks, outputs) => {
          const tools = Object.fromEntries(
            toolNames.map((name) => [name, () => String(outputs.next().value)]),
          );
          const talk = createTalk(tools);
          for (const text of tasks) assert.notEqual(talk.say(text), "");
        },
      ),
      { numRuns: sweep({ long: 500, short: 125 }) },
    );
  });

  it("plan neither throws nor hangs on any message", () => {
    const word = fc.constantFrom(
      "and",
      "then",
      "read",
      "list",
      "files",
      "in",
      "the",
      "of",
      "to",
      "with",
      "what is",
      "find",
      "a.txt",
      "it",
      ";",
      ",",
      '"',
      "'",
      "`",
      "(",
      ")",
      "+",
      "2",
      "replace",
      "search for",
      "write",
    );
    const text = fc.oneof(
      fc.array(word, { maxLength: 60 }).map((words) => words.join(" ")),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(text, (content) => {
        const start = cpuMs();
        plan({
          messages: [{ role: "user", content }],
          tools: toolNames.map((name) => ({ function: { name } })),
        });
        assert.ok(cpuMs() - start < 2000, content);
      }),
      { numRuns: sweep({ long: 500, short: 125 }) },
    );
    for (const part of [
      "write ",
      "replace a with b in ",
      "read it and ",
      "'a ",
      "what is ",
      "find the in ",
      "2+",
      "(",
      " \n",
      "and ",
      "show the first 2 lines of ",
    ]) {
      const start = cpuMs();
      const content = part.repeat(100_000 / part.length);
      plan({ messages: [{ role: "user", content }] });
      plan({ messages: [{ role: "user", content: content.slice(0, 3990) }] });
      assert.ok(cpuMs() - start < 5000, `${part}: ${cpuMs() - start} ms`);
    }
  });

  it("plan accepts malformed messages", () => {
    const junk = [
      { role: "assistant", tool_calls: [null] },
      { role: "tool" },
      { role: "user" },
      { role: "user", content: [null, 1] },
      { role: "tool", tool_call_id: "z", content: 5 },
    ];
    assert.match(
      plan({ messages: junk as unknown as PracticeMessage[], tools: [null, {}] as never }).text,
      /not an LLM/,
    );
    assert.equal(plan({ messages: [] }).toolCalls.length, 0);
  });
});
