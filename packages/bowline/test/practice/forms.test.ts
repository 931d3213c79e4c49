import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { taskForms } from "../../src/practice/index.ts";
import { parseTask } from "../../src/practice/parse.ts";
import { createFolder, createTalk, createTools } from "./talk.ts";
import type { Talk } from "./talk.ts";

const FILES = {
  "README.md": "# Knots\n\n[![build](badge.svg)](url)\n\nA small guide to knots\nand hitches.\n\n## Install\n",
  "package.json": '{\n  "name": "knots",\n  "description": "Ties knots",\n  "version": "1.0.0"\n}\n',
  "notes.txt": "alpha\nbeta\nalpha again, alphabet\n",
  "my notes.txt": "spaced\n",
  "empty.txt": "",
  "src/tie.ts": "/**\n * Ties a bowline.\n *\n * And more.\n */\nexport function tie(): void {}\n// TODO: untie\n",
  "src/loop.ts":
    "#!/usr/bin/env node\n// Copyright 2020\n\n// A loop that\n// does not slip.\nexport const loop = 1;\n",
  "src/deep/plain.ts": "export interface Rope {}\nexport const rope = 2; // TODO, TODO\n",
  "src/deep/tool.py": '"""Splices two ropes."""\nimport os\n',
  "docs/guide.md": "Just prose.\n\nMore.\n",
  "docs/api.md": "API\n===\n\nEvery call.\n",
  "test/tie.test.ts": "import { tie } from '../src/tie.ts';\ntie();\n",
};

function open(limits?: { lines?: number; paths?: number }): Talk & { folder: string; file(path: string): string } {
  const folder = createFolder(FILES);
  const talk = createTalk(createTools(folder, limits));
  return Object.assign(talk, { folder, file: (path: string) => readFileSync(join(folder, path), "utf8") });
}

/** Asserts that each wording gets an answer with all the parts, and without asking for help. */
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
  it("have examples that are read as the form they are an example of", () => {
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

  it("are listed, with the way to a real model, for help and for what is none of them", () => {
    for (const wording of [
      "help",
      "Who are you?",
      "What can you do?",
      "hello!",
      "tell me a joke",
      "",
      "  ",
      "zzz and help",
    ]) {
      const text = open().say(wording);
      for (const { name, example } of taskForms) assert.ok(text.includes(name) && text.includes(example), wording);
      assert.match(text, /not an LLM[^]*ANTHROPIC_API_KEY=[^]*--model provider\/model[^]*Ollama/);
    }
    assert.match(open().say("tell me a joke"), /^I do not understand “tell me a joke”/);
  });

  it("read through politeness, case, articles, quotes and punctuation", () => {
    const wordings = [
      "read notes.txt",
      "Please read notes.txt.",
      "READ the file notes.txt!",
      "Could you please show me the contents of notes.txt?",
      'open "notes.txt", please',
      "cat ./notes.txt",
      "Hey Bowline, would you kindly print `notes.txt` for me? Thanks",
      "what's in notes.txt?",
      "what does notes.txt say?",
    ];
    answers(wordings, "notes.txt (3 lines):\n\n```\nalpha\nbeta\nalpha again, alphabet\n```");
  });
});

describe("list files", () => {
  it("shows what is directly in a folder, folders marked", () => {
    answers(
      [
        "list the files in src",
        "what is in src?",
        "ls src",
        "Show me the files in the src folder",
        "show me what is in the src folder",
        "give me the list of files in src",
        "what files are in src",
      ],
      "2 files and 1 folder in src",
      "- src/deep/\n- src/loop.ts\n- src/tie.ts",
    );
    answers(["list files", "list the files here", "list all the files in this folder"], "- README.md", "- notes.txt");
    answers(["list the folders"], "3 folders in this folder:\n\n- docs/\n- src/\n- test/");
  });

  it("finds files of an extension at any depth, by dot, letters or language", () => {
    answers(
      [
        "list the .ts files in src",
        "show all TypeScript files in src",
        "which ts files are there in src",
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
      /3 files in docs and test:\n\n- docs\/api.md\n- docs\/guide.md\n- test\/tie.test.ts/,
    );
    assert.deepEqual(
      talk.turns.map((calls) => calls.length),
      [2],
    );
  });

  it("says how many a cut list leaves out", () => {
    const text = open({ paths: 2 }).say("list all files");
    assert.match(text, /^12 files in this folder:\n\n- README.md\n- docs\/api.md\n- and 10 more$/);
  });
});

describe("find files", () => {
  it("goes by name, by glob and, failing that, by a part of the name", () => {
    answers(
      [
        "find tie.ts",
        "where is tie.ts?",
        "find a file called tie.ts",
        "is there a file named tie.ts?",
        "locate the file tie.ts in src",
      ],
      "- src/tie.ts",
    );
    answers(
      ["find *.test.ts", "find files matching *.test.ts", "are there any files matching `*.test.ts`?"],
      "- test/tie.test.ts",
    );
    answers(["is there a README?", "find README"], "- README.md");
    answers(["find nothing.txt"], "There are no");
  });
});

describe("read a file", () => {
  it("shows first lines, last lines and ranges with their numbers", () => {
    answers(
      ["show the first 2 lines of notes.txt", "what are the first two lines of notes.txt?"],
      "notes.txt, lines 1 to 2 of 3:\n\n```\nalpha\nbeta\n```",
    );
    answers(
      ["show me the last 2 lines of notes.txt", "print the last two lines in notes.txt"],
      "lines 2 to 3 of 3:\n\n```\nbeta\nalpha again, alphabet\n```",
    );
    answers(["show lines 2 to 3 of notes.txt", "read lines 2-3 from notes.txt"], "lines 2 to 3 of 3");
    answers(["show line 2 of notes.txt"], "notes.txt, line 2 of 3:\n\n```\nbeta\n```");
    answers(
      ["show the first line of notes.txt", "show me the first line of the file notes.txt"],
      "notes.txt, line 1 of 3:\n\n```\nalpha\n```",
    );
    answers(["tail notes.txt", "head notes.txt"], "notes.txt (3 lines)");
  });

  it("takes names with spaces in quotes and several names, in one turn", () => {
    const talk = open();
    const text = talk.say('read "my notes.txt", empty.txt and notes.txt');
    assert.match(text, /my notes.txt \(1 line\):\n\n```\nspaced\n```\n\nempty.txt is empty.\n\nnotes.txt \(3 lines\)/);
    assert.equal(talk.turns.length, 1);
  });

  it("finds the end of a file that the tool cuts, and never takes a part for the whole", () => {
    const talk = open({ lines: 2 });
    assert.match(
      talk.say("show the last line of notes.txt"),
      /notes.txt, line 3 of 3:\n\n```\nalpha again, alphabet\n```/,
    );
    assert.equal(talk.turns.length, 2);
    assert.match(talk.say("read notes.txt"), /notes.txt, lines 1 to 2 of 3/);
    assert.match(talk.say("write it to copy.txt"), /I do not know what “it” is/);
  });

  it("keeps the fence of its block longer than any in the file", () => {
    const talk = createTalk(createTools(createFolder({ "a.md": "```\ncode\n```\n" })));
    assert.match(talk.say("read a.md"), /````\n```\ncode\n```\n````$/);
  });
});

describe("search and count", () => {
  it("reports where a text is, with numbers that add up", () => {
    const hits = [
      "`TODO` occurs 3 times in src: on 2 lines of 2 files",
      "- src/tie.ts:7: // TODO: untie",
      "- src/deep/plain.ts:2: ",
    ];
    answers(
      [
        "search for TODO in src",
        'grep "TODO" in the src folder',
        "search src for TODO",
        "find TODO in src",
        "where is `TODO` used in src?",
        "find all mentions of TODO in src",
      ],
      ...hits,
    );
    answers(["search for TODO in the .py files"], "`TODO` does not occur in this folder");
    answers(
      ["which files contain Splices?", "what files mention Splices", "find all files containing Splices"],
      "of 1 file",
      "- src/deep/tool.py:1:",
    );
    answers(["where is tie used?"], "4 times", /^(?![^]*untie)/);
  });

  it("takes the text literally, and ignores case only if there is nothing otherwise", () => {
    answers(['search for "(): void {"'], "`(): void {` occurs 1 time");
    answers(
      ["search for ALPHA"],
      "`ALPHA` occurs 3 times in this folder, when upper and lower case are ignored: on 2 lines of 1 file",
    );
    answers(["search for omega"], "`omega` does not occur in this folder, in whatever case.");
  });

  it("counts occurrences, whole words if asked to", () => {
    answers(
      [
        "how many times does alpha occur in notes.txt?",
        "count the occurrences of alpha in notes.txt",
        "how often is alpha mentioned in notes.txt",
      ],
      "`alpha` occurs 3 times in notes.txt: on 2 lines of 1 file",
    );
    answers(['how often does the word "alpha" appear in notes.txt?'], "`alpha` occurs 2 times");
  });

  it("counts lines, of several files in one turn", () => {
    answers(
      [
        "how many lines does notes.txt have?",
        "count the lines of notes.txt",
        "how many lines are in notes.txt",
        "how long is notes.txt?",
      ],
      "notes.txt has 3 lines.",
    );
    answers(
      ["how many lines are in notes.txt and empty.txt?"],
      "notes.txt has 3 lines and empty.txt has 0 lines, 3 together.",
    );
    assert.match(open({ lines: 2 }).say("how many lines does notes.txt have"), /has 3 lines/);
  });

  it("counts files at any depth", () => {
    answers(
      [
        "how many files are in src?",
        "count the files in src",
        "how many files does src have?",
        "how many files are there in src",
      ],
      "There are 4 files in src, subfolders included.",
    );
    answers(
      ["how many .md files are there?", "count all the markdown files"],
      "There are 3 `*.md` files in this folder",
    );
    answers(["how many .py files are in src"], "There is 1 `*.py` file in src");
    assert.match(open({ paths: 2 }).say("how many files are there"), /There are 12 files/);
  });
});

describe("sizes", () => {
  it("names the largest and the smallest with their bytes", () => {
    const wordings = [
      "which file in src is the largest?",
      "what is the largest file in src?",
      "show me the largest .ts file in src",
    ];
    answers(wordings, "src/loop.ts is the largest, with 95 bytes. Next is src/tie.ts with 89 bytes.");
    answers(["what's the biggest file in src and test"], "Of the 5 files in src and test, src/loop.ts is the biggest");
    answers(["what is the smallest .md file?"], "docs/guide.md is the smallest, with 19 bytes. Next is docs/api.md");
  });

  it("asks again for a list that was cut, since the largest may be missing", () => {
    const talk = open({ paths: 1 });
    assert.match(talk.say("what is the largest file in src?"), /Of the 4 files in src, src\/loop.ts/);
    assert.match(talk.turns[1]?.[0] ?? "", /"limit":4/);
  });

  it("names all that are equal", () => {
    const talk = createTalk(createTools(createFolder({ "a.txt": "x", "b.txt": "y" })));
    assert.match(talk.say("which file is the largest?"), /a.txt and b.txt are equally the largest, with 1 byte\./);
  });

  it("measures files and whole folders in one turn, and compares", () => {
    answers(
      ["how big is notes.txt?", "what is the size of notes.txt"],
      `notes.txt has ${FILES["notes.txt"].length} bytes.`,
    );
    const docs = FILES["docs/api.md"].length + FILES["docs/guide.md"].length;
    const talk = open();
    assert.match(
      talk.say("compare the sizes of docs and test"),
      new RegExp(`docs has ${docs} bytes in 2 files and test has 44 bytes in 1 file. The largest is test.`),
    );
    assert.equal(talk.turns.length, 1);
    answers(
      ["which is bigger, docs or test?", "is docs bigger than test?", "compare docs with test", "compare test to docs"],
      "The largest is test.",
    );
  });
});

describe("explain", () => {
  it("answers from headline, description, header comment or docstring", () => {
    answers(
      ["what is README.md for?", "explain README.md", "what is README.md about", "tell me what README.md is about"],
      "README.md says of itself: Knots: A small guide to knots and hitches.",
    );
    answers(["what is package.json for?", "describe package.json"], "package.json says of itself: knots: Ties knots");
    answers(["what does src/tie.ts do?"], "src/tie.ts says of itself: Ties a bowline.");
    answers(["explain src/loop.ts"], "src/loop.ts says of itself: A loop that does not slip.");
    answers(["explain src/deep/tool.py"], "says of itself: Splices two ropes.");
    answers(["explain docs/api.md"], "says of itself: API: Every call.");
  });

  it("falls back on what the file defines, then on how it begins", () => {
    answers(["explain src/deep/plain.ts"], "has no header comment. Its first 2 lines define Rope and rope.");
    answers(["explain notes.txt"], "does not say what it is for. It begins with: alpha beta");
    answers(["explain empty.txt"], "empty.txt is empty.");
  });

  it("explains a folder and the project from what is in them", () => {
    answers(
      ["what is this project about?", "explain this project", "describe the repo"],
      "Knots: A small guide",
      "knots: Ties knots",
      "This folder holds README.md, docs/",
    );
    answers(["what is src for?"], "src holds deep/, loop.ts and tie.ts.");
  });
});

describe("commands and changes", () => {
  it("runs what is quoted, and what is not", () => {
    answers(
      ["run `echo hi`", "run echo hi", "Please run the command echo hi", 'execute "echo hi"', "$ echo hi"],
      "`echo hi` printed:\n\n```\nhi\n```",
    );
    answers(["run `true`"], "`true` ran and printed nothing.");
    answers(["run `echo no; exit 3`"], "failed", "no\n[exit code 3]");
  });

  it("does not run words that were meant for it, nor what is in backticks as a part", () => {
    for (const wording of ["run npm install and go home", "run `ls` in src"]) {
      const talk = open();
      assert.match(talk.say(wording), /I do not understand/);
      assert.equal(talk.turns.length, 0);
    }
  });

  it("writes exactly the text", () => {
    const wordings = [
      'write "hello there" to out/a.txt',
      "Write hello there to the file out/a.txt",
      "save `hello there` as out/a.txt",
      "create a file out/a.txt with hello there",
      'create a new file called out/a.txt containing "hello there"',
      "create out/a.txt with hello there",
      "write to out/a.txt: hello there",
    ];
    for (const wording of wordings) {
      const talk = open();
      assert.equal(talk.say(wording), "Created out/a.txt (11 bytes).", wording);
      assert.equal(talk.file("out/a.txt"), "hello there");
    }
    const talk = open();
    talk.say('write this to a.md:\n```md\n# Title\n\n- it\'s "quoted"\n```');
    assert.equal(talk.file("a.md"), '# Title\n\n- it\'s "quoted"\n');
    assert.match(talk.say("create an empty file b.txt"), /Created b.txt \(0 bytes\)/);
    assert.match(talk.say('write "new" to notes.txt'), /Replaced notes.txt \(3 bytes\)/);
  });

  it("replaces and removes text, all occurrences", () => {
    for (const wording of [
      "replace alpha with omega in notes.txt",
      'change "alpha" to "omega" in notes.txt',
      "rename alpha to omega in the file notes.txt",
      "in notes.txt, replace all alpha by omega",
    ]) {
      const talk = open();
      assert.equal(talk.say(wording), "Edited notes.txt: 3 replacements (first at line 1).", wording);
      assert.equal(talk.file("notes.txt"), "omega\nbeta\nomega again, omegabet\n");
    }
    const talk = open();
    talk.say('remove ", alphabet" from notes.txt');
    assert.equal(talk.file("notes.txt"), "alpha\nbeta\nalpha again\n");
  });

  it("says what may have been meant when there is nothing to replace, and changes nothing", () => {
    answers(
      ["replace Beta with x in notes.txt"],
      "I could not edit notes.txt",
      "Written differently it is there: notes.txt:2:beta.",
    );
    answers(
      ["replace tie with x in tie.ts"],
      "I could not edit tie.ts: No such file: tie.ts. Did you mean src/tie.ts?",
    );
  });
});
