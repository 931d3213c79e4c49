import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { createFolder } from "./folder.ts";

const tools = new URL("../../src/tools/bash.ts", import.meta.url).href;
const lastLine = (text: string): string => text.slice(text.lastIndexOf("\n") + 1);

describe("output of bash", () => {
  it("is stopped long before 10 GB, with bounded memory and disk use", async (t) => {
    const folder = createFolder(t);
    const before = process.memoryUsage().rss;
    const { text, isError, details } = await folder.call("bash", {
      command: "yes | head -c 10000000000",
    });
    const grown = process.memoryUsage().rss - before;
    assert.equal(lastLine(text), "[stopped: it printed more than 500000000 bytes]");
    assert.ok(isError && text.length < 31_000);
    assert.equal(statSync(details["fullOutputPath"] as string).size, 100_000_000);
    assert.ok(grown < 150 * 2 ** 20, `grew by ${grown} bytes`);
  });

  it("is limited to 1 GB on disk: the oldest files are removed, and no others", async (t) => {
    const folder = createFolder(t);
    const put = (name: string, hour: number): string => {
      const path = join(folder.outputs, name);
      writeFileSync(path, "");
      truncateSync(path, 100_000_000);
      utimesSync(path, hour * 3600, hour * 3600);
      return name;
    };
    const name = (hour: number): string =>
      `bowline-output-00000000-0000-4000-8000-0000000000${hour + 10}.txt`;
    const old = Array.from({ length: 12 }, (_, hour) => put(name(hour), hour));
    put("bowline-output-of-mine.txt", 0);
    const { details } = await folder.call("bash", { command: "seq 1 10000" });
    const left = readdirSync(folder.outputs);
    // Nine old files and the new one, which may grow to 100 MB too.
    for (const [hour, path] of old.entries()) assert.equal(left.includes(path), hour >= 3, path);
    assert.ok(left.includes("bowline-output-of-mine.txt"));
    assert.ok(existsSync(details["fullOutputPath"] as string));
    assert.equal(left.length, 11);
  });

  it("is reported as incomplete when it could not be stored, and no partial file stays", async (t) => {
    const folder = createFolder(t);
    // A limit on file sizes simulates a full disk.
    const script = `
      import { createBashTool } from ${JSON.stringify(tools)};
      const tool = createBashTool(${JSON.stringify({ root: folder.root, outputFolder: folder.outputs })});
      const { content, details } = await tool.execute("1", { command: "seq 1 100000" });
      console.log(JSON.stringify([content[0].text, details]));`;
    const limited = ["-c", 'ulimit -f 100; exec "$0" "$@"', process.execPath];
    const args = [
      ...limited,
      "--conditions=@bowline/source",
      "--input-type=module",
      "--eval",
      script,
    ];
    const { stdout } = await promisify(execFile)("/bin/sh", args);
    const [text, details] = JSON.parse(stdout) as [string, Record<string, unknown>];
    assert.match(
      text.slice(14_000, 16_000),
      /\n\[\d+ characters left out here; the full output could not be kept\]\n/,
    );
    assert.equal(details["fullOutputPath"], undefined);
    assert.deepEqual(readdirSync(folder.outputs), []);
    rmSync(folder.outputs, { recursive: true });
    const { text: said } = await folder.call("bash", { command: "seq 1 10000" });
    assert.match(
      said.slice(14_000, 16_000),
      /\n\[\d+ characters left out here; the full output could not be kept\]\n/,
    );
  });

  it("names no output file when the command has removed it", async (t) => {
    const folder = createFolder(t);
    const command = `seq 1 100000; until rm ${folder.outputs}/* 2> /dev/null; do sleep 0.01; done`;
    const { text, details } = await folder.call("bash", { command });
    assert.match(
      text.slice(14_000, 16_000),
      /\n\[\d+ characters left out here; the full output could not be kept\]\n/,
    );
    assert.equal(details["fullOutputPath"], undefined);
    assert.equal(details["truncated"], true);
  });

  it("is not sent to the model when it is binary, and is stored in a file", async (t) => {
    const folder = createFolder(t);
    const bytes = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(1000, 1)]);
    folder.put("a.png", bytes);
    const { text, details, isError } = await folder.call("bash", { command: "cat a.png" });
    const path = details["fullOutputPath"] as string;
    assert.equal(text, `[binary output is not shown: image/png]\n[the full output is in ${path}]`);
    assert.ok(readFileSync(path).equals(bytes));
    assert.deepEqual([isError, details["truncated"]], [false, false]);
    const long = await folder.call("bash", {
      command: "seq 1 5000; head -c 100000 /dev/zero; exit 3",
    });
    assert.ok(long.text.startsWith("1\n2\n3\n"));
    const tail = `the full output is in ${long.details["fullOutputPath"] as string}]\n[binary output is not shown]\n[exit code 3]`;
    assert.ok(long.text.endsWith(tail), long.text.slice(-300));
    assert.equal(
      statSync(long.details["fullOutputPath"] as string).size,
      5000 * 5 - 1107 + 100_000,
    );
  });

  it("is shown with single control characters escaped and colours kept", async (t) => {
    const folder = createFolder(t);
    const command = String.raw`printf 'one\0two\0\001\177 \033[31mred\033[0m\ttab\r\n'`;
    const { text, details } = await folder.call("bash", { command });
    assert.equal(text, "one\\x00two\\x00\\x01\\x7f \u001B[31mred\u001B[0m\ttab\r\n");
    assert.equal(details["fullOutputPath"], undefined);
  });

  it("is not streamed when it is binary", async (t) => {
    const folder = createFolder(t);
    const updates: string[] = [];
    const command = "echo text; sleep 0.2; head -c 5000 /dev/zero";
    await folder.call("bash", { command }, { onUpdate: (update) => void updates.push(update) });
    assert.deepEqual(updates, ["text\n", "[binary output is not shown]\n"]);
  });
});
