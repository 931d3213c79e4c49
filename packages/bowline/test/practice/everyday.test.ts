/** Everyday wordings with the practice server, the agent and the real tools over a folder. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Agent, getModel, messageText } from "@bowline/core";
import { startPracticeServer } from "../../src/practice/index.ts";
import type { PracticeServer } from "../../src/practice/index.ts";
import { createTools } from "../../src/tools/index.ts";
import { createFolder } from "./talk.ts";

const FILES = {
  "README.md": "# Teapot shop\n\nReads prices of teapots\nand prints the cheapest.\n",
  "list.txt": "apple\nbanana\ncherry\ndate\npear\nplum\n",
  "notes.md": "# Notes\n\nThe teapot is blue. The other teapot is green.\nTODO: buy milk\n",
  "config.json": '{\n  "name": "teapots"\n}\n',
  "src/price.ts":
    "export function parsePrice(text: string): number {\n  return Number(text); // TODO\n}\n\nparsePrice('3');\n",
  "src/big.dat": "x".repeat(5000),
};

let server: PracticeServer;
before(async () => {
  server = await startPracticeServer({ paceMs: 0 });
});
after(() => server.close());

interface Told {
  readonly text: string;
  /** The tools that ran. */
  readonly tools: readonly string[];
  /** Returns the content of a file afterwards, or undefined if it does not exist. */
  readonly file: (path: string) => string | undefined;
}

async function ask(task: string, files: Readonly<Record<string, string>> = FILES): Promise<Told> {
  const folder = createFolder(files);
  const ages: Readonly<Record<string, number>> = { "list.txt": 0, "README.md": 120 };
  for (const path of Object.keys(files)) {
    const time = new Date(Date.now() - (ages[path] ?? 60) * 1000);
    utimesSync(join(folder, path), time, time);
  }
  const model = getModel("practice", "practice", {
    baseUrl: server.baseUrl,
    reasoning: false,
    input: ["text"],
  });
  const tools = createTools({ root: folder });
  const agent = new Agent({ initialState: { model, tools } });
  await agent.prompt(task);
  const { messages } = agent.state;
  const last = messages.findLast(({ role }) => role === "assistant");
  return {
    text: last === undefined ? "" : messageText(last),
    tools: messages.flatMap((message) => (message.role === "toolResult" ? [message.toolName] : [])),
    file: (path) => {
      const at = join(folder, path);
      return existsSync(at) ? readFileSync(at, "utf8") : undefined;
    },
  };
}

/** Checks each request against the expected part of its answer. */
async function expectAnswers(
  cases: readonly (readonly [string, string | RegExp])[],
): Promise<void> {
  for (const [wording, part] of cases) {
    const { text } = await ask(wording);
    const holds = typeof part === "string" ? text.includes(part) : part.test(text);
    assert.ok(holds, `${wording}\n→ ${text}\nlacks ${part}`);
  }
}

const LARGEST = "Of the 6 files in this folder, src/big.dat is the largest, with 5000 bytes.";
const LINES = "list.txt has 6 lines.";
const ABOUT =
  "README.md says of itself: Teapot shop: Reads prices of teapots and prints the cheapest.";

describe("everyday questions", () => {
  it("about files are answered with the value", () =>
    expectAnswers([
      ["Which file here is the largest?", LARGEST],
      ["largest file?", LARGEST],
      ["Tell me what the largest file is", LARGEST],
      [
        "In src, which file is the smallest?",
        "Of the 2 files in src, src/price.ts is the smallest",
      ],
      ["Which is the biggest file in src?", "src/big.dat is the biggest, with 5000 bytes"],
      [
        "Find the two largest files",
        /^The 2 largest of the 6 files .*\n\n- src\/big.dat: 5000 bytes\n- src\/price.ts: /,
      ],
      [
        "Which file was changed last?",
        /^list.txt was changed last of the files in this folder, at 20/,
      ],
      ["which is the oldest file?", /^README.md was changed first of the files/],
      ["what's the newest file", /^list.txt was changed last/],
      [
        "Which file in src is the oldest?",
        /^src\/\S+ and src\/\S+ were changed first of the files in src/,
      ],
      ["How many files do we have here?", "There are 6 files in this folder, subfolders included."],
      ["How many markdown files are there?", "There are 2 `*.md` files"],
      ["how many files does src have?", "There are 2 files in src"],
      ["How many folders are there?", "There is 1 folder in this folder"],
      ["Which folders are here?", /^1 folder in this folder:\n\n- src\/$/],
      ["What is in this folder?", "5 items in this folder"],
      ["what's here?", "5 items in this folder"],
      ["Is there a README?", "- README.md"],
      ["does list.txt exist?", "- list.txt"],
      ["is list.txt larger than config.json?", "The largest is list.txt."],
      ["Hi! Tell me the size of list.txt.", `list.txt has ${FILES["list.txt"].length} bytes.`],
      ["How large is list.txt?", `list.txt has ${FILES["list.txt"].length} bytes.`],
    ]));

  it("about files changed in the same second name some, and do not claim to be complete", async () => {
    const names = Array.from({ length: 25 }, (_, index) => `f${index}.md`);
    const files = Object.fromEntries(names.map((name) => [name, ""]));
    const { text } = await ask("which file is the oldest?", files);
    assert.match(text, / and 8 more and perhaps more were changed first/);
  });

  it("about a missing folder are not answered for another folder", async () => {
    const { text } = await ask("which file in src and nowhere is the newest?");
    assert.match(text, /^I could not look at the times: find: .*nowhere/);
  });

  it("about texts are answered with the value", () =>
    expectAnswers([
      ["How many lines has list.txt?", LINES],
      ["Can you tell me how many lines list.txt has?", LINES],
      ["I need the number of lines in list.txt", LINES],
      ["find the newest file and show its first line", "```\napple\n```"],
      ["Read list.txt and tell me how many lines it has", LINES],
      ["count the lines in list.txt", LINES],
      ["How many words are in notes.md?", "notes.md has 14 words."],
      [
        "How many characters does list.txt have?",
        `list.txt has ${FILES["list.txt"].length} characters.`,
      ],
      ["Read README.md and tell me what it is for", /^README.md says of itself: Teapot/],
      ["What is this project about?", ABOUT],
      ["Summarise README.md", ABOUT],
      ["Explain what README.md is for, please", ABOUT],
      [
        "What are the first two lines of list.txt?",
        "lines 1 to 2 of 6:\n\n```\napple\nbanana\n```",
      ],
      ["print the last line of list.txt", "```\nplum\n```"],
      ["What does config.json contain?", '"name": "teapots"'],
      ["Please display the contents of config.json", '"name": "teapots"'],
      [
        "Where is parsePrice defined?",
        /^`parsePrice` is declared on 1 line:\n\n- src\/price.ts:1: export/,
      ],
      ["Where is parseTax defined?", /^No line in this folder declares `parseTax`/],
      ["Where do we use parsePrice?", "`parsePrice` occurs 2 times in this folder"],
      ["show the third line of list.txt", "lines 3 to 3 of 6:\n\n```\ncherry\n```"],
      ["What's on line 2 of list.txt?", "```\nbanana\n```"],
      ["search notes.md for teapot", "`teapot` occurs 2 times in notes.md"],
      ["How many todos are there?", "`TODO` occurs 2 times"],
      ["find all TODOs", "`TODO` occurs 2 times in this folder: on 2 lines of 2 files."],
      ['Which files mention "teapot"?', "on 3 lines of 3 files"],
      ["Does list.txt contain pear?", "`pear` occurs 1 time in list.txt"],
      ["Does list.txt contain kiwi?", "`kiwi` does not occur in list.txt"],
    ]));

  it("about the machine are answered from the machine", async () => {
    await expectAnswers([
      ["What day is it?", new RegExp(`^It is .*${new Date().getFullYear()}`)],
      ["Which folder am I in?", /^This is \/.*practice-/],
      ["what is 17 times 23?", "= 391"],
    ]);
  });

  it("that are not understood call no tool, and get two lines", async () => {
    for (const wording of [
      "What is the capital of France?",
      "What's the time in Tokyo?",
      "Who won the world cup in 2018?",
      "Write a poem about the sea",
      "Fix the bug in src/price.ts",
      "Refactor this project to use ESM",
      "Translate README.md to French",
      "Read README.md and translate it to German",
      "how many functions are in src/price.ts?",
      "What is the longest line in list.txt?",
      "Which country is the largest?",
      "which file is not the largest?",
      "which files do not contain teapot?",
      "which file is the largest except src/big.dat?",
      "how many empty lines has list.txt?",
      "list the files not in src",
      "do not write 'x' to list.txt",
      "how can I append 'x' to list.txt?",
      "read list.txt unless it is big",
      "write 'a' to a.txt but not if it exists",
      "delete the second line of list.txt",
      "Wie viele Zeilen hat list.txt?",
    ]) {
      const { text, tools } = await ask(wording);
      assert.match(text, /^I (?:do not )?understand “.*\n.*$/, wording);
      assert.deepEqual(tools, [], wording);
    }
  });

  it("that ask for judgement or for invented text are refused with the reason", async () => {
    const cases: Record<string, RegExp> = {
      "find bugs in src/price.ts": /^I search for a text, and judge nothing/,
      "Write a poem about cats to poem.txt":
        /^I write nothing of my own\.\nIf this is the text itself, put it in quotes: "a poem about cats"$/,
      "Make a file todo.md that says buy milk and list the files": /^I write no text of my own/,
      "change version to 2.0.0 in config.json": /^Put both texts in quotes/,
      "Add tests to src/price.ts": /^I write nothing of my own/,
      "Replace the title with something better in README.md": /^Put both texts in quotes/,
      "Run the tests": /^Please put all of the command in backticks/,
      "delete list.txt": /^I delete nothing by myself. If you mean it, say: run `rm list.txt`$/,
    };
    for (const [wording, reason] of Object.entries(cases)) {
      const { text, tools, file } = await ask(wording);
      assert.match(text, reason);
      assert.deepEqual(tools, [], wording);
      assert.equal(file("poem.txt"), undefined);
    }
  });
});

describe("everyday changes", () => {
  const list = FILES["list.txt"];
  it("write exactly what was asked for to the files", async () => {
    const cases: [string, string, string | undefined][] = [
      ['Create a file hello.txt with the text "Hello, world"', "hello.txt", "Hello, world"],
      ["make a file called todo.md that says 'buy the milk'", "todo.md", "buy the milk"],
      ["Create an empty file called empty.txt", "empty.txt", ""],
      ["Write 'hello' into out/greet.txt", "out/greet.txt", "hello"],
      ['Append the line "kiwi" to list.txt', "list.txt", `${list}kiwi\n`],
      ['put "kiwi" at the end of list.txt', "list.txt", `${list}kiwi\n`],
      ["In list.txt, replace plum with peach", "list.txt", list.replace("plum", "peach")],
      [
        "Replace every occurrence of pear with fig in list.txt",
        "list.txt",
        list.replace("pear", "fig"),
      ],
      ["rename list.txt to fruit.txt", "fruit.txt", list],
      ["rename list.txt to fruit.txt", "list.txt", undefined],
      ["Copy list.txt to backup.txt", "backup.txt", list],
      ['copy list.txt to "my copy.txt"', "my copy.txt", list],
      ["Count the lines in list.txt and write the number to count.txt", "count.txt", "6"],
      ["Find the largest file and write its name to name.txt", "name.txt", "src/big.dat"],
      ["Make a folder called drafts and copy list.txt to drafts/a.txt", "drafts/a.txt", list],
    ];
    for (const [wording, path, content] of cases) {
      const { text, file } = await ask(wording);
      assert.equal(file(path), content, `${wording}\n→ ${text}`);
    }
  });

  it("do not overwrite an existing file", async () => {
    for (const wording of [
      'create a file called list.txt with "x"',
      "create a file list.txt",
      "copy notes.md to list.txt",
      "rename notes.md to list.txt",
    ]) {
      const { text, file } = await ask(wording);
      assert.match(text, /list.txt exists already/, wording);
      assert.equal(file("list.txt"), list);
      assert.equal(file("notes.md"), FILES["notes.md"]);
    }
  });

  it("explain why a new file cannot be created", async () => {
    assert.match((await ask('create a file called src with "x"')).text, /^src exists already/);
    const { text } = await ask('create a file called ../x.txt with "x"');
    assert.match(text, /^I could not read ..\/x.txt: .* is outside the working directory/);
  });

  it("append to a file whatever its last line ends with", async () => {
    const cases: Record<string, string> = {
      a: "a\nz",
      "a\n\n": "a\n\nz\n",
      "a\na\na\n": "a\na\na\nz\n",
      "a\r\nb\r\n": "a\r\nb\r\nz\r\n",
      "aa}\na}\n}\n": "aa}\na}\n}\nz\n",
    };
    for (const [given, expected] of Object.entries(cases)) {
      const { text, file } = await ask('append "z" to a.txt', { "a.txt": given });
      assert.equal(file("a.txt"), expected, text);
    }
    assert.match(
      (await ask('append "z" to a.txt', { "a.txt": "" })).text,
      /^a.txt is empty. Say: write/,
    );
  });
});
