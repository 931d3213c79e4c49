/**
 * `bowline run` while its model server is down, busy or cut off, and how it continues afterwards.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { AgentEvent } from "@bowline/core";
import { freePort } from "../../../test/support/free-ports.ts";
import { chatText, failing, loopback, type Handler } from "../../../test/support/loopback.ts";
import { bowline, temporary, type CommandOptions } from "./command.ts";

const at = (baseUrl: string, ...more: string[]): string[] => [
  "run",
  "--base-url",
  baseUrl,
  "--model",
  "m",
  ...more,
];
const address = (port: number): string => `http://127.0.0.1:${port}/v1`;
const host = (baseUrl: string): string => new URL(baseUrl).host;

/** Returns the lines about retries. */
const passing = (stderr: string): string[] =>
  stderr.split("\n").filter((line) => line.startsWith("… "));

/** Sends a part of an answer, then breaks the connection. */
const cut: Handler = (response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write('data: {"choices":[{"delta":{"content":"half"}}]}\n\n', () =>
    setTimeout(() => response.destroy(), 5),
  );
};

/** Calls `then` when the command reports a retry. */
function onceRetrying(then: (kill: (signal: NodeJS.Signals) => void) => void): CommandOptions {
  return {
    watch(child) {
      const listen = (text: string): void => {
        if (!text.includes("Retrying")) return;
        child.stderr?.off("data", listen);
        then((signal) => child.kill(signal));
      };
      child.stderr?.on("data", listen);
    },
  };
}

describe("a model server that fails", () => {
  it("is retried while it is down: the run says so once, and finishes", async () => {
    const port = await freePort();
    const server = createServer((request, response) => chatText("Back.")(response, request, ""));
    let timer: NodeJS.Timeout | undefined;
    const { code, stdout, stderr } = await bowline(
      at(address(port), "hi"),
      onceRetrying(() => {
        timer = setTimeout(() => server.listen(port, "127.0.0.1"), 1500);
      }),
    );
    clearTimeout(timer);
    server.close();
    assert.deepEqual([code, stdout], [0, "Back.\n"], stderr);
    const [down, back, ...others] = passing(stderr);
    assert.equal(down, `… No response from 127.0.0.1:${port}. Retrying for up to 2 min.`);
    assert.match(back ?? "", /^… 127\.0\.0\.1:\d+ answered after \d+ retries \(\d+ s\)$/);
    assert.deepEqual(others, []);
  });

  it("is reported with each new reason, and every retry is an event with --json", async () => {
    const busy = failing(529, "busy");
    const broken = failing(500, "broken");
    await using server = await loopback(broken, broken, busy, chatText("Hi."));
    const { code, stderr } = await bowline(at(server.baseUrl, "hi"));
    assert.equal(code, 0, stderr);
    const name = host(server.baseUrl);
    assert.deepEqual(passing(stderr).slice(0, 2), [
      `… ${name} answered with HTTP 500. Retrying for up to 2 min.`,
      `… ${name} is overloaded. Retrying for up to 2 min.`,
    ]);
    await using again = await loopback(broken, busy, chatText("Hi."));
    const { stdout } = await bowline(at(again.baseUrl, "--json", "hi"));
    const retries = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as AgentEvent)
      .filter((event) => event.type === "request_retry");
    assert.deepEqual(
      retries.map(({ attempt, error }) => [attempt, error.status]),
      [
        [1, 500],
        [2, 529],
      ],
    );
  });

  it("is retried when it cut an answer off, and the output keeps nothing of that answer", async () => {
    await using server = await loopback(cut, chatText("whole"));
    const { code, stdout, stderr } = await bowline(at(server.baseUrl, "hi"));
    assert.deepEqual([code, stdout], [0, "whole\n"], stderr);
    assert.match(passing(stderr)[0] ?? "", /The answer of 127\.0\.0\.1:\d+ was cut off\. Retrying/);
  });

  it("is given up at once on Ctrl-C, and when --timeout is over", async () => {
    const port = await freePort();
    let pressed = 0;
    const stopped = await bowline(
      at(address(port), "hi"),
      onceRetrying((kill) => {
        pressed = Date.now();
        kill("SIGINT");
      }),
    );
    assert.equal(stopped.code, 130, stopped.stderr);
    assert.ok(Date.now() - pressed < 20_000);
    const late = await bowline(at(address(port), "--timeout", "1", "hi"));
    assert.equal(late.code, 3, late.stderr);
  });
});

describe("a request for the list of models", () => {
  const models: Handler = (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end('{"data":[{"id":"only"}]}');
  };
  const unnamed = (baseUrl: string, ...more: string[]): string[] => [
    "run",
    "--base-url",
    baseUrl,
    ...more,
  ];

  it("is retried while the server is down, like an answer", async () => {
    const port = await freePort();
    const server = createServer((request, response) =>
      (request.url === "/v1/models" ? models : chatText("Back."))(response, request, ""),
    );
    let timer: NodeJS.Timeout | undefined;
    const { code, stdout, stderr } = await bowline(
      unnamed(address(port), "hi"),
      onceRetrying(() => {
        timer = setTimeout(() => server.listen(port, "127.0.0.1"), 1000);
      }),
    );
    clearTimeout(timer);
    server.close();
    assert.deepEqual([code, stdout], [0, "Back.\n"], stderr);
    assert.match(stderr, /^bowline: custom\/only /m);
    const [down, back, ...others] = passing(stderr);
    assert.equal(down, `… No response from 127.0.0.1:${port}. Retrying for up to 2 min.`);
    assert.match(back ?? "", /^… 127\.0\.0\.1:\d+ answered after \d+ retries \(\d+ s\)$/);
    assert.deepEqual(others, []);
  });

  it("is retried after a busy or broken reply, with the server's delay, and not after a permanent error", async () => {
    const broken = failing(502, "broken");
    const busy = failing(429, "busy", { "retry-after": "0" });
    await using server = await loopback(broken, busy, models, chatText("Hi."));
    const { code, stderr } = await bowline(unnamed(server.baseUrl, "hi"));
    assert.equal(code, 0, stderr);
    const name = host(server.baseUrl);
    assert.deepEqual(passing(stderr), [
      `… ${name} answered with HTTP 502. Retrying for up to 2 min.`,
      `… ${name} limits the rate. Retrying for up to 2 min.`,
      `… ${name} answered after 2 retries (1 s)`,
    ]);
    for (const answer of [failing(404, "no"), failing(501, "no"), failing(200, "<html>")]) {
      await using other = await loopback(answer);
      const failed = await bowline(unnamed(other.baseUrl, "hi"));
      assert.deepEqual([failed.code, other.requests.length], [1, 1], failed.stderr);
      assert.match(failed.stderr, /^bowline: Could not list the models at .*--model\.\n$/);
    }
  });

  it("is given up after --retry-for, on Ctrl-C, and when --timeout is over", async () => {
    const port = await freePort();
    const late = await bowline(unnamed(address(port), "--retry-for", "0.6", "hi"));
    assert.equal(late.code, 1);
    assert.match(late.stderr, /Could not list the models at .* \(ECONNREFUSED\)\. Name one/);
    assert.equal(passing(late.stderr).length, 1);
    const stopped = await bowline(
      unnamed(address(port), "hi"),
      onceRetrying((kill) => kill("SIGINT")),
    );
    assert.equal(stopped.code, 130, stopped.stderr);
    assert.doesNotMatch(stopped.stderr, /Could not|answered/);
    const over = await bowline(unnamed(address(port), "--timeout", "1", "hi"));
    assert.equal(over.code, 3, over.stderr);
    assert.match(over.stderr, /^bowline: The server listed no models within the time/m);
  });
});

describe("a run that ended by an error", () => {
  it("is continued by --continue and --session without its task", async () => {
    await using folder = await temporary();
    await using server = await loopback(failing(500, "broken"));
    const options = { cwd: folder.path, env: { BOWLINE_HOME: join(folder.path, "home") } };
    const failed = await bowline(
      at(server.baseUrl, "--retry-for", "0.01", "--session", "mine", "the task"),
      options,
    );
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /^continue with: bowline run --session mine$/m);
    for (const which of [["--continue"], ["--session", "mine"]]) {
      const again = await bowline(
        [...at(server.baseUrl, "--retry-for", "0.01"), ...which],
        options,
      );
      assert.equal(again.code, 1);
      assert.match(again.stderr, /^bowline: the last run ended by an error\. Continuing it\.$/m);
      await using well = await loopback(chatText("Done."));
      const { code, stdout, stderr } = await bowline([...at(well.baseUrl), ...which], options);
      assert.deepEqual([code, stdout], [0, "Done.\n"], stderr);
      const { messages } = JSON.parse(well.requests[0]?.body ?? "") as {
        messages: { role: string; content: string }[];
      };
      const expected = which[0] === "--continue" ? ["the task"] : ["the task", "Done.", "more"];
      assert.deepEqual(
        messages.slice(1).map(({ content }) => content),
        expected,
      );
      await bowline(
        [...at(server.baseUrl, "--retry-for", "0.01"), "--session", "mine", "more"],
        options,
      );
    }
  });
});
