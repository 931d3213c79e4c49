/**
 * The command from source, installed beside core as by `npm install -g @bowline/core bowline`, so
 * that core cannot resolve its dependencies.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { chatText, failing, loopback } from "../../../test/support/loopback.ts";
import type { Ended } from "./command.ts";

const packages = join(import.meta.dirname, "../..");
const folder = realpathSync(mkdtempSync(join(tmpdir(), "bowline-global-")));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Upper limit of a command, far above what a busy machine needs, in milliseconds. */
const LIMIT_MS = 120_000;

for (const name of ["core", "mcp", "bowline"])
  for (const part of ["src", "package.json"])
    cpSync(join(packages, name, part), join(folder, name, part), { recursive: true });
// Links the folder, because Node does not load TypeScript below `node_modules`.
for (const name of ["core", "mcp"])
  link(join(folder, name), join(folder, "node_modules/@bowline", name));
const { dependencies } = JSON.parse(
  readFileSync(join(packages, "bowline/package.json"), "utf8"),
) as { dependencies: Record<string, string> };
for (const name of Object.keys(dependencies).filter((one) => !one.startsWith("@bowline/")))
  link(join(packages, "../node_modules", name), join(folder, "bowline/node_modules", name));

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path, "dir");
}

async function bowline(...args: readonly string[]): Promise<Omit<Ended, "ms">> {
  const main = join(folder, "bowline/src/cli/main.ts");
  const child = spawn(process.execPath, ["--conditions=@bowline/source", main, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", HOME: folder, BOWLINE_HOME: join(folder, "data") },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: LIMIT_MS,
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

describe("the command, installed globally beside core", () => {
  it("lists the models of a server, and runs with the first", async () => {
    await using server = await loopback(
      (response) => response.end('{"data":[{"id":"gpt-5-mini"}]}'),
      chatText("Here."),
    );
    const { code, stdout, stderr } = await bowline("run", "--base-url", server.baseUrl, "hi");
    assert.deepEqual([code, stdout], [0, "Here.\n"], stderr);
    assert.deepEqual(
      server.requests.map(({ url }) => url),
      ["/v1/models", "/v1/chat/completions"],
    );
  });

  it("examines a server", async () => {
    await using server = await loopback(failing(401, {}));
    const { code, stdout, stderr } = await bowline("doctor", server.baseUrl);
    assert.match(stdout + stderr, /the server wants a key \(HTTP 401/);
    assert.notEqual(code, 0);
  });
});
