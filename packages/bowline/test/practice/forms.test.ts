import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { taskForms } from "../../src/practice/index.ts";
import { parseTask } from "../../src/practice/parse.ts";
import { createFolder, createTalk, createTools } from "./talk.ts";
import type { Talk } from "./talk.ts";

const FILES = {
  "README.md":
    "# Knots\n\n[![build](badge.svg)](url)\n\nA small guide to knots\nand hitches.\n\n## Install\n",
  "package.json":
    '{\n  "name": "knots",\n  "description": "Ties knots",\n  "version": "1.0.0"\n}\n',
  "notes.txt": "alpha\nbeta\nalpha again, alphabet\n",
  "my notes.txt": "spaced\n",
  "empty.txt": "",
  "src/tie.ts":
    "/**\n * Ties a bowline.\n *\n * And more.\n */\nexport function tie(): void {}\n// TODO: untie\n",
  "src/loop.ts":
    "#!/usr/bin/env node\n// Copyright 2020\n\n// A loop that\n// does not slip.\nexport const loop = 1;\n",
  "src/deep/plain.ts": "export interface Rope {}\nexport const rope = 2; // TODO, TODO\n",
  "src/deep/tool.py": '"""Splices two ropes."""\nimport os\n',
  "docs/guide.md": "Just prose.\n\nMore.\n",
  "docs/api.md": "# API\n\nEvery calls.\n",
  "test/tie.test.ts": "import { tie } from '../src/tie.ts';\ntie();\n",
};

function open(limits?: {
  lines?: number;
  paths?: number;
}): Talk & { folder: string; file(path: string): string } {
  const folder = createFolder(FILES);
  const talk = createTalk(createTools(folder, limits));
  return Object.assign(talk, {
    folder,
    file: (path: string) => readFileSync(join(folder, path), "utf8"),
  });
}

/** Asserts that each wording gets an answer with all the parts, without further questions. */
function answers(wordings: readonly string[], ...parts: readonly (string | RegExp)[]): void {
  for (const wording of wordings) {
    const text = open().say(wording);
    for (const part of parts)
      assert.ok(
        typeof part === "string" ? text.includes(part) : part.test(text),
        `${wording}\n→ ${text}\nlacks ${part}`,
      );
  }
}

describe("the task forms", () => {
  it("have examples that are parsed as their own form", () => {
    for (const { name, example } of taskForms) {
      const tasks = parseTask(example);
      if (name === "combine") assert.equal(tasks.length, 2);
      else
        assert.deepEqual(
          tasks.map(({ form }) => form),
          [name],
        );
    }
    assert.ok(taskForms.length >= 15);
  });

  it("recognise the usual tasks", () => {
    const cases: Record<string, string[]> = {
      "which file in packages/core/src is the largest, and what is it for?": [
        "largest or smallest file",
        "explain",
      ],
      "what is (2+3)*4.5?": ["calculate"],
      "list the files in docs": ["list files"],
      'write "hello there" to notes.txt and then run `ls -la`': ["write a file", "run a command"],
      "read ../../etc/passwd": ["read a file"],
      "how many .ts files are in packages/core/src?": ["count files"],
      'search for "class Agent" in packages/core/src': ["search text"],
      "compare the sizes of packages and docs": ["compare sizes"],
      "show the first 3 lines of README.md": ["read a file"],
    };
    for (const [message, names] of Object.entries(cases)) {
      const tasks = parseTask(message);
      assert.deepEqual(
        tasks.map(({ form }) => form),
        names,
        message,
      );
    }
  });

  it("are listed by help, with the way to a real model", () => {
    for (const wording of ["help", "What can you do?", "help!", "how do I use this?"]) {
      const text = open().say(wording);
      for (const { name, example } of taskForms)
        assert.ok(text.includes(name) && text.includes(example), wording);
      assert.match(text, /not an LLM[^]*ANTHROPIC_API_KEY=[^]*--model provider\/model[^]*Ollama/);
    }
  });

  it("reject any other task in two lines, which say what was understood", () => {
    const cases: Record<string, RegExp> = {
      "tell me a joke": /^I do not understand “tell me a joke”\.\n/,
      "zzz and help": /^I do not understand “zzz and help”\.\n/,
      "fix the bug in src/tie.ts": /^I do not understand .*\n.* show src\/tie.ts$/,
      "translate nowhere.md": /^I do not understand .*\n.* show nowhere.md$/,
      "count the empty lines": /^I do not understand .*\n.* how many lines does README.md have\?$/,
      "read notes.txt and translate it":
        /^I understand “read notes.txt”, not “translate it”, and did/,
      ["x ".repeat(600)]: /^I do not understand “x x .* …”\.\n/,
    };
    for (const [wording, lead] of Object.entries(cases)) {
      const talk = open();
      const text = talk.say(wording);
      assert.match(text, lead);
      assert.match(
        text,
        /^[^\n]{1,80}\n(?:[^\n]*not an LLM.*help|The nearest that I can do)[^\n]*$/,
      );
      assert.ok(text.split("\n").every((line) => line.length <= 80));
      assert.doesNotMatch(text, /API_KEY/);
      assert.equal(talk.turns.length, 0);
    }
    for (const wording of ["hello!", "Hi there", "Who are you?", "", "  "])
      assert.match(
        open().say(wording),
        /^I am the practice model[^\n]*not an LLM\.\n.*“help”/,
        wording,
      );
  });

  it("match the list in docs/practice.md", () => {
    const page = readFileSync(new URL("../../../../docs/practice.md", import.meta.url), "utf8");
    const block = /```text\n([^]*?)```/.exec(page)?.[1] ?? "";
    const shown = block.trimEnd().split("\n");
    assert.deepEqual(
      shown.map((line) => line.split(/ {2,}/)),
      taskForms.map(({ name, example }) => [name, example]),
    );
  });

  it("ignore politeness, case, articles, quotes and punctuation", () => {
    const wordings = [
      "read notes.txt",
      "Please read notes.txt.",
      "READ the file notes.txt!",
      "Could you please show me the contents of notes.txt?",
      'open "notes.txt", please',
      "cat ./notes.txt",
      "Hey Bowline, would you kindly print `notes.txt` for me? Thanks",
      "what's in notes.txt?",
    ];
    answers(
      wordings,
      "notes.txt, lines 1 to 3 of 3:\n\n```\nalpha\nbeta\nalpha again, alphabet\n```",
    );
  });
});

describe("list files", () => {
  it("shows the entries of a folder and marks folders", () => {
    answers(
      [
        "list the files in src",
        "what is in src?",
        "Show me the files in the src folder",
        "what files are in src",
      ],
      "3 items in src:\n\n- src/deep/\n- src/loop.ts\n- src/tie.ts",
    );
    answers(
      ["list files", "list the files here", "list all the files in this folder"],
      "- README.md",
      "- notes.txt",
    );
  });

  it("finds files with an extension at any depth", () => {
    answers(
      [
        "list the .ts files in src",
        "which .ts files are there in src",
        "find all the *.ts files in src",
      ],
      "3 `*.ts` files in src:\n\n- src/deep/plain.ts\n- src/loop.ts\n- src/tie.ts",
    );
    answers(["list the .rs files"], "There are no `*.rs` files in this folder.");
  });

  it("lists several folders in one turn", () => {
    const talk = open();
    assert.match(
      talk.say("list the files in docs and test"),
      /3 items in docs and test:\n\n- docs\/api.md\n- docs\/guide.md\n- test\/tie.test.ts/,
    );
    assert.deepEqual(
      talk.turns.map((calls) => calls.length),
      [2],
    );
  });

  it("says how many entries of a long list it omits", () => {
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`${index}.txt`, ""]));
    const text = createTalk(createTools(createFolder(many))).say("list the files");
    assert.match(text, /^60 items in this folder:\n[^]*\n- and 10 more$/);
    assert.equal(text.split("\n- ").length, 52);
  });
});

describe("find files", () => {
  it("finds by glob or by a part of the name", () => {
    answers(
      [
        "find tie.ts",
        "where is tie.ts?",
        "find a file called tie.ts",
        "find the file tie.ts in src",
      ],
      "- src/tie.ts",
    );
    answers(["find *.test.ts", "find files matching *.test.ts"], "- test/tie.test.ts");
    answers(["is there a file called READ"], "- README.md");
    answers(["find nothing.txt"], "There are no");
  });
});

describe("read a file", () => {
  it("shows first lines, last lines and ranges with line numbers", () => {
    answers(
      ["show the first 2 lines of notes.txt", "what are the first 2 lines of notes.txt?"],
      "notes.txt, lines 1 to 2 of 3:\n\n```\nalpha\nbeta\n```",
    );
    answers(
      ["show me the last 2 lines of notes.txt", "print the last 2 lines in notes.txt"],
      "lines 2 to 3 of 3:\n\n",
    );
    answers(
      ["show lines 2 to 3 of notes.txt", "read lines 2-3 of notes.txt"],
      "lines 2 to 3 of 3:\n\n```\nbeta\nalpha",
    );
    answers(["show line 2 of notes.txt"], "lines 2 to 2 of 3:\n\n```\nbeta\n```");
    answers(["show the first line of notes.txt"], "lines 1 to 1 of 3:\n\n```\nalpha\n```");
    answers(["show the last 9 lines of notes.txt"], "lines 1 to 3 of 3");
  });

  it("shows the beginnings of several files in one turn", () => {
    const talk = open();
    assert.match(
      talk.say("show the first 1 lines of notes.txt and README.md"),
      /alpha\n```\n\nREADME.md[^]*# Knots/,
    );
    assert.deepEqual(
      talk.turns.map((calls) => calls.length),
      [2],
    );
  });

  it("accepts names with spaces in quotes", () => {
    const talk = open();
    const text = talk.say('read "my notes.txt", empty.txt and notes.txt');
    assert.match(
      text,
      /my notes.txt, lines 1 to 1 of 1:\n\n```\nspaced\n```\n\nempty.txt is empty.\n\nnotes.txt, lines/,
    );
    assert.equal(talk.turns.length, 1);
  });

  it("finds the end of a file that the tool truncates, and never takes a part for the whole", () => {
    const talk = open({ lines: 2 });
    assert.match(
      talk.say("show the last line of notes.txt"),
      /lines 3 to 3 of 3:\n\n```\nalpha again, alphabet\n```/,
    );
    assert.equal(talk.turns.length, 2);
    assert.match(talk.say("read notes.txt"), /notes.txt, lines 1 to 2 of 3/);
    assert.match(talk.say("write it to copy.txt"), /I do not know what “it” is/);
  });

  it("uses a code fence longer than any in the file", () => {
    const talk = createTalk(createTools(createFolder({ "a.md": "```\ncode\n```\n" })));
    assert.match(talk.say("read a.md"), /````\n```\ncode\n```\n````$/);
  });
});

describe("search and count", () => {
  it("reports where a text occurs, with numbers that add up", () => {
    answers(
      ["search for TODO in src", 'grep "TODO" in the src folder', "find TODO in src"],
      "`TODO` occurs 3 times in src: on 2 lines of 2 files",
      "- src/tie.ts:7: // TODO: untie",
      "- src/deep/plain.ts:2: ",
    );
    answers(["search for Splices"], "of 1 file", "- src/deep/tool.py:1:");
    answers(["search for omega"], "`omega` does not occur in this folder.");
  });

  it("searches for the literal text", () => {
    answers(['search for "(): void {"'], "`(): void {` occurs 1 time");
  });

  it("counts occurrences", () => {
    answers(
      [
        "how many times does alpha occur in notes.txt?",
        "how often does alpha appear in notes.txt",
        'how often is "alpha" used in notes.txt?',
      ],
      "`alpha` occurs 3 times in notes.txt: on 2 lines of 1 file",
    );
  });

  it("counts lines of several files in one turn", () => {
    answers(
      [
        "how many lines does notes.txt have?",
        "count the lines of notes.txt",
        "how many lines are in notes.txt",
      ],
      "notes.txt has 3 lines.",
    );
    answers(
      ["how many lines are in notes.txt and empty.txt?"],
      "notes.txt has 3 lines and empty.txt has 0 lines, 3 together.",
    );
  });

  it("counts files at any depth", () => {
    answers(
      ["how many files are in src?", "count the files in src", "how many files are there in src"],
      "There are 4 files in src, subfolders included.",
    );
    answers(
      ["how many .md files are there?", "count all the .md files"],
      "There are 3 `*.md` files in this folder",
    );
    answers(["how many .py files are in src"], "There is 1 `*.py` file in src");
  });
});

describe("sizes", () => {
  it("names the largest and the smallest file with its bytes", () => {
    answers(
      [
        "which file in src is the largest?",
        "what is the largest file in src?",
        "show me the largest .ts file in src",
      ],
      "src/loop.ts is the largest, with 95 bytes.",
    );
    answers(
      ["what's the biggest file in src and test"],
      "Of the 5 files in src and test, src/loop.ts is the biggest",
    );
    answers(["what is the smallest .md file?"], "docs/guide.md is the smallest, with 19 bytes.");
  });

  it("reads a whole folder even when its list is long", () => {
    assert.match(
      open({ paths: 1 }).say("what is the largest file in src?"),
      /Of the 4 files in src, src\/loop.ts/,
    );
  });

  it("names all files of equal size", () => {
    const talk = createTalk(createTools(createFolder({ "a.txt": "x", "b.txt": "y" })));
    assert.match(
      talk.say("which file is the largest?"),
      /a.txt and b.txt are equally the largest, with 1 byte\./,
    );
    assert.match(talk.say("compare a.txt and b.txt"), /The largest are a.txt and b.txt\./);
  });

  it("measures and compares files and whole folders in one turn", () => {
    answers(
      ["how big is notes.txt?", "what is the size of notes.txt"],
      `notes.txt has ${FILES["notes.txt"].length} bytes.`,
    );
    const docs = FILES["docs/api.md"].length + FILES["docs/guide.md"].length;
    const talk = open();
    assert.match(
      talk.say("compare the sizes of docs and test"),
      new RegExp(
        `docs has ${docs} bytes in 2 files and test has 44 bytes in 1 file. The largest is test.`,
      ),
    );
    assert.equal(talk.turns.length, 1);
    answers(["compare docs with test", "compare test to docs"], "The largest is test.");
    answers(["how big is nowhere?"], "There is nothing at nowhere.");
    answers(["how big is this folder?"], /^this folder has \d+ bytes in 12 files\.$/);
  });
});

describe("explain", () => {
  it("answers from a headline, description, header comment or docstring", () => {
    answers(
      ["what is README.md for?", "explain README.md", "what is README.md about"],
      "README.md says of itself: Knots: A small guide to knots and hitches.",
    );
    answers(
      ["what is package.json for?", "describe package.json"],
      "package.json says of itself: Ties knots",
    );
    answers(["what does src/tie.ts do?"], "src/tie.ts says of itself: Ties a bowline.");
    answers(["explain src/loop.ts"], "src/loop.ts says of itself: A loop that does not slip.");
    answers(["explain src/deep/tool.py"], "says of itself: Splices two ropes.");
  });

  it("falls back to the first lines of the file", () => {
    answers(["explain notes.txt"], "does not say what it is for. It begins with: alpha beta");
    answers(["explain empty.txt"], "empty.txt is empty.");
  });

  it("explains a folder or the project from its readme, or else from its package.json", () => {
    answers(
      ["what is this project about?", "explain this project", "describe the repo"],
      "Knots: A small guide",
    );
    const folder = createFolder({
      "lib/package.json": '{ "description": "Splices" }',
      "lib/a.ts": "",
    });
    assert.match(
      createTalk(createTools(folder)).say("what is lib for?"),
      /lib\/package.json says of itself: Splices/,
    );
    answers(["what is src for?"], "I could not read src: src is a folder");
  });
});

describe("commands and changes", () => {
  it("runs a quoted command, and an unquoted one", () => {
    answers(
      ["run `echo hi`", "run echo hi", "Please run the command echo hi", 'execute "echo hi"'],
      "`echo hi` printed:\n\n```\nhi\n```",
    );
    answers(["run `true`"], "`true` printed:\n\n```\n[no output]");
    answers(["run `echo no; exit 3`"], "failed", "no\n[exit code 3]");
  });

  it("does not run a command mixed with other words, or only partly in backticks", () => {
    for (const wording of ["run npm install and go home", "run `ls` in src"]) {
      const talk = open();
      assert.match(talk.say(wording), /all of the command in backticks/);
      assert.equal(talk.turns.length, 0);
    }
  });

  it("writes the exact text", () => {
    const wordings = [
      'write "hello there" to out/a.txt',
      'Write the text "hello there" to the file out/a.txt',
      "save `hello there` as out/a.txt",
      'create a file called out/a.txt with "hello there"',
    ];
    for (const wording of wordings) {
      const talk = open();
      assert.equal(talk.say(wording), "Created out/a.txt (11 bytes).", wording);
      assert.equal(talk.file("out/a.txt"), "hello there");
    }
    const talk = open();
    talk.say('write `it\'s "quoted",\n  – and then 😀` to a.md');
    assert.equal(talk.file("a.md"), 'it\'s "quoted",\n  – and then 😀');
    assert.match(talk.say('write "new" to notes.txt'), /Replaced notes.txt \(3 bytes\)/);
  });

  it("replaces all occurrences of a text", () => {
    for (const wording of [
      "replace alpha with omega in notes.txt",
      'change "alpha" to "omega" in notes.txt',
      "rename all alpha to omega in the file notes.txt",
    ]) {
      const talk = open();
      assert.equal(
        talk.say(wording),
        "Edited notes.txt: 3 replacements (first at line 1).",
        wording,
      );
      assert.equal(talk.file("notes.txt"), "omega\nbeta\nomega again, omegabet\n");
    }
    answers(
      ["replace Beta with x in notes.txt"],
      "I could not edit notes.txt: oldText is not in notes.txt.",
    );
    answers(["replace a with b in notes.txt and README.md"], "one file at a time");
  });
});
