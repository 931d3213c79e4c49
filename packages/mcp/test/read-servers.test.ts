/** How entries are read: the field's own shape, and nothing that is not understood. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readServers } from "../src/config/read-servers.ts";
import type { McpOptions } from "../src/index.ts";

const read = (servers: unknown, env: Record<string, string> = {}): ReturnType<typeof readServers> =>
  readServers(servers, env);
const one = (entry: unknown, env?: Record<string, string>): unknown =>
  read({ s: entry }, env)[0]?.reach;
const refuses = (entry: unknown, why: RegExp, env?: Record<string, string>): void =>
  assert.throws(() => read({ s: entry }, env), why);

describe("an entry of a server", () => {
  it("is read as other tools write it, also as their whole file", () => {
    const entries = {
      files: { command: "npx", args: ["-y", "server", "/tmp"], env: { A: "1" }, cwd: "/tmp" },
      remote: { type: "http", url: "https://example.com/mcp", headers: { "X-Key": "k" } },
    };
    const [files, remote] = read({ mcpServers: entries });
    assert.deepEqual(files?.reach, { kind: "stdio", ...entries.files });
    assert.deepEqual(remote?.reach, {
      kind: "http",
      url: new URL("https://example.com/mcp"),
      headers: { "X-Key": "k" },
    });
    assert.deepEqual(read(entries), read({ mcpServers: entries }));
  });

  it("is read with the names of other tools for the same thing", () => {
    const url = new URL("https://e.com/");
    assert.deepEqual(one({ httpUrl: "https://e.com" }), { kind: "any", url, headers: {} });
    assert.deepEqual(one({ serverUrl: "https://e.com" }), { kind: "any", url, headers: {} });
    assert.deepEqual(one({ type: "streamableHttp", url: "https://e.com" }), {
      kind: "http",
      url,
      headers: {},
    });
    assert.deepEqual(one({ type: "sse", url: "https://e.com" }), { kind: "sse", url, headers: {} });
    const [chosen] = read({
      s: { command: "a", tools: ["*"], disabledTools: ["x"], excludeTools: ["y"] },
    });
    assert.deepEqual(chosen?.choice, { only: undefined, without: ["y", "x"] });
  });

  it("may be called mcpServers or servers", () => {
    assert.equal(read({ mcpServers: { command: "a" } })[0]?.name, "mcpServers");
    assert.equal(read({ servers: { command: "a", env: {} } })[0]?.name, "servers");
  });

  it("is read from a file that has them in servers, beside its inputs", () => {
    const servers = {
      a: { type: "stdio", command: "a" },
      b: { type: "http", url: "https://e.com" },
    };
    const file = { servers, inputs: [{ id: "key", type: "promptString" }], $schema: "s" };
    assert.deepEqual(read(file), read(servers));
    assert.throws(() => read({ ...file, input: [] }), /field beside servers: "input"/);
    assert.throws(
      () => read({ ...file, servers: { a: { command: "a", args: ["${input:key}"] } } }),
      /args contains "\$\{input:key\}"\. Nobody is asked for an input: write the value, or the name/,
    );
  });

  it("may be typed as a file is read, with the names and fields of other tools", () => {
    const file = {
      mcpServers: { a: { type: "stdio", command: "a" }, b: { url: "https://e.com" } },
    };
    const options: McpOptions[] = [
      { servers: file },
      { servers: { servers: file.mcpServers, inputs: [] } },
      { servers: { a: { command: "a", autoApprove: ["b"], timeout: 60, description: "d" } } },
      { servers: { a: { serverUrl: "https://e.com", enabled: true, disabledTools: ["b"] } } },
      // @ts-expect-error: a field that is not known
      { servers: { a: { command: "a", arg: ["b"] } } },
    ];
    for (const { servers } of options.slice(0, -1)) assert.ok(read(servers).length > 0);
    assert.throws(() => read(options.at(-1)?.servers), /Did you mean "args"/);
  });

  it("is left out when it is disabled", () => {
    assert.deepEqual(
      read({ a: { command: "a", disabled: true }, b: { url: 1, enabled: false } }),
      [],
    );
  });

  it("may have fields that mean nothing here", () => {
    const more = {
      timeout: 60,
      alwaysAllow: ["a"],
      autoApprove: ["b"],
      trust: true,
      description: "d",
    };
    assert.deepEqual(one({ command: "a", ...more }), one({ command: "a" }));
  });

  it("is refused with an unknown field, and the nearest name", () => {
    refuses(
      { comand: "a" },
      /Unknown field of the server "s": "comand"\. Did you mean "command"\?/,
    );
  });

  it("is refused in any other shape", () => {
    assert.throws(() => read("x"), /servers must be an object/);
    refuses("npx server", /must be an object/);
    refuses({}, /needs either a command or a url/);
    refuses({ command: "a", url: "https://e.com" }, /needs either a command or a url/);
    refuses({ command: ["a"] }, /command must be a text/);
    refuses({ command: "a", args: "b" }, /args must be a list of texts/);
    refuses({ command: "a", env: { A: 1 } }, /env must map names to texts, and A is not/);
    refuses({ command: "a", type: "http" }, /the type http, which does not fit its command/);
    refuses({ url: "https://e.com", type: "ws" }, /has the type "ws"/);
    refuses({ url: "file:///etc/passwd" }, /begins with http/);
    refuses({ url: "https://me:secret@e.com" }, /has a password in its url/);
    refuses({ command: "a", disabled: "yes" }, /disabled must be true or false/);
    assert.throws(() => read({ "": { command: "a" } }), /needs a name/);
  });

  it("has its variables replaced, everywhere", () => {
    const env = { HOST: "e.com", KEY: "k-123", EMPTY: "" };
    assert.deepEqual(
      one({ url: "https://${HOST}/${PATH_PART:-mcp}", headers: { A: "Bearer ${env:KEY}" } }, env),
      { kind: "any", url: new URL("https://e.com/mcp"), headers: { A: "Bearer k-123" } },
    );
    assert.deepEqual(
      one(
        {
          command: "${C:-npx}",
          args: ["$5", "${EMPTY:-x}"],
          env: { K: "${KEY}" },
          cwd: "${EMPTY}/a",
        },
        env,
      ),
      { kind: "stdio", command: "npx", args: ["$5", "x"], env: { K: "k-123" }, cwd: "/a" },
    );
  });

  it("is refused when a variable is not set, by its name and never by a value", () => {
    refuses(
      { url: "https://e.com", headers: { A: "${TOKEN}" } },
      /headers\.A needs the environment variable TOKEN, which is not set/,
    );
    refuses({ command: "${input:key}" }, /contains "\$\{input:key\}"/);
    refuses({ command: "${a-b}" }, /contains/);
    refuses(
      { command: "a", cwd: "${workspaceFolder}" },
      /cwd contains \$\{workspaceFolder\}, which only an editor replaces\. Write the path/,
    );
    refuses({ command: "${HOME" }, /contains/);
  });

  it("names what must not appear in messages", () => {
    const [stdio, http] = read({
      a: { command: "a", env: { API_TOKEN: "tok-12345678", MODE: "production-mode" } },
      b: { url: "https://e.com", headers: { Authorization: "Bearer abc-12345678" } },
    });
    assert.deepEqual(stdio?.secrets, ["tok-12345678"]);
    assert.deepEqual(http?.secrets, ["Bearer abc-12345678", "abc-12345678"]);
  });

  it("names what it refers to by a secret name, wherever that stands", () => {
    const secretsOf = (entry: unknown): unknown =>
      read({ s: entry }, { MY_API_KEY: "key-1234/5678", HOST: "host.example" })[0]?.secrets;
    const secrets = ["key-1234/5678"];
    assert.deepEqual(secretsOf({ command: "a", args: ["${MY_API_KEY}"] }), secrets);
    assert.deepEqual(secretsOf({ command: "a", args: ["k=${env:MY_API_KEY}"] }), secrets);
    assert.deepEqual(secretsOf({ command: "a", args: ["${A_TOKEN:-key-1234/5678}"] }), secrets);
    assert.deepEqual(secretsOf({ command: "a", env: { PLAIN: "${MY_API_KEY}" } }), secrets);
    assert.deepEqual(secretsOf({ command: "a", env: { PLAIN: "${HOST}-and-more" } }), []);
    assert.deepEqual(secretsOf({ url: "https://${HOST}/${MY_API_KEY}" }), [
      "key-1234%2F5678",
      "key-1234/5678",
    ]);
    assert.deepEqual(secretsOf({ url: "https://e.com/?api_key=abc-1234%2F5678&page=123456789" }), [
      "abc-1234/5678",
      "abc-1234%2F5678",
    ]);
  });
});
